//! Lines of standard input, such as those of a GTP controller.
#![no_main]

use libfuzzer_sys::fuzz_target;
use runtime::Line;

/// Shorter than the lines that are found.
const LONGEST: usize = 16;

fuzz_target!(|bytes: &[u8]| {
    let mut count = 0;
    for line in Line::all(bytes, LONGEST) {
        let line = line.expect("memory can be read");
        assert!(line.bytes.len() <= LONGEST && (!line.cut || line.bytes.len() == LONGEST));
        count += 1;
    }
    assert!(count <= bytes.len() + 1);
});
