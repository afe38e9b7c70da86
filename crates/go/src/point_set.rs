//! Sets of points, one bit a point.

use std::fmt;
use std::ops::{BitAnd, BitAndAssign, BitOr, BitOrAssign, Sub, SubAssign};

use crate::iter;
use crate::point::Point;
use crate::size::{MAX_AREA, Size};

/// The words of a set.
pub(crate) const WORDS: usize = MAX_AREA.div_ceil(64);

/// A set of points of one board.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PointSet([u64; WORDS]);

impl PointSet {
    /// The set without points.
    pub const EMPTY: PointSet = PointSet([0; WORDS]);

    /// Adds a point.
    pub const fn insert(&mut self, point: Point) {
        self.0[point.index() / 64] |= 1 << (point.index() % 64);
    }

    /// Takes a point out.
    pub const fn remove(&mut self, point: Point) {
        self.0[point.index() / 64] &= !(1 << (point.index() % 64));
    }

    /// Whether the point is in the set.
    pub const fn contains(&self, point: Point) -> bool {
        self.0[point.index() / 64] & (1 << (point.index() % 64)) != 0
    }

    /// The number of points in the set.
    pub fn len(&self) -> usize {
        self.0.iter().map(|word| word.count_ones() as usize).sum()
    }

    /// Whether the set has no points.
    pub fn is_empty(&self) -> bool {
        // Not by ==, which calls memcmp: searches ask this all the time.
        self.0.iter().fold(0, |all, word| all | word) == 0
    }

    /// Whether every point of this set is in the other.
    pub fn is_subset(&self, other: &PointSet) -> bool {
        (*self - *other).is_empty()
    }

    /// The point of least index.
    pub fn first(&self) -> Option<Point> {
        self.iter().next()
    }

    /// The points in order of index.
    pub const fn iter(&self) -> Iter {
        Iter(iter::Iter::new(self.0))
    }

    /// The words of the set: bit i % 64 of word i / 64 says whether point i is in it.
    pub const fn words(&self) -> &[u64; MAX_AREA.div_ceil(64)] {
        &self.0
    }

    /// Bit i of byte i/8, least significant first, says whether point i is in the set: what
    /// `numpy.unpackbits(…, bitorder="little")` undoes. `ceil(area / 8)` bytes.
    pub fn to_bytes(&self, size: Size) -> Vec<u8> {
        let bytes = self.0.iter().flat_map(|word| word.to_le_bytes());
        bytes.take(size.area().div_ceil(8)).collect()
    }

    /// Undoes [`PointSet::to_bytes`]; `None` when the length is not that of this size, or a bit beyond the last
    /// point is set.
    pub fn from_bytes(size: Size, bytes: &[u8]) -> Option<PointSet> {
        if bytes.len() != size.area().div_ceil(8) {
            return None;
        }
        let mut set = PointSet::EMPTY;
        for (word, bytes) in set.0.iter_mut().zip(bytes.chunks(8)) {
            let mut whole = [0; 8];
            whole[..bytes.len()].copy_from_slice(bytes);
            *word = u64::from_le_bytes(whole);
        }
        set.is_subset(&PointSet::full(size)).then_some(set)
    }

    /// A set from as many of its words as can have points.
    pub(crate) fn from_words(words: &[u64]) -> PointSet {
        let mut set = PointSet::EMPTY;
        set.0[..words.len()].copy_from_slice(words);
        set
    }
}

impl fmt::Debug for PointSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.iter().map(Point::index)).finish()
    }
}

impl BitOr for PointSet {
    type Output = PointSet;

    #[inline]
    fn bitor(mut self, other: PointSet) -> PointSet {
        self |= other;
        self
    }
}

impl BitOrAssign for PointSet {
    #[inline]
    fn bitor_assign(&mut self, other: PointSet) {
        for (word, other) in self.0.iter_mut().zip(other.0) {
            *word |= other;
        }
    }
}

impl BitAnd for PointSet {
    type Output = PointSet;

    #[inline]
    fn bitand(mut self, other: PointSet) -> PointSet {
        self &= other;
        self
    }
}

impl BitAndAssign for PointSet {
    #[inline]
    fn bitand_assign(&mut self, other: PointSet) {
        for (word, other) in self.0.iter_mut().zip(other.0) {
            *word &= other;
        }
    }
}

impl Sub for PointSet {
    type Output = PointSet;

    #[inline]
    fn sub(mut self, other: PointSet) -> PointSet {
        self -= other;
        self
    }
}

impl SubAssign for PointSet {
    #[inline]
    fn sub_assign(&mut self, other: PointSet) {
        for (word, other) in self.0.iter_mut().zip(other.0) {
            *word &= !other;
        }
    }
}

impl FromIterator<Point> for PointSet {
    fn from_iter<I: IntoIterator<Item = Point>>(points: I) -> PointSet {
        let mut set = PointSet::EMPTY;
        set.extend(points);
        set
    }
}

impl Extend<Point> for PointSet {
    fn extend<I: IntoIterator<Item = Point>>(&mut self, points: I) {
        points.into_iter().for_each(|point| self.insert(point));
    }
}

impl IntoIterator for PointSet {
    type Item = Point;
    type IntoIter = Iter;

    fn into_iter(self) -> Iter {
        self.iter()
    }
}

impl IntoIterator for &PointSet {
    type Item = Point;
    type IntoIter = Iter;

    fn into_iter(self) -> Iter {
        self.iter()
    }
}

/// The points of a set in order of index.
#[derive(Clone, Debug)]
pub struct Iter(iter::Iter<WORDS>);

impl Iterator for Iter {
    type Item = Point;

    #[inline]
    fn next(&mut self) -> Option<Point> {
        self.0.next()
    }
}
