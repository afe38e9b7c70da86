//! Writing and merging segments.

use std::iter;
use std::sync::Arc;

use xxhash_rust::xxh3::xxh3_64;

use super::error::{ReadError, SegmentError};
use super::format::FOOTER;
use super::head::{self, BlockRef, Head, Set};
use super::source::SegmentBytes;
use super::{Segment, bits, block, filter};
use crate::{Key, Tables};

/// Bytes of an entry beside its code, at most: two of its length and ten of its key, in block and filter.
const BESIDE_CODE: usize = 12;
/// Bytes of a block beside its entries, at most: its place in both directories, the slots of its filter, and what is
/// added to whole bytes. That of an empty segment has room for both ends of the file, too.
const BESIDE_ENTRIES: usize = 128;

/// The bytes of a segment of these entries, whose keys ascend.
///
/// # Errors
/// The entries are not in order, or too many for one.
pub fn write(set: Set, tables: &Tables, replaces: &[u32], entries: &[(Key, &[u8])]) -> Result<Vec<u8>, SegmentError> {
    write_all(set, tables, replaces, entries.len(), |place| entries[place])
}

/// The same of so many entries, each from its place.
fn write_all<'a>(
    set: Set,
    tables: &Tables,
    replaces: &[u32],
    count: usize,
    entry: impl Fn(usize) -> (Key, &'a [u8]),
) -> Result<Vec<u8>, SegmentError> {
    if tables.steps() != set.steps {
        return Err(SegmentError::Tables(tables.steps(), set.steps));
    }
    let all = || (0..count).map(&entry);
    if let Some((_, (key, _))) = all().zip(all().skip(1)).find(|(before, after)| before.0 >= after.0) {
        return Err(SegmentError::Order(key));
    }
    if let Some((key, code)) = all().find(|(_, code)| code.len() > usize::from(u16::MAX)) {
        return Err(SegmentError::Code(key, code.len()));
    }
    let block_bits = head::block_bits(count as u64);
    let wide = all().any(|(_, code)| code.len() > usize::from(u8::MAX));
    let mut head = Head {
        set,
        tables: Arc::new(tables.clone()),
        entries: count as u64,
        replaces: replaces.to_vec(),
        wide,
        block_bits,
        filters_sum: 0,
        blocks: Vec::new(),
    };
    let codes: usize = all().map(|(_, code)| code.len()).sum();
    let most = codes + BESIDE_CODE * count + (BESIDE_ENTRIES << block_bits) + 2 * head.to_bytes().len();
    let (mut filters, mut blocks) = (Vec::new(), Vec::with_capacity(most));
    let mut rest = all().peekable();
    for number in 0..1_usize << block_bits {
        let inside: Vec<(Key, &[u8])> =
            iter::from_fn(|| rest.next_if(|(key, _)| head.block_of(*key) == number)).collect();
        let block = put_block(&head, number, &inside, &mut filters, &mut blocks);
        head.blocks.push(block.ok_or(SegmentError::TooLarge(count as u64))?);
    }
    head.filters_sum = xxh3_64(&filters);
    let bytes = assemble(&head, &filters, blocks);
    debug_assert!(bytes.len() <= most, "{} bytes in {most}", bytes.len());
    Ok(bytes)
}

/// The bytes of a segment whose blocks are these. They move within their memory, since those of a merged segment are
/// many.
pub(super) fn assemble(head: &Head, filters: &[u8], blocks: Vec<u8>) -> Vec<u8> {
    let head = head.to_bytes();
    let before = [&head::prelude(&head)[..], &head, filters].concat();
    let mut out = blocks;
    drop(out.splice(0..0, before));
    out.extend(&head);
    let len = (out.len() + FOOTER) as u64;
    out.extend(head::footer(&head, len));
    out
}

fn put_block(
    head: &Head,
    number: usize,
    inside: &[(Key, &[u8])],
    filters: &mut Vec<u8>,
    blocks: &mut Vec<u8>,
) -> Option<BlockRef> {
    let marks: Vec<(usize, u8)> = inside.iter().map(|(key, _)| (head.slot_of(*key), head.mark_of(*key))).collect();
    let filter_start = filters.len();
    filter::write(&marks, filters);
    let start = blocks.len();
    for (_, code) in inside {
        let len = (code.len() as u16).to_le_bytes();
        blocks.extend(&len[..1 + usize::from(head.wide)]);
    }
    let mut packed = Vec::new();
    for (rank, (key, _)) in inside.iter().enumerate() {
        bits::put(&mut packed, rank * head.rest_bits() as usize, head.rest_bits(), head.rest_of(*key));
    }
    blocks.extend(packed);
    inside.iter().for_each(|(_, code)| blocks.extend(*code));
    Some(BlockRef {
        end: u32::try_from(blocks.len()).ok()?,
        entries: u16::try_from(inside.len()).ok()?,
        filter_sum: filter::sum(&filters[filter_start..]),
        sum: block::sum(number, &blocks[start..]),
    })
}

/// Entries of several segments in order of key, each key once: that of the first segment that has it.
#[derive(Debug, Default)]
pub struct Merged {
    codes: Vec<u8>,
    /// Key, and where its code begins and ends.
    entries: Vec<(Key, usize, usize)>,
    /// Blocks that could not be read.
    pub damaged: Vec<ReadError>,
}

impl Merged {
    /// Room for segments that have so many entries and bytes together: a vector that grows copies itself, and has twice
    /// its memory then.
    pub fn with_capacity(entries: usize, bytes: usize) -> Merged {
        Merged { codes: Vec::with_capacity(bytes), entries: Vec::with_capacity(entries), damaged: Vec::new() }
    }

    /// Adds the entries of a segment. Damaged blocks are omitted and counted.
    ///
    /// # Errors
    /// The segment cannot be read.
    pub fn add<S: SegmentBytes>(&mut self, segment: &Segment<S>) -> Result<(), ReadError> {
        let mut damaged = Vec::new();
        segment.read_all(&mut |key, code| self.put(key, code), &mut |error| damaged.push(error))?;
        self.damaged.extend(damaged);
        Ok(())
    }

    /// Adds an entry.
    pub fn put(&mut self, key: Key, code: &[u8]) {
        let start = self.codes.len();
        self.codes.extend_from_slice(code);
        self.entries.push((key, start, self.codes.len()));
    }

    /// How many entries there are so far, those of equal keys included.
    pub fn entries(&self) -> usize {
        self.entries.len()
    }

    /// The segment of all entries.
    ///
    /// # Errors
    /// There are too many for one.
    pub fn write(&mut self, set: Set, tables: &Tables, replaces: &[u32]) -> Result<Vec<u8>, SegmentError> {
        // The sort keeps the order of equal keys: the first of them stays.
        self.entries.sort_by_key(|&(key, ..)| key);
        self.entries.dedup_by_key(|&mut (key, ..)| key);
        let entry = |place: usize| {
            let (key, start, end) = self.entries[place];
            (key, &self.codes[start..end])
        };
        write_all(set, tables, replaces, self.entries.len(), entry)
    }
}
