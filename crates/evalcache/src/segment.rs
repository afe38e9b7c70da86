//! Files of evaluations, sorted by key, which are written once.
//!
//! ```text
//! prelude   magic, version, length and checksum of the head
//! head      origin of the evaluations, the tables, and the offset of each block
//! filters   for each block: which keys it may have, about 8 bits a key
//! blocks    for each block: lengths, the rest of each key, codes
//! head      a second copy
//! footer    length and checksum of the head, length of the file, magic
//! ```
//!
//! All numbers have their lowest byte first. A block has the keys that begin with its number, some 120 to 240 of them.
//! Every block and every filter has a checksum, so damage costs one block; the head is there twice. Where the first one
//! is whole, a file of another length is read that has all blocks. Only the prelude has the version; where it is a
//! later one, the second head is not used either.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use xxhash_rust::xxh3::xxh3_64;

use crate::{Key, Tables};

mod ahead;
mod bits;
mod block;
#[cfg(any(test, feature = "testing"))]
mod checksums;
mod error;
mod filter;
mod format;
mod head;
mod source;
mod write;

#[cfg(test)]
mod tests;

use ahead::Ahead;
use block::Block;
#[cfg(any(test, feature = "testing"))]
pub use checksums::with_right_checksums;
pub use error::{ReadError, SegmentError};
use filter::Filter;
pub use format::VERSION;
use format::{FOOTER, PRELUDE};
pub use head::{Head, KomiCoding, Set, Symmetries};
pub use source::{SegmentBytes, SourceError};
pub use write::{Merged, write};

/// Why a block is refused that was found damaged before.
pub const KNOWN: &str = "it was found before";
/// Why a block is refused whose lengths are wrong.
const BEYOND: &str = "a code reaches beyond it";

/// An open segment.
#[derive(Debug)]
pub struct Segment<S> {
    source: S,
    head: Head,
    filters: Vec<u8>,
    /// Where the filter of each block begins, and where the last ends.
    filter_at: Vec<u32>,
    blocks_at: u64,
    head_copies: u8,
    /// The length of the file by its head.
    len: u64,
    /// Blocks that were found damaged, one bit each, so that lookups report each once.
    damaged: Vec<AtomicU64>,
}

/// What is in memory of an open segment.
struct SegmentParts {
    head: Head,
    filters: Vec<u8>,
    filter_at: Vec<u32>,
    blocks_at: u64,
    head_copies: u8,
    len: u64,
    /// Whether the checksum of all filters is right.
    filters_are_right: bool,
}

impl SegmentParts {
    fn read(source: &impl SegmentBytes) -> Result<SegmentParts, ReadError> {
        let (first, second) = (head::read_first(source), head::read_second(source));
        let has_first = first.is_ok();
        let head_copies = u8::from(has_first) + u8::from(second.is_ok());
        let (head, head_len) = match (first, second) {
            (Err(error @ ReadError::NoSegment(head::LATER)), _) => return Err(error),
            (Err(error @ ReadError::Source(_)), Err(_)) | (Err(error), Err(ReadError::NoSegment(_))) => {
                return Err(error);
            }
            (Ok(found), _) | (_, Ok(found)) => found,
            (_, Err(error)) => return Err(error),
        };
        let filter_at = head.filters();
        let filters_len = filter_at.last().copied().unwrap_or(0);
        let filters_at = PRELUDE as u64 + u64::from(head_len);
        let blocks_at = filters_at + u64::from(filters_len);
        let blocks_end = blocks_at + head.blocks_len();
        let len = blocks_end + u64::from(head_len) + FOOTER as u64;
        // The first head has the offsets from the beginning. The second one is found by the length alone.
        let fits = if has_first { source.size() >= blocks_end } else { source.size() == len };
        if !fits {
            return Err(ReadError::NoSegment("length differs from the head"));
        }
        let mut filters = vec![0; filters_len as usize];
        source.read(filters_at, &mut filters).map_err(ReadError::Source)?;
        let filters_are_right = xxh3_64(&filters) == head.filters_sum;
        Ok(SegmentParts { head, filters, filter_at, blocks_at, head_copies, len, filters_are_right })
    }

    /// Whether all of it was read, of a file of this size. One of another length has no second head, however often it
    /// is read.
    fn is_whole(&self, size: u64) -> bool {
        self.filters_are_right && (self.head_copies == 2 || self.len != size)
    }

    /// Where the blocks are. Heads and filters are before and behind.
    fn blocks(&self) -> Range<u64> {
        self.blocks_at..self.blocks_at + self.head.blocks_len()
    }
}

impl<S: SegmentBytes> Segment<S> {
    /// Opens a segment: reads its head, and the filters.
    ///
    /// # Errors
    /// The bytes cannot be read, or are no segment: damage in both copies of the head included, and a missing block.
    pub fn open(source: S) -> Result<Segment<S>, ReadError> {
        let (mut opened, size) = (SegmentParts::read(&source), source.size());
        let blocks = match &opened {
            Ok(parts) if parts.is_whole(size) => None,
            Ok(parts) => Some(parts.blocks()),
            Err(_) => Some(0..0),
        };
        // A copy may be wrong, or a response. Copies of blocks are not: each block has a checksum of its own.
        if let Some(blocks) = blocks {
            let dropped = [0..blocks.start, blocks.end..size].map(|bytes| source.drop_copies(bytes)).contains(&true);
            if dropped || !matches!(opened, Err(ReadError::Source(_))) {
                let again = SegmentParts::read(&source);
                if again.is_ok() || opened.is_err() {
                    opened = again;
                }
            }
        }
        let SegmentParts { head, filters, filter_at, blocks_at, head_copies, len, filters_are_right } = opened?;
        let damaged = (0..head.blocks.len().div_ceil(64)).map(|_| AtomicU64::new(0)).collect();
        let segment = Segment { source, head, filters, filter_at, blocks_at, head_copies, len, damaged };
        if !filters_are_right {
            segment.mark_damaged_filters();
        }
        Ok(segment)
    }

    fn mark_damaged_filters(&self) {
        for block in 0..self.head.blocks.len() {
            if !self.filter_is_right(block) {
                self.mark(block);
            }
        }
    }

    fn filter_is_right(&self, block: usize) -> bool {
        filter::sum(self.filter_bytes(block)) == self.head.blocks[block].filter_sum
    }

    /// The origin of the evaluations.
    pub fn head(&self) -> &Head {
        &self.head
    }

    /// Its bytes.
    pub fn source(&self) -> &S {
        &self.source
    }

    /// Uses these tables for its own where they are the same, so that the segments of a set have them in memory once.
    pub fn share_tables(&mut self, tables: &Arc<Tables>) {
        if self.head.tables == *tables {
            self.head.tables = tables.clone();
        }
    }

    /// Bytes of memory that it takes while it is open, but for tables that it shares.
    pub fn memory(&self) -> usize {
        let blocks = self.head.blocks.len();
        let own = Arc::strong_count(&self.head.tables) == 1;
        let tables = if own { self.head.tables.memory() } else { 0 };
        let blocks = blocks * (size_of::<head::BlockRef>() + size_of::<u32>()) + self.damaged.len() * 8;
        self.filters.len() + blocks + tables
    }

    /// Reads the block that may have a key into `bytes`, and returns the range of them that is the code of the key, if
    /// the segment has it. It allocates nothing once `bytes` has had room for the largest block.
    ///
    /// # Errors
    /// The block that may have it is damaged, or cannot be read.
    pub fn get(&self, key: Key, bytes: &mut Vec<u8>) -> Result<Option<Range<usize>>, ReadError> {
        let block = self.head.block_of(key);
        if self.is_marked(block) {
            return Err(self.damage(block, KNOWN));
        }
        let ranks = self.filter(block).ranks(self.head.slot_of(key), self.head.mark_of(key));
        let Some(mut ranks) = ranks else { return Ok(None) };
        let found = self.block(block, bytes)?;
        let rest = self.head.rest_of(key);
        let Some(rank) = ranks.find(|&rank| found.rest(rank) == rest) else { return Ok(None) };
        found.code(rank).map(Some).ok_or_else(|| self.damage(block, BEYOND))
    }

    /// Reads a block into `bytes` and compares its checksum; a wrong one is read again.
    fn block<'a>(&self, block: usize, bytes: &'a mut Vec<u8>) -> Result<Block<'a>, ReadError> {
        self.block_by(None, block, bytes)
    }

    /// The same, from a long part if there is one.
    fn block_by<'a>(
        &self,
        mut ahead: Option<&mut Ahead<'_, S>>,
        block: usize,
        bytes: &'a mut Vec<u8>,
    ) -> Result<Block<'a>, ReadError> {
        let entry = &self.head.blocks[block];
        let start = block.checked_sub(1).map_or(0, |before| self.head.blocks[before].end);
        bytes.resize(entry.end.saturating_sub(start) as usize, 0);
        let at = self.blocks_at + u64::from(start);
        let read = match &mut ahead {
            Some(ahead) => ahead.read(at, bytes),
            None => self.source.read(at, bytes),
        };
        read.map_err(ReadError::Source)?;
        if block::sum(block, bytes) != entry.sum {
            // A copy may be wrong, whose bytes the part has, or a response: a merge would lose the block for ever.
            if self.source.drop_copies(at..at + bytes.len() as u64)
                && let Some(ahead) = ahead
            {
                ahead.forget();
            }
            self.source.read(at, bytes).map_err(ReadError::Source)?;
            if block::sum(block, bytes) != entry.sum {
                self.mark(block);
                return Err(self.damage(block, "wrong checksum"));
            }
        }
        let found = Block::new(bytes, entry.entries.into(), self.head.rest_bits(), self.head.wide);
        found.ok_or_else(|| self.damage(block, "shorter than its entries"))
    }

    /// All entries in order of key: calls `take` with each key and its code, and `damaged` for each block that is
    /// damaged. They are read in long parts, since a request to a bucket takes about as long for one block as for
    /// hundreds.
    ///
    /// A block that a lookup found damaged is read again, and lookups use it if it is right: the merge that omits a
    /// block deletes the original.
    ///
    /// # Errors
    /// The bytes cannot be read.
    pub(crate) fn read_all(
        &self,
        take: &mut dyn FnMut(Key, &[u8]),
        damaged: &mut dyn FnMut(ReadError),
    ) -> Result<(), ReadError> {
        let mut ahead = Ahead::new(&self.source, self.blocks_at + self.head.blocks_len());
        for block in 0..self.blocks() {
            match self.read_block(block, &mut ahead, take) {
                Err(error @ ReadError::Damaged { .. }) => damaged(error),
                read => read?,
            }
        }
        Ok(())
    }

    fn read_block(
        &self,
        block: usize,
        ahead: &mut Ahead<'_, S>,
        take: &mut dyn FnMut(Key, &[u8]),
    ) -> Result<(), ReadError> {
        let is_marked = self.is_marked(block);
        // Filters are read only when a segment is opened.
        if is_marked && !self.filter_is_right(block) {
            return Err(self.damage(block, KNOWN));
        }
        let mut bytes = Vec::new();
        let found = self.block_by(Some(ahead), block, &mut bytes)?;
        if is_marked {
            self.unmark(block);
        }
        let filter = self.filter(block);
        let mut entries = Vec::with_capacity(found.entries);
        for (rank, (slot, mark)) in filter.all().into_iter().enumerate() {
            let code = found.code(rank).ok_or_else(|| self.damage(block, BEYOND))?;
            entries.push((self.head.key(block, slot, mark, found.rest(rank)), code));
        }
        entries.into_iter().for_each(|(key, code)| take(key, &bytes[code]));
        Ok(())
    }

    /// Blocks, empty ones included.
    pub fn blocks(&self) -> usize {
        self.head.blocks.len()
    }

    /// The damage outside of filters and blocks, which costs no evaluation: another length, or else a copy of the head.
    pub fn head_damage(&self) -> Option<ReadError> {
        let found = self.source.size();
        if found != self.len {
            return Some(ReadError::Length { found, expected: self.len });
        }
        (self.head_copies < 2).then_some(ReadError::Head)
    }

    /// Blocks that were found damaged and not right since: right after [`Segment::open`] those with a damaged filter.
    pub fn damaged_blocks(&self) -> u32 {
        self.damaged.iter().map(|bits| bits.load(Ordering::Relaxed).count_ones()).sum()
    }

    /// Reads everything, and reports damage: blocks, and a copy of the head or the length of the file.
    ///
    /// # Errors
    /// The bytes cannot be read.
    pub fn check(&self) -> Result<Vec<ReadError>, ReadError> {
        let mut found: Vec<ReadError> = self.head_damage().into_iter().collect();
        self.read_all(&mut |_, _| (), &mut |error| found.push(error))?;
        Ok(found)
    }

    fn filter_bytes(&self, block: usize) -> &[u8] {
        &self.filters[self.filter_at[block] as usize..self.filter_at[block + 1] as usize]
    }

    fn filter(&self, block: usize) -> Filter<'_> {
        Filter::new(self.filter_bytes(block), self.head.blocks[block].entries.into())
    }

    fn mark(&self, block: usize) {
        self.damaged[block / 64].fetch_or(1 << (block % 64), Ordering::Relaxed);
    }

    fn unmark(&self, block: usize) {
        self.damaged[block / 64].fetch_and(!(1 << (block % 64)), Ordering::Relaxed);
    }

    fn is_marked(&self, block: usize) -> bool {
        self.damaged[block / 64].load(Ordering::Relaxed) >> (block % 64) & 1 == 1
    }

    fn damage(&self, block: usize, reason: &'static str) -> ReadError {
        ReadError::Damaged { block: block as u32, blocks: self.blocks() as u32, reason }
    }
}
