//! Nothing that is fed to the reader makes it panic, run out of stack, or take long.

use go::sgf::{Record, collection, first_game, parse};
use proptest::prelude::*;

const REAL: &[u8] = include_bytes!("../data/human-9d-sample.sgf");
const RICH: &str = "(;GM[1]FF[4]CA[UTF-8]AP[a\\:b:1]SZ[9]KM[7.5]HA[2]AB[aa:bb][cc]AW[dd]AE[cc]PL[W]RE[B+R]C[é\\]\n]\n\
                    ;B[ee](;W[ff]C[x];B[])(;W[tt](;B[gg])(;B[hh];W[ii])))(;SZ[19:19];B[ss])";

/// Three games of the real file from this one on, a line each, which end after some 55 moves.
fn real_games(first: usize) -> Vec<u8> {
    let games = REAL.split(|&byte| byte == b'\n').skip(first).take(3);
    let cut = |game: &[u8]| {
        let last = game[..400].iter().rposition(|&byte| byte == b']').expect("a move");
        [&game[..=last], b")\n"].concat()
    };
    games.flat_map(cut).collect()
}

/// Reads, replays and writes whatever can be read: all games, each game that is whole, and the first game. Counts them.
fn digest(bytes: &[u8]) -> usize {
    let mut games = 0;
    for tree in parse(bytes).into_iter().flatten().chain(collection(bytes).flatten()).chain(first_game(bytes)) {
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
            games += 1;
        }
    }
    games
}

#[test]
fn nesting_may_be_as_deep_as_the_text_is_long() {
    let deep = 200_000;
    assert!(parse("(;B[aa]".repeat(deep).as_bytes()).is_err(), "it has no end");
    let closed = |deep: usize| "(;B[aa]".repeat(deep) + &")".repeat(deep);
    let trees = parse(closed(deep).as_bytes()).unwrap();
    assert_eq!(trees[0].main_line().count(), deep);
    assert_eq!(digest(closed(20_000).as_bytes()), 3);
}

#[test]
fn node_may_have_very_many_variations() {
    let many = 200_000;
    let trees = parse(format!("(;{})", "(;B[aa])".repeat(many)).as_bytes()).unwrap();
    assert_eq!(trees[0].children(trees[0].root()).count(), many);
}

#[test]
fn parse_of_deep_nesting_does_not_overflow_the_stack() {
    for text in ["( ".repeat(200_000), "[".repeat(200_000), "(;C".to_owned() + &"[\\".repeat(100_000)] {
        assert_eq!(digest(text.as_bytes()), 0, "{}", &text[..4]);
    }
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
        first in 0_usize..18,
        edits in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>(), 0_u8..3), 1..8),
    ) {
        let mut bytes = if real { real_games(first) } else { RICH.as_bytes().to_vec() };
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

/// What is damaged is good before, and some of it after, or the tests above would show little.
#[test]
fn files_to_be_damaged_are_good() {
    // Two games or three, twice, and the first one again.
    assert_eq!(digest(RICH.as_bytes()), 5);
    for first in 0..18 {
        assert_eq!(digest(&real_games(first)), 7, "{first}");
    }
    assert_eq!(digest(&RICH.as_bytes()[..RICH.len() - 1]), 1, "the first game is whole");
    let mut damaged = real_games(0);
    let end = damaged.iter().position(|&byte| byte == b')').expect("the game has an end");
    damaged.remove(end);
    assert_eq!(digest(&damaged), 2, "the others are whole");
}
