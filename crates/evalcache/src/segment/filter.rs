//! Which keys a block may have: for each of 128 slots how many there are, in unary, and six more bits of each key.
//!
//! Sorted keys that share a beginning take 2 bits for the next 7 in this way (P. Elias, 1974; R. Fano, 1971), and these
//! bits are not repeated in the block. A key that is not there passes with a probability of about 1/64 for each key in
//! its slot.

use std::ops::Range;

use xxhash_rust::xxh3::xxh3_64;

use super::bits::{self, Bits};

/// Bits of a key that choose a slot.
pub(super) const SLOT_BITS: u32 = 7;
/// Bits of a key beside its slot.
pub(super) const MARK_BITS: u32 = 6;
const SLOTS: usize = 1 << SLOT_BITS;

/// Bytes of the filter of a block.
pub(super) fn len(entries: usize) -> usize {
    (entries * (1 + MARK_BITS as usize) + SLOTS).div_ceil(8)
}

/// The checksum of the filter of a block.
pub(super) fn sum(bytes: &[u8]) -> u16 {
    xxh3_64(bytes) as u16
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Filter<'a> {
    bytes: &'a [u8],
    entries: usize,
}

/// The ranks of a slot that have the mark.
pub(super) struct Ranks<'a> {
    filter: Filter<'a>,
    slot: Range<usize>,
    mark: u8,
}

impl Iterator for Ranks<'_> {
    type Item = usize;

    fn next(&mut self) -> Option<usize> {
        self.slot.by_ref().find(|&rank| self.filter.mark(rank) == self.mark)
    }
}

impl<'a> Filter<'a> {
    pub(super) fn new(bytes: &'a [u8], entries: usize) -> Filter<'a> {
        Filter { bytes, entries }
    }

    /// The ranks that a key of this slot with this mark may have; `None` when there are none.
    pub(super) fn ranks(self, slot: usize, mark: u8) -> Option<Ranks<'a>> {
        let slot = self.slot(slot);
        let mut ranks = Ranks { filter: self, slot, mark };
        let first = ranks.next()?;
        ranks.slot.start = first;
        Some(ranks)
    }

    /// The ranks of a slot: as many ones as come between two zeros.
    fn slot(self, slot: usize) -> Range<usize> {
        let (mut zeros, mut at) = (0, 0);
        let end = self.entries + SLOTS;
        while zeros < slot && at < end {
            let mut open = !self.word(at);
            let count = open.count_ones() as usize;
            if zeros + count < slot {
                zeros += count;
                at += 64;
                continue;
            }
            (zeros + 1..slot).for_each(|_| open &= open - 1);
            at += open.trailing_zeros() as usize + 1;
            zeros = slot;
        }
        let start = at.saturating_sub(slot);
        while at < end {
            let ones = self.word(at).trailing_ones() as usize;
            at += ones;
            if ones < 64 {
                break;
            }
        }
        let stop = at.saturating_sub(slot).min(self.entries);
        start.min(stop)..stop
    }

    fn word(self, at: usize) -> u64 {
        Bits(self.bytes).get(at, 64) as u64
    }

    fn mark(self, rank: usize) -> u8 {
        Bits(self.bytes).get(self.entries + SLOTS + rank * MARK_BITS as usize, MARK_BITS) as u8
    }

    /// Slot and mark of every entry.
    pub(super) fn all(self) -> Vec<(usize, u8)> {
        let mut found = Vec::with_capacity(self.entries);
        for slot in 0..SLOTS {
            let ranks = self.slot(slot);
            found.extend(ranks.map(|rank| (slot, self.mark(rank))));
        }
        found
    }
}

/// Appends the filter of entries of these slots and marks, in order.
pub(super) fn write(entries: &[(usize, u8)], out: &mut Vec<u8>) {
    let mut bytes = vec![0; len(entries.len())];
    for (rank, &(slot, _)) in entries.iter().enumerate() {
        let at = rank + slot;
        bytes[at / 8] |= 1 << (at % 8);
    }
    let mut packed = Vec::new();
    let start = entries.len() + SLOTS;
    bits::put(&mut packed, 0, (start % 8) as u32, 0);
    for (rank, &(_, mark)) in entries.iter().enumerate() {
        bits::put(&mut packed, start % 8 + rank * MARK_BITS as usize, MARK_BITS, mark.into());
    }
    for (byte, more) in bytes[start / 8..].iter_mut().zip(packed) {
        *byte |= more;
    }
    out.extend(bytes);
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn filters_find_what_was_written(entries in prop::collection::btree_set((0..SLOTS, 0..64_u8), 0..400)) {
            let entries: Vec<(usize, u8)> = entries.into_iter().collect();
            let mut bytes = Vec::new();
            write(&entries, &mut bytes);
            prop_assert_eq!(bytes.len(), len(entries.len()));
            let filter = Filter::new(&bytes, entries.len());
            prop_assert_eq!(filter.all(), entries.clone());
            for slot in 0..SLOTS {
                for mark in [0, 1, 17, 63] {
                    let expected: Vec<usize> = (0..entries.len()).filter(|&rank| entries[rank] == (slot, mark)).collect();
                    let found: Vec<usize> = filter.ranks(slot, mark).into_iter().flatten().collect();
                    prop_assert_eq!(found, expected);
                }
            }
        }

        #[test]
        fn filters_of_any_bytes_stay_in_their_entries(bytes in prop::collection::vec(any::<u8>(), 0..300), entries in 0..300_usize) {
            let filter = Filter::new(&bytes, entries);
            for slot in 0..SLOTS {
                prop_assert!(filter.slot(slot).end <= entries);
                let found: Vec<usize> = filter.ranks(slot, 3).into_iter().flatten().collect();
                prop_assert!(found.iter().all(|&rank| rank < entries));
            }
        }
    }
}
