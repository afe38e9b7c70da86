//! SGF files, and collections of them, packed or not.
#![no_main]

use go::sgf::{Record, collection, parse};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    // An error is a result.
    let _records: Vec<_> = parse(bytes).into_iter().flatten().map(|tree| Record::from_tree(&tree)).collect();
    let Ok(text) = record::unpacked_sgf(bytes) else { return };
    // A game that is broken costs a line, and every other one has its `(;`.
    assert!(collection(&text).count() <= text.len() + 1);
});
