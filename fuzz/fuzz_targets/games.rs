//! Parquet files of games: finished ones, games in progress, and archives of files. Whole records, and the columns that
//! pages, ratings and thresholds read.
#![no_main]

#[path = "../scratch.rs"]
mod scratch;

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use scratch::Scratch;
use store::{FileRef, Games, Stem, with_right_checksums};

static LOOSE: LazyLock<Scratch> = LazyLock::new(|| Scratch::new("games"));
static ARCHIVED: LazyLock<Scratch> = LazyLock::new(|| Scratch::new("archives"));

/// Files of an archive that are read.
const MOST: usize = 4;

fuzz_target!(|bytes: &[u8]| {
    read(bytes);
    // Few inputs pass the checksums by themselves.
    if let Some(bytes) = with_right_checksums(bytes.to_vec()) {
        read(&bytes);
    }
});

/// Reads a file as what its footer says it is. An error is a result.
fn read(bytes: &[u8]) {
    let file = FileRef { model: 1, stem: Stem::new("w", 7).expect("letters are a name") };
    if has(bytes, b"tengen.archive") {
        ARCHIVED.put("games/archive/000001.parquet", bytes);
        // A run remembers its archives.
        let run = ARCHIVED.run.store().run(ARCHIVED.run.name());
        for file in run.games().files_since(0).unwrap_or_default().iter().take(MOST) {
            read_games(run.games(), file);
        }
    } else if has(bytes, b"unfinished/") {
        LOOSE.put("unfinished/000001/w-0000000000007.parquet", bytes);
        for game in LOOSE.run.unfinished().read(&file).unwrap_or_default() {
            let _examples = game.examples();
            let _sgf = game.to_sgf();
        }
    } else {
        LOOSE.put("games/000001/w-0000000000007.parquet", bytes);
        read_games(LOOSE.run.games(), &file);
    }
}

/// A game that is read can be replayed, or says why not.
fn read_games(games: &Games, file: &FileRef) {
    for game in games.read(file).unwrap_or_default() {
        let _examples = game.examples();
        let _sgf = game.to_sgf();
    }
    let _count = games.count(file);
    let _summaries = games.summaries(file);
    let _outlines = games.outlines(file);
}

fn has(bytes: &[u8], mark: &[u8]) -> bool {
    bytes.windows(mark.len()).any(|window| window[0] == mark[0] && window == mark)
}
