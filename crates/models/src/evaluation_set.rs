//! What names the kept evaluations of a model, wherever it is evaluated.

use evalcache::KomiCoding;
use net::Shape;
use sha2::{Digest, Sha256};

/// Positions that a network can tell apart have different keys.
const _: () = assert!(net::Inputs::MOST_BOARDS <= evalcache::BOARDS, "keys have fewer boards than a network sees");

/// Bytes of the digest of the weights that names of evaluations begin with.
const PREFIX: usize = 8;

/// How the names of all sets of evaluations of a model begin, by the SHA-256 of its weights in hexadecimal digits.
/// `None` for too few digits.
pub fn set_prefix(sha256: &str) -> Option<&str> {
    sha256.get(..2 * PREFIX)
}

/// Names evaluations by the digest of the weights, with whose first bytes it begins, and by the arithmetic that
/// evaluates them.
pub(crate) fn evaluations_digest(weights: [u8; 32], arithmetic: &str) -> [u8; 32] {
    let mut digest = weights;
    let all = Sha256::new_with_prefix(weights).chain_update(arithmetic).finalize();
    digest[PREFIX..].copy_from_slice(&all[..weights.len() - PREFIX]);
    digest
}

/// Whether a network of this shape sees komi.
pub(crate) fn komi_coding(shape: Shape) -> KomiCoding {
    if shape.inputs.tell_komi() { KomiCoding::Seen } else { KomiCoding::Unseen }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn evaluations_are_named_by_weights_and_arithmetic() {
        let digest = |weights: u8, arithmetic| evaluations_digest([weights; 32], arithmetic);
        assert_eq!(digest(7, "int16")[..8], [7; 8], "a run finds the sets of its models by these bytes");
        assert_eq!(digest(7, "bf16")[..8], [7; 8]);
        let sha256 = "07".repeat(32);
        assert_eq!([sha256.as_str(), "07"].map(set_prefix), [Some("0707070707070707"), None]);
        assert_ne!(digest(7, "int16")[8..12], digest(7, "bf16")[8..12]);
        assert_ne!(digest(7, "int16")[8..12], digest(8, "int16")[8..12]);
    }
}
