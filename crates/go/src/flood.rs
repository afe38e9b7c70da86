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

    /// The points that have none, one, two and three points of this set beside them.
    pub(crate) fn beside(&self, size: Size) -> [PointSet; 4] {
        match size.area().div_ceil(64) {
            1 => Board::<1>::new(size).beside(self),
            2 => Board::<2>::new(size).beside(self),
            3 => Board::<3>::new(size).beside(self),
            _ => Board::<WORDS>::new(size).beside(self),
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
        let Geometry { board, not_left, not_right, .. } = geometry(size);
        Board { side: size.side() as u32, all: cut(board), not_left: cut(not_left), not_right: cut(not_right) }
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
            let further: [u64; W] = std::array::from_fn(|i| (reached[i] | next[i]) & within[i]);
            // Not by ==, which calls memcmp.
            if (0..W).all(|i| further[i] == reached[i]) {
                return PointSet::from_words(&reached);
            }
            reached = further;
        }
    }

    fn beside(&self, set: &PointSet) -> [PointSet; 4] {
        let [a, b, c, d] = self.steps(&cut(set));
        // Two half adders, and the sum of their sums and carries, bit by bit.
        let counts: [[u64; 4]; W] = std::array::from_fn(|i| {
            let ([ab, carry_ab], [cd, carry_cd]) = ([a[i] ^ b[i], a[i] & b[i]], [c[i] ^ d[i], c[i] & d[i]]);
            let (ones, carry) = (ab ^ cd, ab & cd);
            let twos = carry ^ carry_ab ^ carry_cd;
            // Four is two carries without a one.
            let fours = carry_ab & carry_cd;
            [!ones & !twos & !fours, ones & !twos, !ones & twos, ones & twos].map(|count| count & self.all[i])
        });
        std::array::from_fn(|count| PointSet::from_words(&counts.map(|word| word[count])))
    }

    fn neighbours(&self, set: &[u64; W]) -> [u64; W] {
        let [a, b, c, d] = self.steps(set);
        std::array::from_fn(|i| (a[i] | b[i] | c[i] | d[i]) & self.all[i])
    }

    /// Every point moved left, right, up and down; those that move beyond the last row are not on the board.
    fn steps(&self, set: &[u64; W]) -> [[u64; W]; 4] {
        let leftwards = down(&std::array::from_fn(|i| set[i] & self.not_left[i]), 1);
        let rightwards = up(&std::array::from_fn(|i| set[i] & self.not_right[i]), 1);
        [leftwards, rightwards, down(set, self.side), up(set, self.side)]
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
