//! Sets of points of boards that fill so many words.

use std::ops::{BitAnd, BitOr, BitOrAssign, Sub, SubAssign};

use crate::iter::Iter;
use crate::point::Point;
use crate::point_set::PointSet;

/// A set of points below `64 * W`: a [`PointSet`] without the words that a small board does not use.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Words<const W: usize>([u64; W]);

/// The points of a set in order of index, unless they are more than two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Few {
    None,
    One(Point),
    Two([Point; 2]),
    More,
}

impl<const W: usize> Words<W> {
    pub(crate) const EMPTY: Words<W> = Words([0; W]);

    /// The first words of a set.
    #[inline]
    pub(crate) fn of(set: &PointSet) -> Words<W> {
        Words(std::array::from_fn(|i| set.words()[i]))
    }

    /// The set on a board of any size.
    #[inline]
    pub(crate) fn set(self) -> PointSet {
        PointSet::from_words(&self.0)
    }

    #[inline]
    pub(crate) fn words(&self) -> &[u64; W] {
        &self.0
    }

    #[inline]
    pub(crate) fn from_words(words: [u64; W]) -> Words<W> {
        Words(words)
    }

    /// The set of one point.
    #[inline]
    pub(crate) fn point(point: Point) -> Words<W> {
        let (word, bit) = (point.index() / 64, 1 << (point.index() % 64));
        Words(std::array::from_fn(|i| if i == word { bit } else { 0 }))
    }

    /// The point of least index.
    #[inline]
    pub(crate) fn first(&self) -> Option<Point> {
        self.iter().next()
    }

    #[inline]
    pub(crate) fn contains(&self, point: Point) -> bool {
        self.0[point.index() / 64] >> (point.index() % 64) & 1 != 0
    }

    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.0.iter().fold(0, |all, word| all | word) == 0
    }

    /// The number of points.
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.0.iter().map(|word| word.count_ones()).sum::<u32>() as usize
    }

    /// Whether there is more than one point.
    #[inline]
    pub(crate) fn has_several(&self) -> bool {
        // The bits that one word has, and those that several have.
        let (once, twice) = self.0.iter().fold((0, 0), |(once, twice), word| (once | word, twice | once & word));
        (twice | once & u64::wrapping_sub(once, 1)) != 0
    }

    /// Whether there are more than two points in a set of points around one point: these are bits of different places
    /// in their words, on all boards of less than 32 columns.
    #[inline]
    pub(crate) fn has_three_of_four(&self) -> bool {
        let all = self.0.iter().fold(0, |all, word| all | word);
        let without_first = all & u64::wrapping_sub(all, 1);
        without_first & u64::wrapping_sub(without_first, 1) != 0
    }

    /// The points, as far as they are few.
    #[inline]
    pub(crate) fn few(self) -> Few {
        let mut points = self.iter();
        match [points.next(), points.next()] {
            [None, _] => Few::None,
            [Some(point), None] => Few::One(point),
            [Some(a), Some(b)] if points.is_done() => Few::Two([a, b]),
            _ => Few::More,
        }
    }

    /// The points in order of index.
    #[inline]
    pub(crate) fn iter(self) -> Iter<W> {
        Iter::new(self.0)
    }
}

impl<const W: usize> BitOr for Words<W> {
    type Output = Words<W>;

    #[inline]
    fn bitor(self, other: Words<W>) -> Words<W> {
        Words(std::array::from_fn(|i| self.0[i] | other.0[i]))
    }
}

impl<const W: usize> BitAnd for Words<W> {
    type Output = Words<W>;

    #[inline]
    fn bitand(self, other: Words<W>) -> Words<W> {
        Words(std::array::from_fn(|i| self.0[i] & other.0[i]))
    }
}

impl<const W: usize> Sub for Words<W> {
    type Output = Words<W>;

    #[inline]
    fn sub(self, other: Words<W>) -> Words<W> {
        Words(std::array::from_fn(|i| self.0[i] & !other.0[i]))
    }
}

impl<const W: usize> BitOrAssign for Words<W> {
    #[inline]
    fn bitor_assign(&mut self, other: Words<W>) {
        *self = *self | other;
    }
}

impl<const W: usize> SubAssign for Words<W> {
    #[inline]
    fn sub_assign(&mut self, other: Words<W>) {
        *self = *self - other;
    }
}
