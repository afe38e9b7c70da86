//! Files of positions with results of deep searches.
#![no_main]

use go::Size;
use libfuzzer_sys::fuzz_target;
use record::DeepPosition;

fuzz_target!(|bytes: &[u8]| {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    // An error is a result; a position that is read becomes an example, and the same position when it was written.
    let size = Size::new(9).expect("9 is a size");
    for position in DeepPosition::read_all(text, size, 7.0).unwrap_or_default() {
        let _example = position.example(7.0, 0);
        let line = position.to_line();
        let again = DeepPosition::read_all(&line, size, 7.0).expect("a written position is read");
        assert_eq!(again[0].to_line(), line);
    }
});
