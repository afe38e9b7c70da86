//! A Parquet file of games: whole records, and the columns that pages, ratings and thresholds read.
#![no_main]

#[path = "../scratch.rs"]
mod scratch;

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use scratch::Scratch;
use store::{FileRef, Stem};

static SCRATCH: LazyLock<Scratch> = LazyLock::new(|| Scratch::new("games"));

fuzz_target!(|bytes: &[u8]| {
    let file = FileRef { model: 1, stem: Stem::new("w", 7).expect("letters are a name") };
    SCRATCH.put("games/000001/w-0000000000007.parquet", bytes);
    let games = SCRATCH.run.games();
    // An error is a result; a game that is read can be replayed, or says why not.
    for game in games.read(&file).unwrap_or_default() {
        let _examples = game.examples();
        let _sgf = game.to_sgf();
    }
    let _summaries = games.summaries(&file);
    let _outlines = games.outlines(&file);
});
