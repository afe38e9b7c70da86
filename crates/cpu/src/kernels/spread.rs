//! The transform of the gradients of outputs, of which the gradient of the weights is made: A g Aᵀ of each tile of 3x3
//! points, in the terms of [`super::transforms`]. That of the weights is Gᵀ[Σ (A g Aᵀ) ⊙ (Bᵀ d B)]G, summed over tiles.

// An index goes through several arrays at once, and iterators over arrays of vectors are not always inlined.
#![allow(clippy::needless_range_loop)]

use super::simd::Floats;
use super::slice::{at, product, room};
use super::transforms::SIDE;
use crate::board::{Board, FREQUENCIES, LANES, STEP};

/// Tiles of gradients to be transformed.
#[derive(Clone, Copy)]
pub(crate) struct Spread<'a> {
    pub(crate) board: Board,
    pub(crate) positions: usize,
    /// Padded channels.
    pub(crate) channels: usize,
    pub(crate) from: &'a [f32],
}

impl Spread<'_> {
    pub(super) fn check(&self, out: usize) {
        let Spread { board, positions, channels, from } = self;
        let padded = board.padded();
        assert!(channels.is_multiple_of(LANES), "channels are padded");
        assert!(from.len() >= product([*positions, padded, padded, *channels]), "the gradients are there");
        let transformed = product([FREQUENCIES, *positions, board.columns(), *channels]);
        assert!(out >= transformed, "the output has the transformed gradients");
    }
}

/// A times a column.
#[inline(always)]
unsafe fn a<S: Floats>([a, b, c]: [S::Vector; STEP]) -> [S::Vector; SIDE] {
    // SAFETY: the caller's promise that the processor has the instruction set.
    unsafe {
        let outer = S::add(a, c);
        let high = S::exact(S::splat(4.0), c, S::exact(S::splat(2.0), b, a));
        [a, S::add(outer, b), S::sub(outer, b), high, c]
    }
}

/// Writes transformed tiles by tile, frequency and channel.
///
/// # Safety
/// [`Spread::check`] holds, and the processor has the instruction set.
#[inline(always)]
pub(super) unsafe fn spread<S: Floats>(job: Spread<'_>, out: &mut [f32]) {
    let Spread { board, positions, channels, from } = job;
    let mut tile = 0;
    for row in 0..positions * board.tiles {
        for column in 0..board.tiles {
            let corner = board.index(row / board.tiles, STEP * (row % board.tiles), STEP * column, channels);
            let mut channel = 0;
            while channel < channels {
                // SAFETY: by `check` a position has rows and columns for every tile, and `out` has space for every
                // frequency, tile and channel.
                unsafe {
                    let mut tall = [[S::splat(0.0); STEP]; SIDE];
                    for x in 0..STEP {
                        let mut points = [S::splat(0.0); STEP];
                        for y in 0..STEP {
                            let index = corner + (y * board.padded() + x) * channels + channel;
                            points[y] = S::load(at(from, index, S::LANES));
                        }
                        let points = a::<S>(points);
                        for y in 0..SIDE {
                            tall[y][x] = points[y];
                        }
                    }
                    for y in 0..SIDE {
                        let wide = a::<S>(tall[y]);
                        for x in 0..SIDE {
                            let index = (tile * FREQUENCIES + y * SIDE + x) * channels + channel;
                            S::store(room(out, index, S::LANES), wide[x]);
                        }
                    }
                }
                channel += S::LANES;
            }
            tile += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[should_panic(expected = "the gradients are there")]
    fn positions_whose_numbers_wrap_are_refused() {
        let (board, positions) = (Board::new(2), usize::MAX / LANES + 1);
        Spread { board, positions, channels: LANES, from: &[] }.check(usize::MAX);
    }
}
