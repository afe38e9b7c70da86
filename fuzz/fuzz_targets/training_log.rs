//! Logs of training.
#![no_main]

use facts::Curves;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let mut curves = Curves::default();
    curves.read(text);
    // Lines that cannot be read are counted, and what is read are numbers.
    assert!(curves.unread <= text.lines().count());
    for set in curves.sets() {
        for metric in curves.metrics() {
            assert!(curves.values(set, metric).all(|(_step, value, _line)| !value.is_nan()));
        }
    }
});
