//! Analyses as KaTrain keeps them in its SGF files, so that it shows them and does not analyse the game again.

use std::io::Write;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use flate2::Compression;
use flate2::write::GzEncoder;
use half::f16;
use serde_json::{Map, Value, json};

use crate::report::Report;

/// The property of an analysis, with three values: ownership, policy and the rest, each gzipped and in base64.
pub(crate) const ANALYSIS: &str = "KT";

/// The property of the root with the version of these.
pub(crate) const VERSION: (&str, &str) = ("KTV", "1.0");

/// The values of [`ANALYSIS`], for a report from Black's perspective.
pub(crate) fn values(report: &Report) -> Vec<String> {
    let policy = report.policy.iter().flatten();
    let policy: Vec<u8> = policy.flat_map(|prior| f16::from_f64(*prior).to_le_bytes()).collect();
    let moves: Map<String, Value> = report.move_infos.iter().map(|info| (info.r#move.clone(), json!(info))).collect();
    let rest = json!({ "root": report.root_info, "moves": moves, "completed": true }).to_string();
    [&[], &policy[..], rest.as_bytes()].map(packed).into()
}

fn packed(bytes: &[u8]) -> String {
    let mut gzip = GzEncoder::new(Vec::new(), Compression::default());
    let written = gzip.write_all(bytes).and_then(|()| gzip.finish());
    BASE64_STANDARD.encode(written.expect("a vector takes all bytes"))
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use flate2::read::GzDecoder;

    use super::*;
    use crate::ReportStyle;
    use crate::report::tests::analysis;

    /// What KaTrain's `GameNode.load_analysis` does; tests/all runs its own code.
    #[test]
    fn values_unpack_to_policy_and_report() {
        let report = Report::new(&analysis(), &ReportStyle::STANDARD);
        let unpacked: Vec<Vec<u8>> = values(&report)
            .iter()
            .map(|value| {
                let (mut bytes, packed) = (Vec::new(), BASE64_STANDARD.decode(value).expect("base64"));
                GzDecoder::new(&packed[..]).read_to_end(&mut bytes).expect("gzip");
                bytes
            })
            .collect();
        assert!(unpacked[0].is_empty());
        assert_eq!(
            unpacked[1],
            [-1.0, -1.0, -1.0, 0.75, 0.25].map(|prior| f16::from_f64(prior).to_le_bytes()).concat()
        );
        let rest: Value = serde_json::from_slice(&unpacked[2]).expect("JSON");
        assert_eq!(rest["moves"]["B1"], json!(report.move_infos[0]));
        assert_eq!(rest["root"], json!(report.root_info));
    }
}
