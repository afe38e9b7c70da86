//! Lines of a GTP controller.
#![no_main]

use gtp::server::Line;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let lines = Line::all(bytes).filter(Result::is_ok).count();
    assert!(lines <= bytes.len() + 1);
});
