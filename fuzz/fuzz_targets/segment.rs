//! A segment of the evaluation cache.
#![no_main]

use evalcache::{Key, Segment};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let Ok(segment) = Segment::open(bytes.to_vec()) else { return };
    // Damage is an answer, too.
    let _damage = segment.check();
    let mut found = Vec::new();
    for key in [0, 1, u128::MAX, 0x1234_5678_9abc_def0 << 40] {
        let _found = segment.get(Key::from_bits(key), &mut found);
    }
});
