//! SGF files.
#![no_main]

use go::sgf::Record;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    // An error is a result.
    let _records = Record::parse_all(bytes);
});
