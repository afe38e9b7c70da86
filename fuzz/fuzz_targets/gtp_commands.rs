//! GTP commands of a controller.
#![no_main]

use gtp::server::converse;
use libfuzzer_sys::fuzz_target;

/// Lines of an input: on 19x19 some commands take a tenth of a second.
const MOST: usize = 24;

fuzz_target!(|bytes: &[u8]| {
    let lines: Vec<&[u8]> = bytes.split_inclusive(|byte| *byte == b'\n').filter(|line| !loads(line)).take(MOST).collect();
    let output = converse(&lines.concat());
    // Every line has one response at most, and each response ends with an empty line.
    let count = output.matches("\n\n").count();
    assert!(count <= lines.len(), "{output}");
    assert!(output.is_empty() || output.starts_with(['=', '?']) && output.ends_with("\n\n"), "{output}");
});

/// Whether the command reads a file of this machine; the target `sgf` reads what may be in one.
fn loads(line: &[u8]) -> bool {
    let letters: Vec<u8> = line.iter().copied().filter(u8::is_ascii_alphabetic).collect();
    letters.windows(7).any(|word| word == b"loadsgf")
}
