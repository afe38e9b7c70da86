//! A segment of the evaluation cache: as it is, and with the checksums that a hostile writer would give it.
#![no_main]

use evalcache::segment::{Merged, with_right_checksums};
use evalcache::{Key, Segment};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    read(bytes.to_vec());
    // Few inputs pass the checksums by themselves.
    let Some(segment) = with_right_checksums(bytes).and_then(read) else { return };
    let mut merged = Merged::default();
    merged.add(&segment).expect("memory can be read");
    let head = segment.head();
    // A block may have more entries than can be written.
    let Ok(written) = merged.write(head.set, &head.tables, &[1]) else { return };
    let again = Segment::open(written).expect("what was written is a segment");
    assert_eq!(again.head().entries, merged.entries() as u64);
    assert!(again.check().expect("memory can be read").is_empty());
});

fn read(bytes: Vec<u8>) -> Option<Segment<Vec<u8>>> {
    let segment = Segment::open(bytes).ok()?;
    // Damage is an answer, too.
    let _damage = segment.check();
    let mut found = Vec::new();
    for key in [0, 1, u128::MAX, 0x1234_5678_9abc_def0 << 40] {
        let _found = segment.get(Key::from_bits(key), &mut found);
    }
    Some(segment)
}
