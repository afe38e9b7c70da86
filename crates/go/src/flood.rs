//! Steps from set to set: neighbours, and what can be reached.
//!
//! The work is done on no more words than a board of the size fills, a constant for each number of words, so that the
//! compiler keeps small boards in registers.

use crate::geometry::{Geometry, around, geometry};
use crate::point::Point;
use crate::point_set::{PointSet, WORDS};
use crate::size::Size;
use crate::words::Words;

/// Evaluates an expression with the [`Board`] of a size, whose number of words is a constant in it.
macro_rules! on_board {
    ($size:expr, $board:ident => $value:expr) => {
        match $size.area().div_ceil(64) {
            1 => {
                let $board = Board::<1>::new($size);
                $value
            }
            2 => {
                let $board = Board::<2>::new($size);
                $value
            }
            3 => {
                let $board = Board::<3>::new($size);
                $value
            }
            _ => {
                let $board = Board::<WORDS>::new($size);
                $value
            }
        }
    };
}
pub(crate) use on_board;

impl PointSet {
    /// Every point of a board.
    pub fn full(size: Size) -> PointSet {
        geometry(size).board
    }

    /// The points next to a point of this set, which may be in the set themselves.
    pub fn neighbours(&self, size: Size) -> PointSet {
        on_board!(size, board => board.neighbours(Words::of(self)).set())
    }

    /// The points of `within` that can be reached from this set by steps inside `within`.
    ///
    /// Points of the set that are not in `within` are where a walk may begin, but are not returned.
    pub fn reach(&self, within: &PointSet, size: Size) -> PointSet {
        on_board!(size, board => board.reach(Words::of(self), Words::of(within)).set())
    }
}

/// A board of at most `64 * W` points.
#[derive(Debug)]
pub(crate) struct Board<const W: usize> {
    side: u32,
    all: Words<W>,
    /// All but the leftmost column, and all but the rightmost.
    not_left: Words<W>,
    not_right: Words<W>,
    around: &'static [PointSet],
}

impl<const W: usize> Board<W> {
    #[inline]
    pub(crate) fn new(size: Size) -> Board<W> {
        let Geometry { board, not_left, not_right, .. } = geometry(size);
        let [all, not_left, not_right] = [board, not_left, not_right].map(Words::of);
        Board { side: size.side() as u32, all, not_left, not_right, around: around(size) }
    }

    /// Every point.
    #[inline]
    pub(crate) fn all(&self) -> Words<W> {
        self.all
    }

    /// The points next to a point.
    #[inline]
    pub(crate) fn around(&self, point: Point) -> Words<W> {
        Words::of(&self.around[point.index()])
    }

    /// The points of `within` that can be reached from a set by steps inside `within`, as [`PointSet::reach`].
    #[inline]
    pub(crate) fn reach(&self, from: Words<W>, within: Words<W>) -> Words<W> {
        self.grow((from | self.neighbours(from)) & within, within)
    }

    /// The points that can be reached from points of `within` by steps inside `within`.
    #[inline]
    pub(crate) fn grow(&self, from: Words<W>, within: Words<W>) -> Words<W> {
        let mut reached = from;
        self.grow_around(&mut reached, within);
        reached
    }

    /// Adds what can be reached by steps inside `within`, and returns the points next to all of it.
    #[inline]
    pub(crate) fn grow_around(&self, reached: &mut Words<W>, within: Words<W>) -> Words<W> {
        loop {
            let around = self.neighbours(*reached);
            let further = (around & within) - *reached;
            if further.is_empty() {
                return around;
            }
            *reached |= further;
        }
    }

    /// The points that have none, one, two and three points of a set beside them.
    pub(crate) fn beside(&self, set: Words<W>) -> [Words<W>; 4] {
        let [a, b, c, d] = self.steps(set);
        let [a, b, c, d] = [a.words(), b.words(), c.words(), d.words()];
        // Two half adders, and the sum of their sums and carries, bit by bit.
        let counts: [[u64; 4]; W] = std::array::from_fn(|i| {
            let ([ab, carry_ab], [cd, carry_cd]) = ([a[i] ^ b[i], a[i] & b[i]], [c[i] ^ d[i], c[i] & d[i]]);
            let (ones, carry) = (ab ^ cd, ab & cd);
            let twos = carry ^ carry_ab ^ carry_cd;
            // Four is two carries without a one.
            let fours = carry_ab & carry_cd;
            [!ones & !twos & !fours, ones & !twos, !ones & twos, ones & twos]
        });
        std::array::from_fn(|count| Words::from_words(counts.map(|word| word[count])) & self.all)
    }

    /// The points next to a point of a set, which may be in the set themselves.
    #[inline]
    pub(crate) fn neighbours(&self, set: Words<W>) -> Words<W> {
        let [a, b, c, d] = self.steps(set);
        (a | b | c | d) & self.all
    }

    /// Every point moved left, right, up and down; those that move beyond the last row are not on the board.
    #[inline]
    fn steps(&self, set: Words<W>) -> [Words<W>; 4] {
        let leftwards = down(set & self.not_left, 1);
        let rightwards = up(set & self.not_right, 1);
        [leftwards, rightwards, down(set, self.side), up(set, self.side)]
    }
}

/// Every point moved to an index higher by `by`, which is 1 to 63.
#[inline]
fn up<const W: usize>(set: Words<W>, by: u32) -> Words<W> {
    let set = set.words();
    Words::from_words(std::array::from_fn(|i| set[i] << by | if i > 0 { set[i - 1] >> (64 - by) } else { 0 }))
}

/// Every point moved to an index lower by `by`, which is 1 to 63; those that would fall below 0 vanish.
#[inline]
fn down<const W: usize>(set: Words<W>, by: u32) -> Words<W> {
    let set = set.words();
    Words::from_words(std::array::from_fn(|i| set[i] >> by | if i + 1 < W { set[i + 1] << (64 - by) } else { 0 }))
}
