//! A block: lengths of codes, the rest of each key, codes.

use std::ops::Range;

use xxhash_rust::xxh3::xxh3_64_with_seed;

use super::bits::Bits;

/// One block, checked.
pub(super) struct Block<'a> {
    bytes: &'a [u8],
    pub(super) entries: usize,
    /// Bits of the keys that are not implied by block and filter.
    rest: u32,
    wide: bool,
    codes: usize,
}

impl<'a> Block<'a> {
    pub(super) fn new(bytes: &'a [u8], entries: usize, rest: u32, wide: bool) -> Option<Block<'a>> {
        let lengths = entries * (1 + usize::from(wide));
        let codes = lengths + (entries * rest as usize).div_ceil(8);
        (bytes.len() >= codes).then_some(Block { bytes, entries, rest, wide, codes })
    }

    pub(super) fn rest(&self, rank: usize) -> u128 {
        let lengths = self.entries * (1 + usize::from(self.wide));
        Bits(&self.bytes[lengths..self.codes]).get(rank * self.rest as usize, self.rest)
    }

    /// Where a code is in the bytes; `None` when that is beyond them.
    pub(super) fn code(&self, rank: usize) -> Option<Range<usize>> {
        let (start, len) = if self.wide {
            let lengths = self.bytes[..2 * self.entries]
                .chunks_exact(2)
                .map(|two| usize::from(u16::from_le_bytes([two[0], two[1]])));
            (lengths.clone().take(rank).sum::<usize>(), lengths.clone().nth(rank)?)
        } else {
            let lengths = &self.bytes[..self.entries];
            (lengths[..rank].iter().map(|&len| u32::from(len)).sum::<u32>() as usize, usize::from(*lengths.get(rank)?))
        };
        let code = self.codes + start..self.codes + start + len;
        (code.end <= self.bytes.len()).then_some(code)
    }
}

/// The checksum of the block of this number.
pub(super) fn sum(block: usize, bytes: &[u8]) -> u64 {
    xxh3_64_with_seed(bytes, block as u64)
}
