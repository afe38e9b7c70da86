use std::collections::BTreeMap;

use go::Size;
use proptest::prelude::*;
use xxhash_rust::xxh3::xxh3_64_with_seed;

use super::*;
use crate::{Steps, Tables};

fn set() -> Set {
    Set {
        model: [7; 32],
        size: Size::new(9).expect("a size"),
        komi: KomiCoding::Seen,
        symmetries: Symmetries::Canonical,
        steps: Steps::S256,
    }
}

/// So many keys, spread as hashes are, each with a code that tells which it is.
fn entries(count: u64, seed: u64) -> BTreeMap<Key, Vec<u8>> {
    let hash =
        |i: u64| u128::from(xxh3_64_with_seed(&i.to_le_bytes(), seed)) << 64 | u128::from(xxh3_64(&i.to_le_bytes()));
    (0..count).map(|i| (Key::from_bits(hash(i) >> 20), i.to_le_bytes()[..(i % 9) as usize].to_vec())).collect()
}

fn bytes(entries: &BTreeMap<Key, Vec<u8>>) -> Vec<u8> {
    let entries: Vec<(Key, &[u8])> = entries.iter().map(|(key, code)| (*key, code.as_slice())).collect();
    write(set(), &Tables::flat(Steps::S256), &[3, 4], &entries).expect("entries in order")
}

fn get(segment: &Segment<Vec<u8>>, key: Key) -> Result<Option<Vec<u8>>, ReadError> {
    let mut bytes = vec![9; 20];
    Ok(segment.get(key, &mut bytes)?.map(|code| bytes[code].to_vec()))
}

#[test]
fn segments_have_exactly_what_was_written() {
    let strangers = entries(1000, 2);
    for count in [0, 1, 100, 10_000] {
        let entries = entries(count, 1);
        let segment = Segment::open(bytes(&entries)).expect("a segment");
        assert_eq!((segment.head().set, segment.head().entries), (set(), count));
        assert_eq!(segment.head().replaces, [3, 4]);
        for (key, code) in &entries {
            assert_eq!(get(&segment, *key).expect("no damage").as_ref(), Some(code));
        }
        for other in strangers.keys() {
            assert_eq!(get(&segment, *other).expect("no damage"), None);
        }
        assert!(segment.check().expect("bytes").is_empty());
    }
}

#[test]
fn keys_that_differ_in_any_bit_are_different() {
    let entries = entries(5000, 1);
    let segment = Segment::open(bytes(&entries)).expect("a segment");
    for key in entries.keys().take(20) {
        for bit in 0..80 {
            let other = Key::from_bits(key.bits() ^ 1 << bit);
            assert_eq!(get(&segment, other).expect("no damage"), entries.get(&other).cloned());
        }
    }
}

#[test]
fn memory_of_an_entry_is_below_1_2_bytes() {
    for count in [120_000, 170_000, 245_000] {
        let segment = Segment::open(bytes(&entries(count, 1))).expect("a segment");
        let each = segment.memory() as f64 / count as f64;
        assert!(each <= 1.2, "{each} bytes for each of {count}");
    }
}

#[test]
fn long_codes_are_kept() {
    let mut entries = entries(300, 1);
    let (_, code) = entries.iter_mut().nth(77).expect("an entry");
    *code = vec![5; 1500];
    let segment = Segment::open(bytes(&entries)).expect("a segment");
    for (key, code) in &entries {
        assert_eq!(get(&segment, *key).expect("no damage").as_ref(), Some(code));
    }
}

#[test]
fn write_refuses_disorder_and_other_tables() {
    let key = Key::from_bits(5);
    let twice = [(key, [].as_slice()), (key, [].as_slice())];
    let tables = Tables::flat(Steps::S256);
    assert_eq!(write(set(), &tables, &[], &twice), Err(SegmentError::Order(key)));
    let long = vec![0; 70_000];
    assert_eq!(write(set(), &tables, &[], &[(key, &long)]), Err(SegmentError::Code(key, 70_000)));
    let wrong = write(set(), &Tables::flat(Steps::Exact), &[], &[]);
    assert_eq!(wrong, Err(SegmentError::Tables(Steps::Exact, Steps::S256)));
}

#[test]
fn merged_segments_have_all_entries_once() {
    let (one, two) = (entries(900, 1), entries(2000, 2));
    let both = one.iter().chain(&two).map(|(key, code)| (*key, code.clone())).collect::<BTreeMap<_, _>>();
    let segments = [bytes(&one), bytes(&two), bytes(&one)].map(|bytes| Segment::open(bytes).expect("a segment"));
    let mut merged = Merged::default();
    segments.iter().for_each(|segment| merged.add(segment).expect("bytes"));
    let written = merged.write(set(), &Tables::flat(Steps::S256), &[1, 2, 3]).expect("entries");
    let segment = Segment::open(written).expect("a segment");
    assert_eq!(segment.head().entries, both.len() as u64);
    for (key, code) in &both {
        assert_eq!(get(&segment, *key).expect("no damage").as_ref(), Some(code));
    }
}

/// Flips one bit anywhere: a lookup finds what was written, or that it is damaged, and no more than one block is lost.
fn flip(bytes: &[u8], entries: &BTreeMap<Key, Vec<u8>>, at: usize) -> usize {
    let mut damaged = bytes.to_vec();
    damaged[at / 8] ^= 1 << (at % 8);
    let segment = Segment::open(damaged).expect("one copy of the head is whole");
    let mut lost = 0;
    for (key, code) in entries {
        match get(&segment, *key) {
            Ok(found) => assert_eq!(found.as_ref(), Some(code), "bit {at}"),
            Err(ReadError::Damaged { .. }) => lost += 1,
            Err(error) => panic!("bit {at}: {error}"),
        }
    }
    let reported = segment.check().expect("bytes");
    assert_eq!(reported.len(), 1, "bit {at}: {reported:?}");
    let most = segment.head().blocks.iter().map(|block| usize::from(block.entries)).max().expect("blocks");
    assert!(lost <= most, "bit {at}: {lost} entries");
    lost
}

/// Bits all over the file.
#[test]
fn flipped_bit_costs_one_block_and_is_reported() {
    let count = 60;
    let entries = entries(2000, 1);
    let bytes = bytes(&entries);
    let bits = bytes.len() * 8;
    let mut lost = 0;
    for nth in 0..count {
        lost += flip(&bytes, &entries, nth * (bits / count) + nth % 8);
    }
    assert!(lost > 0, "no block was hit");
}

#[test]
fn truncated_files_are_refused() {
    let bytes = bytes(&entries(300, 1));
    for len in (0..bytes.len()).step_by(97) {
        let opened = Segment::open(bytes[..len].to_vec());
        assert!(matches!(opened, Err(ReadError::NoSegment(_))), "{len} bytes of {}", bytes.len());
    }
}

proptest! {
    #[test]
    fn any_bytes_are_no_segment_and_no_panic(bytes in prop::collection::vec(any::<u8>(), 0..2000)) {
        prop_assert!(Segment::open(bytes).is_err());
    }

    /// Bytes that are a segment but for what is put into them, checksums included: what a hostile writer could do.
    #[test]
    fn heads_of_any_bytes_do_not_panic(at in 0..60_usize, put in any::<[u8; 4]>(), tail in any::<[u8; 16]>()) {
        let entries = entries(50, 1);
        let good = bytes(&entries);
        let len = u32::from_le_bytes([good[8], good[9], good[10], good[11]]) as usize;
        let mut head = good[PRELUDE..PRELUDE + len].to_vec();
        head[at..at + 4].copy_from_slice(&put);
        head[len - 16..].copy_from_slice(&tail);
        let mut bytes = head::prelude(&head).to_vec();
        bytes.extend(&head);
        bytes.extend(&good[PRELUDE + len..]);
        if let Ok(segment) = Segment::open(bytes) {
            for key in entries.keys() {
                let _ = segment.get(*key, &mut Vec::new());
            }
            let _ = segment.check();
        }
    }
}
