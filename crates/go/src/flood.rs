//! Steps from set to set: neighbours, and what can be reached.
//!
//! The work is done on no more words than a board of the size fills, a constant for each number of words, so that the
//! compiler keeps small boards in registers.

use crate::geometry::{Geometry, geometry};
use crate::point_set::{PointSet, WORDS};
use crate::size::Size;

impl PointSet {
    /// Every point of a board.
    pub fn full(size: Size) -> PointSet {
        geometry(size).board
    }

    /// The points next to a point of this set, which may be in the set themselves.
    pub fn neighbours(&self, size: Size) -> PointSet {
        match size.area().div_ceil(64) {
            1 => Board::<1>::new(size).neighbours_of(self),
            2 => Board::<2>::new(size).neighbours_of(self),
            3 => Board::<3>::new(size).neighbours_of(self),
            _ => Board::<WORDS>::new(size).neighbours_of(self),
        }
    }

    /// The points of `within` that can be reached from this set by steps inside `within`.
    ///
    /// Points of the set that are not in `within` are where a walk may begin, but are not returned.
    pub fn reach(&self, within: &PointSet, size: Size) -> PointSet {
        match size.area().div_ceil(64) {
            1 => Board::<1>::new(size).reach(self, within),
            2 => Board::<2>::new(size).reach(self, within),
            3 => Board::<3>::new(size).reach(self, within),
            _ => Board::<WORDS>::new(size).reach(self, within),
        }
    }
}

/// A board of at most `64 * W` points.
struct Board<const W: usize> {
    side: u32,
    all: [u64; W],
    /// All but the leftmost column, and all but the rightmost.
    not_left: [u64; W],
    not_right: [u64; W],
}

impl<const W: usize> Board<W> {
    fn new(size: Size) -> Board<W> {
        let Geometry { board, left_edge, right_edge, .. } = geometry(size);
        Board {
            side: size.side() as u32,
            all: cut(board),
            not_left: cut(&(*board - *left_edge)),
            not_right: cut(&(*board - *right_edge)),
        }
    }

    fn neighbours_of(&self, set: &PointSet) -> PointSet {
        PointSet::from_words(&self.neighbours(&cut(set)))
    }

    fn reach(&self, from: &PointSet, within: &PointSet) -> PointSet {
        let (from, within): ([u64; W], [u64; W]) = (cut(from), cut(within));
        let next = self.neighbours(&from);
        let mut reached: [u64; W] = std::array::from_fn(|i| (from[i] | next[i]) & within[i]);
        loop {
            let next = self.neighbours(&reached);
            let further = std::array::from_fn(|i| (reached[i] | next[i]) & within[i]);
            if further == reached {
                return PointSet::from_words(&reached);
            }
            reached = further;
        }
    }

    fn neighbours(&self, set: &[u64; W]) -> [u64; W] {
        let leftwards: [u64; W] = down(&std::array::from_fn(|i| set[i] & self.not_left[i]), 1);
        let rightwards: [u64; W] = up(&std::array::from_fn(|i| set[i] & self.not_right[i]), 1);
        let (above, below) = (down(set, self.side), up(set, self.side));
        std::array::from_fn(|i| (leftwards[i] | rightwards[i] | above[i] | below[i]) & self.all[i])
    }
}

/// The first words of a set.
fn cut<const W: usize>(set: &PointSet) -> [u64; W] {
    std::array::from_fn(|i| set.words()[i])
}

/// Every point moved to an index higher by `by`, which is 1 to 63.
fn up<const W: usize>(set: &[u64; W], by: u32) -> [u64; W] {
    std::array::from_fn(|i| set[i] << by | if i > 0 { set[i - 1] >> (64 - by) } else { 0 })
}

/// Every point moved to an index lower by `by`, which is 1 to 63; those that would fall below 0 vanish.
fn down<const W: usize>(set: &[u64; W], by: u32) -> [u64; W] {
    std::array::from_fn(|i| set[i] >> by | if i + 1 < W { set[i + 1] << (64 - by) } else { 0 })
}
