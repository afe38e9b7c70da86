//! The boards a game has seen, for superko.

/// Hashes in the order they were seen, with a table to find them.
///
/// The table is open addressing with linear probing. Hashes leave it in the reverse order of coming, so a leaving hash
/// can simply be blanked: everything that had to step over it has left before.
#[derive(Clone, Debug)]
pub(crate) struct PositionSet {
    /// Entries of the table; 0 for a hash that was there already.
    order: Vec<u64>,
    /// Twice as many slots as hashes or more, a power of two; 0 is a free slot.
    table: Vec<u64>,
}

impl PositionSet {
    pub(crate) fn new() -> PositionSet {
        PositionSet { order: Vec::new(), table: vec![0; 256] }
    }

    pub(crate) fn len(&self) -> usize {
        self.order.len()
    }

    pub(crate) fn contains(&self, hash: u64) -> bool {
        self.table[self.slot(entry(hash))] != 0
    }

    /// Adds a hash.
    pub(crate) fn push(&mut self, hash: u64) {
        let entry = entry(hash);
        let slot = self.slot(entry);
        let is_new = self.table[slot] == 0;
        self.order.push(if is_new { entry } else { 0 });
        if 2 * self.order.len() > self.table.len() {
            self.grow();
        } else {
            self.table[slot] = entry;
        }
    }

    /// Forgets all but the first `len` hashes.
    pub(crate) fn truncate(&mut self, len: usize) {
        while self.order.len() > len {
            if let Some(entry) = self.order.pop().filter(|&entry| entry != 0) {
                let slot = self.slot(entry);
                self.table[slot] = 0;
            }
        }
    }

    fn grow(&mut self) {
        self.table.fill(0);
        self.table.resize(2 * self.table.len(), 0);
        for i in 0..self.order.len() {
            let entry = self.order[i];
            if entry != 0 {
                let slot = self.slot(entry);
                self.table[slot] = entry;
            }
        }
    }

    /// Where the entry is, or the free slot where it would go.
    fn slot(&self, entry: u64) -> usize {
        let mask = self.table.len() - 1;
        let mut slot = (entry >> 32) as usize & mask;
        while self.table[slot] != 0 && self.table[slot] != entry {
            slot = (slot + 1) & mask;
        }
        slot
    }
}

/// What stands in the table for a hash: never 0, at the price of one bit.
fn entry(hash: u64) -> u64 {
    hash | 1
}

#[cfg(test)]
mod tests {
    use super::PositionSet;

    /// Against a plain list, with hashes that crowd into few slots, through growth and back.
    #[test]
    fn superko_contains_pushed_and_not_truncated_boards() {
        let hash = |i: u64| ((i.wrapping_mul(0x9e37_79b9) % 997) << 32) | (i << 1);
        let mut seen = PositionSet::new();
        for (i, keep) in [(0_u64, 100_usize), (1, 600), (2, 90), (3, 700), (4, 0), (5, 300)] {
            let hashes: Vec<u64> = (0..800).map(|j| hash(1000 * i + j)).collect();
            seen.truncate(0);
            hashes.iter().for_each(|&hash| seen.push(hash));
            assert!(hashes.iter().all(|&hash| seen.contains(hash)));
            seen.truncate(keep);
            assert_eq!(seen.len(), keep);
            assert_eq!(seen.table.iter().filter(|&&entry| entry != 0).count(), keep);
            for (j, &hash) in hashes.iter().enumerate() {
                assert_eq!(seen.contains(hash), j < keep);
            }
        }
    }

    /// One board comes again and again, and others between, through growth.
    #[test]
    fn superko_contains_a_repeated_board_until_its_first_time_is_truncated() {
        let mut seen = PositionSet::new();
        let other = |i: u64| (i + 2) << 32;
        seen.push(other(0));
        for i in 1..300 {
            seen.push(1 << 32);
            seen.push(other(i));
        }
        for len in (2..seen.len()).rev() {
            seen.truncate(len);
            assert!(seen.contains(1 << 32), "{len}");
            assert!((0..300).all(|i| seen.contains(other(i)) == (2 * i < len as u64)), "{len}");
        }
        seen.truncate(1);
        assert!(!seen.contains(1 << 32) && seen.contains(other(0)));
    }
}
