//! Nothing that is fed to the reader makes it panic, run out of stack, or take long.

use go::sgf::{Record, parse};
use proptest::prelude::*;

const REAL: &[u8] = include_bytes!("../data/human-9d-sample.sgf");
const RICH: &str = "(;GM[1]FF[4]CA[UTF-8]AP[a\\:b:1]SZ[9]KM[7.5]HA[2]AB[aa:bb][cc]AW[dd]AE[cc]PL[W]RE[B+R]C[é\\]\n]\n\
                    ;B[ee](;W[ff]C[x];B[])(;W[tt](;B[gg])(;B[hh];W[ii])))(;SZ[19:19];B[ss])";

/// Reads, replays and writes whatever can be read.
fn digest(bytes: &[u8]) {
    for tree in parse(bytes).into_iter().flatten() {
        for node in tree.nodes() {
            assert!(tree.children(node).count() <= tree.nodes().len());
            for property in node.properties() {
                assert!(!property.values.is_empty());
                assert!(property.values.iter().all(|value| !value.simple_text().contains('\n')));
            }
        }
        if let Ok(record) = Record::from_tree(&tree) {
            let again = Record::parse(record.to_sgf().as_bytes()).expect("what is written can be read");
            assert_eq!(again.turns, record.turns);
            assert_eq!(record.replay().is_ok(), again.replay().is_ok());
        }
    }
}

#[test]
fn nesting_may_be_as_deep_as_the_text_is_long() {
    let deep = 200_000;
    digest("(;B[aa]".repeat(deep).as_bytes());
    let closed = "(;B[aa]".repeat(deep) + &")".repeat(deep);
    let trees = parse(closed.as_bytes()).unwrap();
    assert_eq!(trees[0].main_line().count(), deep);
}

#[test]
fn node_may_have_very_many_variations() {
    let many = 200_000;
    let trees = parse(format!("(;{})", "(;B[aa])".repeat(many)).as_bytes()).unwrap();
    assert_eq!(trees[0].children(trees[0].root()).count(), many);
}

#[test]
fn parse_of_deep_nesting_does_not_overflow_the_stack() {
    digest("( ".repeat(200_000).as_bytes());
    digest("[".repeat(200_000).as_bytes());
    digest(&[b"(;C".as_slice(), &b"[\\".repeat(100_000)].concat());
}

proptest! {
    #[test]
    fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        digest(&bytes);
    }

    #[test]
    fn anything_that_looks_like_sgf_is_read_or_refused(text in "\\(;([();\\[\\]\\\\: \n]|SZ|AB|B|W|\\[aa\\]|\\[[a-t]{2}\\]|\\[\\]){0,60}\\)?") {
        digest(text.as_bytes());
    }

    #[test]
    fn damaged_files_are_read_or_refused(
        real: bool,
        start in 0_usize..20_000,
        edits in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>(), 0_u8..3), 1..8),
    ) {
        let mut bytes = if real { REAL[start..start + 3000].to_vec() } else { RICH.as_bytes().to_vec() };
        for (at, byte, kind) in edits {
            let at = at.index(bytes.len());
            match kind {
                0 => bytes[at] = byte,
                1 => bytes.insert(at, byte),
                _ => drop(bytes.remove(at)),
            }
        }
        digest(&bytes);
    }

    #[test]
    fn truncated_files_are_read_or_refused(at in 0..RICH.len()) {
        digest(&RICH.as_bytes()[..at]);
    }
}

/// The undamaged file is good, or the tests above would show little.
#[test]
fn files_to_be_damaged_are_good() {
    digest(RICH.as_bytes());
    assert_eq!(parse(RICH.as_bytes()).unwrap().iter().map(Record::from_tree).filter(Result::is_ok).count(), 2);
    assert!(REAL.len() > 23_000);
}
