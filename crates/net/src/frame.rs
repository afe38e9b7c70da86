//! A smaller board in the middle of the one that a network is made for.
//!
//! A network whose [`Inputs`] tell where the board is can play on smaller boards too: beyond their edge every plane is 0, as
//! it is beyond the edge of its own, but for the plane of komi, which is the same everywhere. One network then learns from
//! games on several boards (as KataGo does: Wu 2019, section 3.2, which masks what is beyond the edge in every layer; here
//! the network is only told).

use go::{MAX_AREA, Size};

use crate::{Inputs, features};

/// A board inside a larger one, or the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Frame {
    inner: Size,
    outer: Size,
}

impl Frame {
    /// The place of a position's board in what a network sees; `None` for a board that it cannot play on.
    pub(crate) fn new(inner: Size, outer: Size, inputs: Inputs) -> Option<Frame> {
        let fits = inner == outer || inner < outer && inputs.tell_the_board();
        fits.then_some(Frame { inner, outer })
    }

    /// The smaller board.
    pub(crate) fn inner(self) -> Size {
        self.inner
    }

    /// The index on the larger board of a point or the pass.
    fn outside(self, index: usize) -> usize {
        let (inner, outer) = (self.inner.side(), self.outer.side());
        if index == self.inner.area() {
            return self.outer.area();
        }
        // Where the sides differ by an odd number there is one more line below and on the right.
        let margin = (outer - inner) / 2;
        (index / inner + margin) * outer + index % inner + margin
    }

    /// Has one number a point, or one a move, written as on the smaller board, and puts them where they are on the larger one;
    /// all others become `beyond`.
    pub(crate) fn write<T: Copy, R>(self, row: &mut [T], beyond: T, write: impl FnOnce(&mut [T]) -> R) -> R {
        if self.inner == self.outer {
            return write(row);
        }
        let mut inner =
            vec![beyond; if row.len() == self.outer.area() { self.inner.area() } else { self.inner.moves() }];
        let answer = write(&mut inner);
        row.fill(beyond);
        inner.iter().enumerate().for_each(|(index, &number)| row[self.outside(index)] = number);
        answer
    }

    /// Has the planes of a position written as on the smaller board, and puts them where they are on the larger one.
    pub(crate) fn write_planes<R>(self, inputs: Inputs, planes: &mut [u8], write: impl FnOnce(&mut [u8]) -> R) -> R {
        if self.inner == self.outer {
            return write(planes);
        }
        // On the stack, because searches come here at every visit.
        let mut room = [0; features::TACTICS_COUNT * MAX_AREA];
        let inner = &mut room[..inputs.len(self.inner)];
        let answer = write(inner);
        planes.fill(0);
        let pairs = inner.chunks_exact(self.inner.area()).zip(planes.chunks_exact_mut(self.outer.area()));
        for (number, (inner, outer)) in pairs.enumerate() {
            if number == features::KOMI {
                outer.fill(inner[0]);
            } else {
                inner.iter().enumerate().for_each(|(index, &byte)| outer[self.outside(index)] = byte);
            }
        }
        answer
    }

    /// A policy of the larger board as one of the smaller: probabilities of what is not beyond the edge, scaled to sum 1, in
    /// `inner`, one a move.
    pub(crate) fn policy(self, outer: &[f32], inner: &mut [f32]) {
        inner.iter_mut().enumerate().for_each(|(index, prior)| *prior = outer[self.outside(index)]);
        let sum: f32 = inner.iter().sum();
        // Nothing is left only where rounding took it all.
        let flat = 1.0 / inner.len() as f32;
        inner.iter_mut().for_each(|prior| *prior = if sum > 0.0 { *prior / sum } else { flat });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(inner: usize, outer: usize) -> Frame {
        Frame::new(Size::new(inner).unwrap(), Size::new(outer).unwrap(), Inputs::Features).unwrap()
    }

    #[test]
    fn a_smaller_board_lies_in_the_middle() {
        let mut row = [9; 26];
        frame(3, 5).write(&mut row, 0, |inner| inner.iter_mut().zip(1..).for_each(|(number, n)| *number = n));
        #[rustfmt::skip]
        assert_eq!(row, [
            0, 0, 0, 0, 0,
            0, 1, 2, 3, 0,
            0, 4, 5, 6, 0,
            0, 7, 8, 9, 0,
            0, 0, 0, 0, 0,
            10,
        ]);
        let mut points = [9; 16];
        frame(3, 4).write(&mut points, 0, |inner| inner.fill(1));
        assert_eq!(points, [1, 1, 1, 0, 1, 1, 1, 0, 1, 1, 1, 0, 0, 0, 0, 0]);
    }

    #[test]
    fn planes_are_zero_beyond_the_edge_but_for_komi() {
        for inputs in [Inputs::Features, Inputs::Tactics] {
            let mut planes = vec![9; inputs.count() * 25];
            frame(3, 5).write_planes(inputs, &mut planes, |inner| {
                assert_eq!(inner.len(), inputs.count() * 9);
                inner.fill(1);
                inner[features::KOMI * 9..][..9].fill(140);
            });
            for (number, plane) in planes.chunks_exact(25).enumerate() {
                let ones = plane.iter().filter(|&&byte| byte == 1).count();
                let zeros = plane.iter().filter(|&&byte| byte == 0).count();
                let expected = if number == features::KOMI { (0, 0) } else { (9, 16) };
                assert_eq!((ones, zeros), expected, "{inputs}, plane {number}");
            }
            assert!(planes[features::KOMI * 25..][..25].iter().all(|&byte| byte == 140));
        }
    }

    #[test]
    fn a_policy_of_the_smaller_board_sums_to_one() {
        let outer: Vec<f32> = (0..26).map(|index| index as f32 / 325.0).collect();
        let mut inner = [0.0; 10];
        frame(3, 5).policy(&outer, &mut inner);
        assert!((inner.iter().sum::<f32>() - 1.0).abs() < 1e-6);
        assert!((inner[0] / inner[9] - 6.0 / 25.0).abs() < 1e-6, "{inner:?}");
        frame(3, 5).policy(&[0.0; 26], &mut inner);
        assert_eq!(inner, [0.1; 10]);
    }

    #[test]
    fn only_networks_that_are_told_where_the_board_is_play_on_smaller_ones() {
        let [three, five] = [3, 5].map(|side| Size::new(side).unwrap());
        for (inner, outer, inputs, fits) in [
            (three, five, Inputs::Features, true),
            (three, five, Inputs::Tactics, true),
            (five, three, Inputs::Features, false),
            (three, five, Inputs::History, false),
            (three, five, Inputs::LeelaZero, false),
            (five, five, Inputs::History, true),
        ] {
            assert_eq!(Frame::new(inner, outer, inputs).is_some(), fits, "{inner} {outer} {inputs:?}");
        }
    }
}
