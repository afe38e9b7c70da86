//! The planes of [`features`](crate::features) in fewer bits: what excludes each other on a point shares bits.
//!
//! A plane of points that has at most one (the ko, each of the last moves) is a number of two bytes, little-endian: the
//! point, or the area of the board for none. The others become these planes of bits, each beginning with a byte of its
//! own:
//!
//! | plane | on a stone | on an empty point |
//! |---|---|---|
//! | 0, 1 | whose it is: the side to move's, its opponent's | |
//! | 2, 3 | liberties of its chain, 0 for more than three: low bit, high bit | of a stone of the side to move there |
//! | 4 | its chain is caught in a ladder | a stone of the side to move captures |
//! | 5 | | a stone of the side to move would be suicide |
//! | 6, 7 | | liberties of a stone of the opponent there |
//! | 8, 9 | | such a stone captures, would be suicide |
//! | 10 | | a move begins a ladder |
//! | 11, 12 | pass-alive for the side to move, for the opponent | the same |
//!
//! Without tactics there are planes 0 to 3. Planes that contradict this cannot be written this way, and the packing of
//! a batch with such planes has a bit for each of them.

use std::array::from_fn;
use std::ops::{BitAnd, BitOr, Sub};

use super::bits::{self, SPREAD};
use crate::features::{COUNT, POINTS, TACTICS_COUNT};

/// Planes of stones and of the liberties of chains.
const FIRST: usize = POINTS.start;
/// Planes of bits: without and with tactics.
const PLAIN: usize = 4;
const MOST: usize = 13;

/// A plane of at most 361 bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Plane([u64; 6]);

impl BitOr for Plane {
    type Output = Plane;

    fn bitor(self, other: Plane) -> Plane {
        Plane(from_fn(|word| self.0[word] | other.0[word]))
    }
}

impl BitAnd for Plane {
    type Output = Plane;

    fn bitand(self, other: Plane) -> Plane {
        Plane(from_fn(|word| self.0[word] & other.0[word]))
    }
}

impl Sub for Plane {
    type Output = Plane;

    fn sub(self, other: Plane) -> Plane {
        Plane(from_fn(|word| self.0[word] & !other.0[word]))
    }
}

impl Plane {
    const EMPTY: Plane = Plane([0; 6]);

    /// The bits of bytes of 0 and 1.
    fn gather(bytes: &[u8]) -> Plane {
        let mut plane = Plane::EMPTY;
        let (whole, rest) = bytes.as_chunks::<64>();
        plane.0.iter_mut().zip(whole).for_each(|(word, bytes)| *word = gather(bytes));
        if !rest.is_empty() {
            let mut last = [0; 64];
            last[..rest.len()].copy_from_slice(rest);
            plane.0[whole.len()] = gather(&last);
        }
        plane
    }

    fn spread(self, bytes: &mut [u8]) {
        let (whole, rest) = bytes.as_chunks_mut::<64>();
        whole.iter_mut().zip(self.0).for_each(|(bytes, word)| *bytes = spread(word));
        if !rest.is_empty() {
            rest.copy_from_slice(&spread(self.0[whole.len()])[..rest.len()]);
        }
    }

    fn read(bytes: &[u8]) -> Plane {
        let mut whole = [0; 48];
        whole[..bytes.len()].copy_from_slice(bytes);
        let (words, _) = whole.as_chunks::<8>();
        Plane(from_fn(|word| u64::from_le_bytes(words[word])))
    }

    fn write(self, bytes: &mut [u8]) {
        let mut whole = [0; 48];
        whole.as_chunks_mut::<8>().0.iter_mut().zip(self.0).for_each(|(bytes, word)| *bytes = word.to_le_bytes());
        bytes.copy_from_slice(&whole[..bytes.len()]);
    }

    /// The point of least number; `area` where there is none.
    fn first(self, area: usize) -> u16 {
        let word = self.0.iter().position(|&word| word != 0);
        word.map_or(area, |word| 64 * word + self.0[word].trailing_zeros() as usize) as u16
    }

    /// The plane of one point, or of none where it is not on the board.
    fn of_point(point: u16, area: usize) -> Plane {
        let mut plane = Plane::EMPTY;
        let point = usize::from(point);
        if point < area {
            plane.0[point / 64] = 1 << (point % 64);
        }
        plane
    }
}

/// The bits of 64 bytes of 0 and 1.
fn gather(bytes: &[u8; 64]) -> u64 {
    let (eights, _) = bytes.as_chunks::<8>();
    u64::from_le_bytes(from_fn(|byte| bits::gather(eights[byte])))
}

fn spread(word: u64) -> [u8; 64] {
    let mut bytes = [0; 64];
    bytes.as_chunks_mut::<8>().0.iter_mut().zip(word.to_le_bytes()).for_each(|(eight, byte)| {
        *eight = SPREAD[usize::from(byte)];
    });
    bytes
}

/// Whether these are the planes of a set that this form is for: features, without and with tactics.
pub(super) const fn knows(planes: usize) -> bool {
    matches!(planes, COUNT | TACTICS_COUNT)
}

/// Bytes of a position.
pub(super) const fn len(planes: usize, area: usize) -> usize {
    kept(planes) * area.div_ceil(8) + 2 * (POINTS.end - POINTS.start)
}

/// Planes of bits.
const fn kept(planes: usize) -> usize {
    if planes == TACTICS_COUNT { MOST } else { PLAIN }
}

/// The planes in the order of [`features`](crate::features), but for those of points and the constant ones.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Planes {
    first: [Plane; FIRST],
    tactics: [Plane; TACTICS_COUNT - COUNT],
}

impl Planes {
    fn to_bits(self) -> [Plane; MOST] {
        let [own, other, own_1, own_2, own_3, other_1, other_2, other_3] = self.first;
        let [to_1, to_2, to_3, takes, dies, o_1, o_2, o_3, o_takes, o_dies, caught, o_caught, ladder, alive, o_alive] =
            self.tactics;
        let odd = own_1 | own_3 | other_1 | other_3 | to_1 | to_3;
        let many = own_2 | own_3 | other_2 | other_3 | to_2 | to_3;
        let marked = caught | o_caught | takes;
        [own, other, odd, many, marked, dies, o_1 | o_3, o_2 | o_3, o_takes, o_dies, ladder, alive, o_alive]
    }

    fn from_bits(bits: [Plane; MOST]) -> Planes {
        let [own, other, odd, many, marked, dies, o_odd, o_many, o_takes, o_dies, ladder, alive, o_alive] = bits;
        let stones = own | other;
        let counted = [odd - many, many - odd, odd & many];
        let [own_1, own_2, own_3] = counted.map(|plane| plane & own);
        let [other_1, other_2, other_3] = counted.map(|plane| plane & other);
        let [to_1, to_2, to_3] = counted.map(|plane| plane - stones);
        let [o_1, o_2, o_3] = [o_odd - o_many, o_many - o_odd, o_odd & o_many];
        let [takes, caught, o_caught] = [marked - stones, marked & own, marked & other];
        Planes {
            first: [own, other, own_1, own_2, own_3, other_1, other_2, other_3],
            tactics: [
                to_1, to_2, to_3, takes, dies, o_1, o_2, o_3, o_takes, o_dies, caught, o_caught, ladder, alive, o_alive,
            ],
        }
    }
}

/// Appends a position, given as bytes; `false` where the planes contradict this form.
pub(super) fn pack(planes: &[u8], area: usize, bits: &mut Vec<u8>) -> bool {
    let count = planes.len() / area;
    let plane = |number: usize| Plane::gather(&planes[number * area..(number + 1) * area]);
    let position = Planes {
        first: from_fn(plane),
        tactics: from_fn(|number| if count == TACTICS_COUNT { plane(COUNT + number) } else { Plane::EMPTY }),
    };
    let kept_planes = position.to_bits();
    if Planes::from_bits(kept_planes) != position {
        return false;
    }
    let begin = bits.len();
    bits.resize(begin + len(count, area), 0);
    let (of_planes, of_points) = bits[begin..].split_at_mut(kept(count) * area.div_ceil(8));
    of_planes.chunks_exact_mut(area.div_ceil(8)).zip(kept_planes).for_each(|(bytes, plane)| plane.write(bytes));
    POINTS.zip(of_points.as_chunks_mut::<2>().0).all(|(number, bytes)| {
        let points = plane(number);
        let first = points.first(area);
        *bytes = first.to_le_bytes();
        points == Plane::of_point(first, area)
    })
}

/// Writes the planes of a position, but for the constant ones.
pub(super) fn unpack(bits: &[u8], area: usize, planes: &mut [u8]) {
    let count = planes.len() / area;
    let (of_planes, of_points) = bits.split_at(kept(count) * area.div_ceil(8));
    let mut kept_planes = [Plane::EMPTY; MOST];
    kept_planes.iter_mut().zip(of_planes.chunks_exact(area.div_ceil(8))).for_each(|(plane, bytes)| {
        *plane = Plane::read(bytes);
    });
    let Planes { first, tactics } = Planes::from_bits(kept_planes);
    let (before, after) = planes.split_at_mut(COUNT * area);
    let mut before = before.chunks_exact_mut(area);
    before.by_ref().zip(first).for_each(|(bytes, plane)| plane.spread(bytes));
    before.zip(of_points.as_chunks::<2>().0).for_each(|(bytes, &point)| {
        Plane::of_point(u16::from_le_bytes(point), area).spread(bytes);
    });
    after.chunks_exact_mut(area).zip(tactics).for_each(|(bytes, plane)| plane.spread(bytes));
}
