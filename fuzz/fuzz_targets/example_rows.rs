//! A Parquet file of examples, and the columns that weighted sampling reads.
#![no_main]

#[path = "../scratch.rs"]
mod scratch;

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use scratch::Scratch;
use store::{FileRef, Stem, with_right_checksums};

static SCRATCH: LazyLock<Scratch> = LazyLock::new(|| Scratch::new("example_rows"));

fuzz_target!(|bytes: &[u8]| {
    read(bytes);
    // Few inputs pass the checksums by themselves.
    if let Some(bytes) = with_right_checksums(bytes.to_vec()) {
        read(&bytes);
    }
});

fn read(bytes: &[u8]) {
    let file = FileRef { model: 1, stem: Stem::new("w", 7).expect("letters are a name") };
    SCRATCH.put("examples/000001/w-0000000000007.parquet", bytes);
    let examples = SCRATCH.run.examples();
    // An error is a result; rows that are read can be taken and unpacked.
    if let Ok(rows) = examples.read(&file) {
        let last = rows.len().saturating_sub(1) as u32;
        let taken = if rows.len() == 0 { rows } else { rows.take(&[last, 0, last]) };
        let _examples = taken.to_examples();
    }
    let _surprises = examples.surprises(&file);
}
