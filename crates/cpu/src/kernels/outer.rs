//! The gradient of transformed weights: for each frequency the sum over tiles of the outer products of gradients and
//! inputs.

// An index goes through several arrays at once, and iterators over arrays of vectors are not always inlined.
#![allow(clippy::needless_range_loop)]

use super::products::unrolled;
use super::simd::Simd;
use super::slice::{at, product, room};
use crate::board::{FREQUENCIES, LANES};

/// Tiles whose inputs and gradients of a frequency stay in the first-level cache: with 64 channels 18 kB.
const CHUNK: usize = 36;

/// Transformed tiles to be multiplied with each other.
#[derive(Clone, Copy)]
pub(crate) struct Outer<'a> {
    pub(crate) tiles: usize,
    /// Padded channels of the gradients and of the inputs.
    pub(crate) channels: (usize, usize),
    /// By tile, frequency and channel.
    pub(crate) gradients: &'a [f32],
    /// The same.
    pub(crate) inputs: &'a [f32],
}

/// A block of sums: where it is.
#[derive(Clone, Copy)]
struct Place {
    frequency: usize,
    /// The first tile, and how many there are.
    tiles: (usize, usize),
    /// The first channel of the gradients and of the inputs.
    row: usize,
    lane: usize,
}

impl Outer<'_> {
    pub(super) fn check(&self, out: usize) {
        let (rows, lanes) = self.channels;
        let numbers = |channels| product([self.tiles, FREQUENCIES, channels]);
        assert!(rows.is_multiple_of(LANES) && lanes.is_multiple_of(LANES), "channels are padded");
        assert!(self.gradients.len() >= numbers(rows), "the gradients are there");
        assert!(self.inputs.len() >= numbers(lanes), "the inputs are there");
        assert!(out >= product([FREQUENCIES, rows, lanes]), "the output has the sums");
    }
}

/// Adds the products of all tiles, first to last, to `out`: by frequency, channel of the gradients and of the inputs.
///
/// # Safety
/// [`Outer::check`] holds, and the processor has the instruction set.
#[inline(always)]
pub(super) unsafe fn outer<S: Simd>(job: Outer<'_>, out: &mut [f32]) {
    for frequency in 0..FREQUENCIES {
        let mut first = 0;
        while first < job.tiles {
            let tiles = (first, CHUNK.min(job.tiles - first));
            // SAFETY: the caller's promise; the tiles are ones of the job. The rows of a block divide those of the
            // padding.
            unsafe {
                if S::BLOCK > 6 {
                    all_blocks::<S, 8>(&job, frequency, tiles, out);
                } else {
                    all_blocks::<S, 4>(&job, frequency, tiles, out);
                }
            }
            first += CHUNK;
        }
    }
}

/// # Safety
/// As for [`outer`]; the tiles are ones of the job, and `B` divides [`LANES`].
#[inline(always)]
unsafe fn all_blocks<S: Simd, const B: usize>(
    job: &Outer<'_>,
    frequency: usize,
    tiles: (usize, usize),
    out: &mut [f32],
) {
    let (rows, lanes) = job.channels;
    let mut row = 0;
    while row < rows {
        let mut lane = 0;
        while lane + 2 * S::LANES <= lanes {
            // SAFETY: the caller's promise; rows and lanes are ones of the job.
            unsafe { block::<S, 2, B>(job, Place { frequency, tiles, row, lane }, out) };
            lane += 2 * S::LANES;
        }
        if lane < lanes {
            // SAFETY: the same; channels are a multiple of the lanes of a vector.
            unsafe { block::<S, 1, B>(job, Place { frequency, tiles, row, lane }, out) };
        }
        row += B;
    }
}

/// The sums of `W` vectors of inputs and `B` gradients, in registers.
///
/// # Safety
/// As for [`outer`]; the block is one of the job.
#[inline(always)]
unsafe fn block<S: Simd, const W: usize, const B: usize>(job: &Outer<'_>, place: Place, out: &mut [f32]) {
    let (rows, lanes) = job.channels;
    let Place { frequency, tiles: (first, count), row, lane } = place;
    // SAFETY: the caller's promise; `gradients`, `inputs` and `out` hold what `check` asks for.
    unsafe {
        let begin = (frequency * rows + row) * lanes + lane;
        let mut sums = [[S::splat(0.0); B]; W];
        unrolled!(B, b, {
            for vector in 0..W {
                sums[vector][b] = S::load(at(out, begin + b * lanes + vector * S::LANES, S::LANES));
            }
        });
        let tile = first * FREQUENCIES + frequency;
        let mut gradient = at(job.gradients, tile * rows + row, (count - 1) * FREQUENCIES * rows + B);
        let mut input = at(job.inputs, tile * lanes + lane, (count - 1) * FREQUENCIES * lanes + W * S::LANES);
        for _ in 0..count {
            let mut factors = [S::splat(0.0); W];
            for vector in 0..W {
                factors[vector] = S::load(input.wrapping_add(vector * S::LANES));
            }
            unrolled!(B, b, {
                let factor = S::splat(*gradient.wrapping_add(b));
                for vector in 0..W {
                    sums[vector][b] = S::fused(factor, factors[vector], sums[vector][b]);
                }
            });
            gradient = gradient.wrapping_add(FREQUENCIES * rows);
            input = input.wrapping_add(FREQUENCIES * lanes);
        }
        unrolled!(B, b, {
            for vector in 0..W {
                S::store(room(out, begin + b * lanes + vector * S::LANES, S::LANES), sums[vector][b]);
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[should_panic(expected = "the gradients are there")]
    fn tiles_whose_number_wraps_are_refused() {
        Outer { tiles: usize::MAX / LANES + 1, channels: (LANES, LANES), gradients: &[], inputs: &[] }
            .check(usize::MAX);
    }
}
