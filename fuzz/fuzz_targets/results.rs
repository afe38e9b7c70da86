//! Parquet files of match results and of ratings.
#![no_main]

#[path = "../scratch.rs"]
mod scratch;

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use scratch::Scratch;
use store::{Stem, with_right_checksums};

static SCRATCH: LazyLock<Scratch> = LazyLock::new(|| Scratch::new("results"));

fuzz_target!(|bytes: &[u8]| {
    read(bytes);
    // Few inputs pass the checksums by themselves.
    if let Some(bytes) = with_right_checksums(bytes.to_vec()) {
        read(&bytes);
    }
});

fn read(bytes: &[u8]) {
    let stem = Stem::new("e", 7).expect("letters are a name");
    SCRATCH.put("matches/e-0000000000007.parquet", bytes);
    SCRATCH.put("ratings/0000000000007.parquet", bytes);
    let matches = SCRATCH.run.matches();
    // An error is a result.
    let _games = matches.read(&stem);
    let _outlines = matches.outlines(&stem);
    let _results = matches.summaries(&stem);
    let _ratings = SCRATCH.run.ratings().newest();
}
