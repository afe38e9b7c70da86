//! Games of people of rank 9d, replayed by the rules.
//!
//! A sample is part of the repository. The whole collection of 4,000 games is not: the test of it reads
//! `TENGEN_HUMAN_SGF`, or a file beside the repository, and says so when there is none.

#![allow(clippy::disallowed_methods, clippy::disallowed_types)] // The test, not the library, reads files.

use std::fs::File;
use std::io::{ErrorKind, Read, Write, stderr};
use std::path::PathBuf;

use flate2::read::GzDecoder;
use go::Color::{Black, White};
use go::{Game, Move, Scoring};

use go::sgf::{Record, parse};

/// What is counted in a collection.
#[derive(Debug, Default, PartialEq, Eq)]
struct Totals {
    games: usize,
    moves: usize,
    passes: usize,
    /// Stones captured by Black and by White.
    captures: [usize; 2],
    /// Every illegal move, by game, and why.
    illegal: Vec<String>,
}

fn replay(collection: &[u8]) -> Totals {
    let mut totals = Totals::default();
    for tree in parse(collection).expect("the collection is SGF") {
        totals.games += 1;
        let record = Record::from_tree(&tree).expect("each game is Go on a square board");
        match record.replay() {
            Ok(game) => count(&game, &mut totals),
            Err(error) => totals.illegal.push(format!("game {}: {error}", totals.games)),
        }
    }
    totals
}

fn count(game: &Game, totals: &mut Totals) {
    totals.moves += game.turn();
    totals.passes += game.moves().iter().filter(|&&mv| mv == Move::Pass).count();
    for (sum, color) in totals.captures.iter_mut().zip([Black, White]) {
        *sum += game.captures(color);
    }
}

/// The numbers were counted with sgfmill 1.1.1 as well.
#[test]
fn a_sample_of_games_replays_to_known_numbers() {
    let totals = replay(include_bytes!("../data/human-9d-sample.sgf"));
    let expected = Totals { games: 20, moves: 4627, passes: 2, captures: [287, 286], illegal: Vec::new() };
    assert_eq!(totals, expected);
}

/// Written and read again, a real game is the same; and its end can be scored.
#[test]
fn a_sample_of_games_survives_writing() {
    for tree in parse(include_bytes!("../data/human-9d-sample.sgf")).unwrap() {
        let record = Record::from_tree(&tree).unwrap();
        assert_eq!(Record::parse(record.to_sgf().as_bytes()), Ok(record.clone()));
        let game = record.replay().unwrap();
        let (area, alive) = (game.score(Scoring::Area), game.score(Scoring::PassAlive));
        assert!(area.abs() <= 361 && alive.abs() <= 361 && !game.all_pass_alive());
    }
}

/// In all 4,000 games there is no illegal move: no stone on a stone, no suicide, and, although these games were played
/// by Japanese rules, which have no superko, no position that comes back. The numbers, and that no position comes
/// back, were counted with sgfmill 1.1.1 as well.
#[test]
fn no_move_of_4000_games_is_illegal() {
    let path = std::env::var_os("TENGEN_HUMAN_SGF").map(PathBuf::from).unwrap_or_else(beside_the_repository);
    let file = match File::open(&path) {
        Ok(file) => file,
        Err(error) if error.kind() == ErrorKind::NotFound => {
            // Not by `eprintln!`, which the test runner swallows.
            let skipped = format!("SKIPPED: {} is not there; TENGEN_HUMAN_SGF can name another place", path.display());
            writeln!(stderr(), "{skipped}").expect("standard error is open");
            return;
        }
        Err(error) => panic!("{}: {error}", path.display()),
    };
    let mut collection = Vec::new();
    GzDecoder::new(file).read_to_end(&mut collection).expect("the file is compressed by gzip");
    let expected = Totals { games: 4000, moves: 834_893, passes: 12, captures: [31_992, 31_683], illegal: Vec::new() };
    assert_eq!(replay(&collection), expected);
}

fn beside_the_repository() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/human-9d-19x19.sgf.gz")
}
