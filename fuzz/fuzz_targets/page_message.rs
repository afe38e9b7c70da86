//! Messages of pages for players, with the games and the SGF files in them.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    if let Ok(text) = std::str::from_utf8(bytes) {
        // An error is a result.
        let _checked = web::play::check_message(text);
    }
});
