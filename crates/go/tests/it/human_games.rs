//! Human games of rank 9d, replayed by the rules.
//!
//! A sample is part of the repository. `TENGEN_SGF_COLLECTION=FILE` replays a larger collection, `.sgf` or `.sgf.gz`.

#![allow(clippy::disallowed_methods, clippy::disallowed_types)] // The test, not the library, reads files.

use std::io::Read;

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
fn sample_of_games_replays_to_known_numbers() {
    let totals = replay(include_bytes!("../data/human-9d-sample.sgf"));
    let expected = Totals { games: 20, moves: 4627, passes: 2, captures: [287, 286], illegal: Vec::new() };
    assert_eq!(totals, expected);
}

/// Written and read again, a real game is the same; and its end can be scored.
#[test]
fn sample_of_games_survives_writing() {
    for tree in parse(include_bytes!("../data/human-9d-sample.sgf")).unwrap() {
        let record = Record::from_tree(&tree).unwrap();
        assert_eq!(Record::parse(record.to_sgf().as_bytes()), Ok(record.clone()));
        let game = record.replay().unwrap();
        let (area, alive) = (game.score(Scoring::Area), game.score(Scoring::PassAlive));
        assert!(area.abs() <= 361 && alive.abs() <= 361 && !game.all_pass_alive());
    }
}

/// The collection of `TENGEN_SGF_COLLECTION`, by default the sample, has no illegal move: no stone on a stone, no
/// suicide, no position that comes back. So it is with 4,000 games of 9d players (834,893 moves, counted with sgfmill
/// 1.1.1 as well), although they were played by Japanese rules, which have no superko.
#[test]
fn replay_of_a_collection_finds_no_illegal_move() {
    let totals = replay(&collection());
    assert_eq!(totals.illegal, [""; 0]);
    assert!(totals.games > 0 && totals.moves > totals.games, "{totals:?}");
}

fn collection() -> Vec<u8> {
    let Some(path) = std::env::var_os("TENGEN_SGF_COLLECTION") else {
        return include_bytes!("../data/human-9d-sample.sgf").to_vec();
    };
    let bytes = std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let mut text = Vec::new();
    match GzDecoder::new(&bytes[..]).read_to_end(&mut text) {
        Ok(_) => text,
        // It is not compressed.
        Err(_) => bytes,
    }
}
