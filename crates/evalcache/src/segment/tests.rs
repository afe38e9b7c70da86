use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::AtomicUsize;

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

fn get(segment: &Segment<impl SegmentBytes>, key: Key) -> Result<Option<Vec<u8>>, ReadError> {
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
fn sets_have_the_same_codes_in_every_release() {
    let komi = [(KomiCoding::Unseen, 0), (KomiCoding::Seen, 1)];
    let symmetries = [(Symmetries::Canonical, 0), (Symmetries::Mean8, 1), (Symmetries::Requested, 2)];
    for ((komi, komi_code), (symmetries, code)) in komi.into_iter().flat_map(|komi| symmetries.map(|of| (komi, of))) {
        let set = Set { komi, symmetries, ..set() };
        let file = write(set, &Tables::flat(Steps::S256), &[], &[]).expect("no entries");
        assert_eq!(file[PRELUDE + 33..PRELUDE + 35], [komi_code, code]);
        assert_eq!(Segment::open(file).expect("a segment").head().set, set);
    }
}

/// Bytes that count how often they are read.
struct Counted(Vec<u8>, AtomicUsize);

impl SegmentBytes for Counted {
    fn size(&self) -> u64 {
        self.0.size()
    }

    fn read(&self, at: u64, into: &mut [u8]) -> Result<(), SourceError> {
        self.1.fetch_add(1, Ordering::Relaxed);
        SegmentBytes::read(&self.0, at, into)
    }
}

/// In a bucket each read is a request.
#[test]
fn many_blocks_are_read_at_once_where_all_are_wanted() {
    let entries = entries(50_000, 1);
    let segment = Segment::open(Counted(bytes(&entries), AtomicUsize::new(0))).expect("a segment");
    let reads = || segment.source().1.swap(0, Ordering::Relaxed);
    reads();
    assert!(segment.check().expect("bytes").is_empty() && segment.blocks() > 100);
    assert_eq!(reads(), 1);
    let mut merged = Merged::default();
    merged.add(&segment).expect("bytes");
    assert_eq!((merged.entries(), merged.damaged.len(), reads()), (50_000, 0, 1));
    assert_eq!(merged.write(set(), &Tables::flat(Steps::S256), &[3, 4]).expect("entries"), segment.source().0);
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
    let tables = Arc::new(Tables::flat(Steps::S256));
    for count in [120_000, 170_000, 245_000] {
        let mut segment = Segment::open(bytes(&entries(count, 1))).expect("a segment");
        segment.share_tables(&tables);
        let each = segment.memory() as f64 / count as f64;
        assert!(each <= 1.2, "{each} bytes for each of {count}");
    }
}

#[test]
fn segments_share_tables_that_are_the_same() {
    let mut segments = [1, 2].map(|seed| Segment::open(bytes(&entries(500, seed))).expect("a segment"));
    let alone = segments.each_ref().map(Segment::memory);
    let (same, other) = (Arc::new(Tables::flat(Steps::S256)), Arc::new(Tables::flat(Steps::S2048)));
    for (segment, alone) in segments.iter_mut().zip(alone) {
        segment.share_tables(&same);
        segment.share_tables(&other);
        assert!(Arc::ptr_eq(&segment.head().tables, &same));
        assert_eq!(segment.memory(), alone - same.memory());
    }
    assert!(same.memory() > 100_000);
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

/// The length of the head, and where the blocks end.
fn head_and_blocks(bytes: &[u8]) -> (usize, usize) {
    let head = u32::from_le_bytes([bytes[8], bytes[9], bytes[10], bytes[11]]) as usize;
    (head, bytes.len() - FOOTER - head)
}

#[test]
fn files_that_lack_blocks_are_refused() {
    let bytes = bytes(&entries(300, 1));
    let (head, blocks) = head_and_blocks(&bytes);
    for len in (0..blocks).step_by(97).chain([head, PRELUDE + head - 1, blocks - 1]) {
        let opened = Segment::open(bytes[..len].to_vec());
        assert!(matches!(opened, Err(ReadError::NoSegment(_))), "{len} bytes of {}", bytes.len());
    }
}

#[test]
fn files_of_another_length_with_all_blocks_are_read_and_reported() {
    let entries = entries(300, 1);
    let bytes = bytes(&entries);
    let (_, blocks) = head_and_blocks(&bytes);
    let longer = [bytes.as_slice(), &[0]].concat();
    for damaged in [longer.as_slice(), &bytes[..bytes.len() - 100], &bytes[..blocks]] {
        let segment = Segment::open(damaged.to_vec()).expect("all blocks are there");
        for (key, code) in &entries {
            assert_eq!(get(&segment, *key).expect("no damage").as_ref(), Some(code));
        }
        let found = segment.check().expect("bytes");
        let expected = bytes.len() as u64;
        assert!(matches!(found[..], [ReadError::Length { expected: len, .. }] if len == expected), "{found:?}");
        // The second head alone does not tell where the blocks are.
        let mut headless = damaged.to_vec();
        headless[PRELUDE] ^= 1;
        assert!(matches!(Segment::open(headless), Err(ReadError::NoSegment(_))));
    }
}

/// Its heads may be laid out as those of this version, and its codes mean something else.
#[test]
fn segment_of_a_later_version_is_refused() {
    let mut later = bytes(&entries(300, 1));
    later[4] = 3;
    let refused = Segment::open(later.clone()).expect_err("its codes would be read as those of version 2");
    assert_eq!(refused.to_string(), "not a segment of version 2: a later version wrote it");
    // A prelude without a version is damaged.
    later[4] = 0;
    let segment = Segment::open(later).expect("the second head is whole");
    let found = segment.check().expect("bytes");
    assert!(matches!(found[..], [ReadError::Head]), "{found:?}");
}

proptest! {
    #[test]
    fn any_bytes_are_no_segment_and_no_panic(bytes in prop::collection::vec(any::<u8>(), 0..2000)) {
        prop_assert!(Segment::open(bytes).is_err());
    }

    /// Bytes that are a segment but for what is put into them, checksums included: what a hostile writer could do.
    #[test]
    fn wrong_bytes_with_right_checksums_do_not_panic(
        puts in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..8),
        in_head: bool,
    ) {
        let mut bytes = bytes(&entries(300, 1));
        let head = PRELUDE + u32::from_le_bytes([bytes[8], bytes[9], bytes[10], bytes[11]]) as usize;
        // Most of the head is tables, whose ends are the fields and the directory of blocks.
        let within = if in_head { [PRELUDE..PRELUDE + 64, head - 2 * 16..head] } else { [head..bytes.len(), head..bytes.len()] };
        for (nth, (index, byte)) in puts.into_iter().enumerate() {
            let range = within[nth % 2].clone();
            bytes[range.start + index.index(range.len())] = byte;
        }
        let Some(bytes) = with_right_checksums(&bytes) else { return Ok(()) };
        let segment = Segment::open(bytes).expect("its checksums are right");
        for key in entries(300, 1).keys() {
            let _ = segment.get(*key, &mut Vec::new());
        }
        let mut merged = Merged::default();
        merged.add(&segment).expect("memory can be read");
        let head = segment.head();
        let written = merged.write(head.set, &head.tables, &[1]).expect("few entries");
        prop_assert!(Segment::open(written).expect("a segment").check().expect("memory").is_empty());
    }
}

/// Bytes of which some reads have a wrong bit, and some fail.
struct Faulty {
    bytes: Vec<u8>,
    reads: AtomicUsize,
    /// The numbers of these reads.
    wrong: Range<usize>,
    failing: Range<usize>,
}

impl Faulty {
    fn new(entries: &BTreeMap<Key, Vec<u8>>, wrong: Range<usize>, failing: Range<usize>) -> Faulty {
        Faulty { bytes: bytes(entries), reads: AtomicUsize::new(0), wrong, failing }
    }
}

impl SegmentBytes for Faulty {
    fn size(&self) -> u64 {
        self.bytes.size()
    }

    fn read(&self, at: u64, into: &mut [u8]) -> Result<(), SourceError> {
        let number = self.reads.fetch_add(1, Ordering::Relaxed);
        if self.failing.contains(&number) {
            return Err("no connection".into());
        }
        SegmentBytes::read(&self.bytes, at, into)?;
        if self.wrong.contains(&number) {
            into[into.len() / 2] ^= 1;
        }
        Ok(())
    }
}

/// Both ends of the file, both heads and the filters are a read each, and so are all blocks of a merge.
#[test]
fn wrong_response_costs_nothing() {
    let entries = entries(300, 1);
    for wrong in 0..6 {
        let source = Faulty::new(&entries, wrong..wrong + 1, 0..0);
        let segment = Segment::open(source).expect("the second response is whole");
        let mut merged = Merged::default();
        merged.add(&segment).expect("bytes");
        assert_eq!((merged.entries(), merged.damaged.len()), (300, 0), "read {wrong}");
        assert!(segment.head_damage().is_none(), "read {wrong}");
        assert!(segment.source().reads.load(Ordering::Relaxed) > 6, "read {wrong} was not repeated");
    }
}

/// The first head is wrong, and then both ends of the file cannot be read.
#[test]
fn segment_that_could_be_read_is_open_where_the_second_try_fails() {
    let entries = entries(300, 1);
    let segment = Segment::open(Faulty::new(&entries, 1..2, 5..7)).expect("the first try suffices");
    assert_eq!(segment.source().reads.load(Ordering::Relaxed), 7);
    let found = segment.check().expect("bytes");
    assert!(matches!(found[..], [ReadError::Head]), "{found:?}");
}

/// As where a lookup met two wrong responses, and the process merges hours later.
#[test]
fn block_that_a_lookup_found_damaged_is_read_again_by_a_merge() {
    let entries = entries(300, 1);
    let segment = Segment::open(Faulty::new(&entries, 5..7, 0..0)).expect("a segment");
    let (key, code) = entries.first_key_value().expect("an entry");
    for reason in ["wrong checksum", KNOWN] {
        let found = get(&segment, *key);
        assert!(matches!(&found, Err(ReadError::Damaged { reason: why, .. }) if *why == reason), "{found:?}");
    }
    assert_eq!((segment.damaged_blocks(), segment.source().reads.load(Ordering::Relaxed)), (1, 7));
    let mut merged = Merged::default();
    merged.add(&segment).expect("bytes");
    assert_eq!((merged.entries(), merged.damaged.len(), segment.damaged_blocks()), (300, 0, 0));
    assert_eq!(get(&segment, *key).expect("no damage").as_ref(), Some(code));
}

/// A source whose reads come from a copy until that is dropped.
struct Copied {
    original: Vec<u8>,
    copy: Mutex<Vec<u8>>,
    drops: Mutex<Vec<Range<u64>>>,
}

impl Copied {
    fn new(original: &[u8]) -> Copied {
        let copy = Mutex::new(original.to_vec());
        Copied { original: original.to_vec(), copy, drops: Mutex::default() }
    }

    fn flipped(original: &[u8], bit: usize) -> Copied {
        let copied = Copied::new(original);
        copied.copy.lock().expect("no panic")[bit / 8] ^= 1 << (bit % 8);
        copied
    }

    /// What was dropped, without empty ranges.
    fn dropped(&self) -> Vec<Range<u64>> {
        self.drops.lock().expect("no panic").iter().filter(|bytes| !bytes.is_empty()).cloned().collect()
    }
}

impl SegmentBytes for Copied {
    fn size(&self) -> u64 {
        self.original.size()
    }

    fn read(&self, at: u64, into: &mut [u8]) -> Result<(), SourceError> {
        self.copy.lock().expect("no panic").read(at, into)
    }

    fn drop_copies(&self, bytes: Range<u64>) -> bool {
        self.drops.lock().expect("no panic").push(bytes.clone());
        let bytes = bytes.start as usize..bytes.end as usize;
        self.copy.lock().expect("no panic")[bytes.clone()].copy_from_slice(&self.original[bytes]);
        true
    }
}

#[test]
fn wrong_copies_are_dropped_and_cost_nothing() {
    let entries = entries(2000, 1);
    let bytes = bytes(&entries);
    let bits = bytes.len() * 8;
    for bit in (0..60).map(|nth| nth * (bits / 60) + nth % 8) {
        let segment = Segment::open(Copied::flipped(&bytes, bit)).expect("the original is whole");
        assert!(segment.check().expect("bytes").is_empty(), "bit {bit}");
        let dropped = segment.source().dropped();
        let times = dropped.iter().filter(|bytes| bytes.contains(&(bit as u64 / 8))).count();
        assert_eq!(times, 1, "bit {bit}: {dropped:?}");
    }
}

#[test]
fn damaged_original_costs_no_copy_of_a_block() {
    let bytes = bytes(&entries(2000, 1));
    let mut headless = bytes.clone();
    headless[PRELUDE] ^= 1;
    let longer = [bytes.as_slice(), &[0]].concat();
    for (original, drops) in [(&headless, 2), (&longer, 0), (&bytes, 0)] {
        let segment = Segment::open(Copied::new(original)).expect("all blocks are there");
        let blocks = segment.blocks_at..segment.blocks_at + segment.head.blocks_len();
        let dropped = segment.source().dropped();
        assert_eq!(dropped.len(), drops, "{dropped:?}");
        let spared = |bytes: &Range<u64>| bytes.end <= blocks.start || bytes.start >= blocks.end;
        assert!(dropped.iter().all(spared), "{dropped:?} of {blocks:?}");
        assert!(segment.damaged_blocks() == 0 && segment.check().expect("bytes").len() <= 1);
    }
    // The first head, both ends of the file, and the filters: nothing is read again.
    let segment = Segment::open(Counted(longer, AtomicUsize::new(0))).expect("all blocks are there");
    assert_eq!(segment.source().1.load(Ordering::Relaxed), 4);
}
