//! The first and last step of a convolution: to transform tiles, and to transform products back.
//!
//! F(3x3, 3x3) (Winograd 1980; Lavin and Gray 2016) with the points 0, 1, -1, 2 and infinity: with g a kernel, d a tile of
//! 5x5 inputs and 3x3 outputs y, y = Aᵀ[(G g Gᵀ) ⊙ (Bᵀ d B)]A, summed over input channels before the outer transform.

// An index goes through several arrays at once, and iterators over arrays of vectors are not always inlined.
#![allow(clippy::needless_range_loop)]

use super::simd::{Element, Simd};
use super::slice::{at, room};
use crate::board::{Board, FREQUENCIES, LANES, PANEL, STEP};

/// Side of a transformed tile.
const SIDE: usize = 5;

/// Tiles to be transformed.
#[derive(Clone, Copy)]
pub(crate) struct Gather<'a> {
    pub(crate) board: Board,
    pub(crate) positions: usize,
    /// Padded channels.
    pub(crate) channels: usize,
    pub(crate) from: &'a [f32],
    /// Factors of the numbers of each frequency if they are rounded.
    pub(crate) scales: &'a [f32; FREQUENCIES],
}

/// A panel of products to be transformed back, for all tiles and frequencies.
#[derive(Clone, Copy)]
pub(crate) struct Scatter<'a> {
    pub(crate) board: Board,
    pub(crate) positions: usize,
    /// By frequency, column and channel of the panel.
    pub(crate) products: &'a [f32],
    /// Channels of the panel.
    pub(crate) width: usize,
    /// Where the panel begins among the padded channels of the output.
    pub(crate) first: usize,
    pub(crate) channels: usize,
    /// The bias of each output channel, for each position if it is longer.
    pub(crate) bias: &'a [f32],
    /// Whether the output is added to the present content.
    pub(crate) add: bool,
    pub(crate) relu: bool,
    /// Whether ReLU makes NaN of numbers that are not finite. Without it they have to be impossible.
    pub(crate) strict: bool,
}

impl Gather<'_> {
    pub(super) fn check(&self, out: usize) {
        let columns = self.positions * self.board.columns();
        assert!(self.channels.is_multiple_of(LANES), "channels are padded");
        assert!(self.from.len() >= self.positions * self.board.len(self.channels), "the inputs are there");
        assert!(out >= FREQUENCIES * columns * self.channels, "the output has the transformed inputs");
    }
}

impl Scatter<'_> {
    /// From the biases of one position to those of the next.
    fn bias_stride(&self) -> usize {
        if self.bias.len() > self.channels { self.channels } else { 0 }
    }

    pub(super) fn check(&self, out: usize) {
        let columns = self.positions * self.board.columns();
        assert!(self.width.is_multiple_of(LANES) && self.width <= PANEL, "panels are padded");
        assert!(self.first + self.width <= self.channels, "the panel is one of the output");
        assert!(self.products.len() >= FREQUENCIES * columns * self.width, "the products are there");
        assert!(self.bias.len() >= self.channels.max(self.positions * self.bias_stride()), "the biases are there");
        assert!(out >= self.positions * self.board.len(self.channels), "the output has every position");
    }
}

/// Bᵀ times a column.
#[inline(always)]
unsafe fn bt<S: Simd>([a, b, c, d, e]: [S::Floats; SIDE]) -> [S::Floats; SIDE] {
    // SAFETY: the caller's promise that the processor has the instruction set.
    unsafe {
        let two = S::splat(2.0);
        let (outer, inner) = (S::sub(d, b), S::sub(b, c));
        [
            S::exact(two, S::sub(a, c), outer),
            S::sub(outer, S::add(b, c)),
            S::exact(two, inner, S::add(outer, inner)),
            outer,
            S::sub(S::sub(e, c), S::add(outer, outer)),
        ]
    }
}

/// Aᵀ times a column.
#[inline(always)]
unsafe fn at_transposed<S: Simd>([a, b, c, d, e]: [S::Floats; SIDE]) -> [S::Floats; STEP] {
    // SAFETY: the caller's promise that the processor has the instruction set.
    unsafe {
        let (sum, difference) = (S::add(b, c), S::sub(b, c));
        [S::add(S::add(a, sum), d), S::exact(S::splat(2.0), d, difference), S::add(S::exact(S::splat(4.0), d, sum), e)]
    }
}

/// # Safety
/// [`Gather::check`] holds, and the processor has the instruction set.
#[inline(always)]
pub(super) unsafe fn gather<S: Simd, T: Element>(job: Gather<'_>, out: &mut [T]) {
    let Gather { board, positions, channels, from, scales } = job;
    let (columns, padded) = (positions * board.columns(), board.padded());
    let mut column = 0;
    for position in 0..positions {
        for row in 0..board.tiles {
            for tile in 0..board.tiles {
                let corner = ((position * padded + STEP * row) * padded + STEP * tile) * channels;
                let mut channel = 0;
                while channel < channels {
                    // SAFETY: by `check` a position has rows and columns for every tile, and `out` has space for every
                    // frequency, column and channel.
                    unsafe {
                        let mut half = [[S::splat(0.0); SIDE]; SIDE];
                        for x in 0..SIDE {
                            let mut tall = [S::splat(0.0); SIDE];
                            for y in 0..SIDE {
                                let index = corner + (y * padded + x) * channels + channel;
                                tall[y] = S::load(at(from, index, S::LANES));
                            }
                            let tall = bt::<S>(tall);
                            for y in 0..SIDE {
                                half[y][x] = tall[y];
                            }
                        }
                        for y in 0..SIDE {
                            let wide = bt::<S>(half[y]);
                            for x in 0..SIDE {
                                let frequency = y * SIDE + x;
                                let index = (frequency * columns + column) * channels + channel;
                                T::store::<S>(room(out, index, S::LANES), wide[x], scales[frequency]);
                            }
                        }
                    }
                    channel += S::LANES;
                }
                column += 1;
            }
        }
    }
}

/// # Safety
/// [`Scatter::check`] holds, and the processor has the instruction set.
#[inline(always)]
pub(super) unsafe fn scatter<S: Simd>(job: Scatter<'_>, out: &mut [f32]) {
    let Scatter { board, positions, width, .. } = job;
    let mut column = 0;
    for position in 0..positions {
        for row in 0..board.tiles {
            for tile in 0..board.tiles {
                let mut lane = 0;
                while lane < width {
                    // SAFETY: the caller's promise; position, tile and lane are ones of the job.
                    unsafe { tile_back::<S>(&job, (position, row, tile), column, lane, out) };
                    lane += S::LANES;
                }
                column += 1;
            }
        }
    }
}

/// # Safety
/// [`Scatter::check`] holds, the tile, its column and the lanes are ones of the job, and the processor has the instruction
/// set.
#[inline(always)]
unsafe fn tile_back<S: Simd>(
    job: &Scatter<'_>,
    (position, row, tile): (usize, usize, usize),
    column: usize,
    lane: usize,
    out: &mut [f32],
) {
    let &Scatter { board, positions, products, width, first, channels, bias, add, relu, strict } = job;
    let columns = positions * board.columns();
    let channel = first + lane;
    // SAFETY: the caller's promise; points beside the board are omitted.
    unsafe {
        let mut half = [[S::splat(0.0); SIDE]; STEP];
        for x in 0..SIDE {
            let mut tall = [S::splat(0.0); SIDE];
            for y in 0..SIDE {
                let index = ((y * SIDE + x) * columns + column) * width + lane;
                tall[y] = S::load(at(products, index, S::LANES));
            }
            let tall = at_transposed::<S>(tall);
            for y in 0..STEP {
                half[y][x] = tall[y];
            }
        }
        let bias = S::load(at(bias, position * job.bias_stride() + channel, S::LANES));
        let (zero, side) = (S::splat(0.0), board.side);
        for y in 0..STEP.min(side - STEP * row) {
            let wide = at_transposed::<S>(half[y]);
            for x in 0..STEP.min(side - STEP * tile) {
                let index = board.index(position, STEP * row + y, STEP * tile + x, channels) + channel;
                let mut sum = S::add(wide[x], bias);
                if add {
                    sum = S::add(sum, S::load(at(out, index, S::LANES)));
                }
                if relu {
                    let cut = S::max(sum, zero);
                    // Of a finite number 0 is added; an infinite one and NaN times 0 are NaN.
                    sum = if strict { S::exact(sum, zero, cut) } else { cut };
                }
                S::store(room(out, index, S::LANES), sum);
            }
        }
    }
}
