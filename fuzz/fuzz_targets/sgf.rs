//! SGF files.
#![no_main]

use go::sgf::{Record, parse};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    // An error is a result.
    let _records: Vec<_> = parse(bytes).into_iter().flatten().map(|tree| Record::from_tree(&tree)).collect();
});
