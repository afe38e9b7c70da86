//! Writing and merging segments.

use std::sync::Arc;

use xxhash_rust::xxh3::xxh3_64;

use super::error::{ReadError, SegmentError};
use super::format::FOOTER;
use super::head::{self, BlockRef, Head, Set};
use super::source::SegmentBytes;
use super::{Segment, bits, block, filter};
use crate::{Key, Tables};

/// The bytes of a segment of these entries, whose keys ascend.
///
/// # Errors
/// The entries are not in order, or too many for one.
pub fn write(set: Set, tables: &Tables, replaces: &[u32], entries: &[(Key, &[u8])]) -> Result<Vec<u8>, SegmentError> {
    if tables.steps() != set.steps {
        return Err(SegmentError::Tables(tables.steps(), set.steps));
    }
    if let Some(pair) = entries.windows(2).find(|pair| pair[0].0 >= pair[1].0) {
        return Err(SegmentError::Order(pair[1].0));
    }
    if let Some((key, code)) = entries.iter().find(|(_, code)| code.len() > usize::from(u16::MAX)) {
        return Err(SegmentError::Code(*key, code.len()));
    }
    let block_bits = head::block_bits(entries.len() as u64);
    let wide = entries.iter().any(|(_, code)| code.len() > usize::from(u8::MAX));
    let mut head = Head {
        set,
        tables: Arc::new(tables.clone()),
        entries: entries.len() as u64,
        replaces: replaces.to_vec(),
        wide,
        block_bits,
        filters_sum: 0,
        blocks: Vec::new(),
    };
    let (mut filters, mut blocks, mut rest) = (Vec::new(), Vec::new(), entries);
    for number in 0..1_usize << block_bits {
        let len = rest.iter().take_while(|(key, _)| head.block_of(*key) == number).count();
        let (inside, after) = rest.split_at(len);
        rest = after;
        let block = put_block(&head, number, inside, &mut filters, &mut blocks);
        head.blocks.push(block.ok_or(SegmentError::TooLarge(entries.len() as u64))?);
    }
    head.filters_sum = xxh3_64(&filters);
    Ok(assemble(&head, &filters, &blocks))
}

pub(super) fn assemble(head: &Head, filters: &[u8], blocks: &[u8]) -> Vec<u8> {
    let head = head.to_bytes();
    let mut out = head::prelude(&head).to_vec();
    [&head, filters, blocks, &head].into_iter().for_each(|part| out.extend(part));
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
        let code = |&(key, start, end): &(Key, usize, usize)| (key, &self.codes[start..end]);
        let entries: Vec<(Key, &[u8])> = self.entries.iter().map(code).collect();
        write(set, tables, replaces, &entries)
    }
}
