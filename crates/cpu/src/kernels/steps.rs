//! The three steps of a convolution: transform tiles, multiply, transform back.
//!
//! F(3x3, 3x3) (Winograd 1980; Lavin and Gray 2016) with the points 0, 1, -1, 2 and infinity: with g a kernel, d a tile of
//! 5x5 inputs and 3x3 outputs y, y = Aᵀ[(G g Gᵀ) ⊙ (Bᵀ d B)]A, summed over input channels before the outer transform.

// An index goes through several arrays at once, and iterators over arrays of vectors are not always inlined.
#![allow(clippy::needless_range_loop)]

use super::simd::{Element, Simd};
use crate::board::{Board, FREQUENCIES, PANEL, STEP};

/// Side of a transformed tile.
const SIDE: usize = 5;

/// Columns whose sums are in registers at once.
const BLOCK: usize = 6;

/// Tiles to be transformed.
#[derive(Clone, Copy)]
pub(crate) struct Gather<'a> {
    pub(crate) board: Board,
    pub(crate) positions: usize,
    /// Padded channels.
    pub(crate) channels: usize,
    pub(crate) from: &'a [f32],
    /// What the numbers of each frequency are multiplied by if they are rounded.
    pub(crate) scales: &'a [f32; FREQUENCIES],
}

/// Columns of inputs to be multiplied by a panel of weights: for each column and output channel a sum of products.
#[derive(Clone, Copy)]
pub(crate) struct Products<'a, T> {
    /// Inputs of an output.
    pub(crate) depth: usize,
    /// Output channels of the panel.
    pub(crate) width: usize,
    /// As many as `depth` asks for, `T::STEP` inputs of each output channel side by side.
    pub(crate) weights: &'a [T],
    /// What will be multiplied next, which is brought into the cache on the way.
    pub(crate) next: &'a [T],
    pub(crate) columns: usize,
    pub(crate) inputs: &'a [T],
    /// From one column of the inputs to the next, and of the sums.
    pub(crate) strides: (usize, usize),
    /// What the sums of integers are multiplied by, for each output channel; empty for f32.
    pub(crate) scales: &'a [f32],
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
    /// Whether the output is added to what is there.
    pub(crate) add: bool,
    pub(crate) relu: bool,
}

impl Gather<'_> {
    pub(super) fn check(&self, out: usize) {
        let columns = self.positions * self.board.columns();
        assert!(self.channels.is_multiple_of(crate::board::LANES), "channels are padded");
        assert!(self.from.len() >= self.positions * self.board.len(self.channels), "the inputs are there");
        assert!(out >= FREQUENCIES * columns * self.channels, "there is room for the transformed inputs");
    }
}

impl<T: Element> Products<'_, T> {
    pub(super) fn check(&self, out: usize) {
        let rows = |stride: usize, len: usize| self.columns.saturating_sub(1) * stride + len;
        assert!(self.width.is_multiple_of(crate::board::LANES), "panels are padded");
        assert!(self.depth.is_multiple_of(T::STEP), "inputs are padded");
        assert!(self.weights.len() >= self.depth * self.width, "the weights are there");
        assert!(self.inputs.len() >= rows(self.strides.0, self.depth), "the inputs are there");
        assert!(T::STEP == 1 || self.scales.len() >= self.width, "the scales are there");
        assert!(out >= rows(self.strides.1, self.width), "there is room for the sums");
    }
}

impl Scatter<'_> {
    /// From the biases of one position to those of the next.
    fn bias_stride(&self) -> usize {
        if self.bias.len() > self.channels { self.channels } else { 0 }
    }

    pub(super) fn check(&self, out: usize) {
        let columns = self.positions * self.board.columns();
        assert!(self.width.is_multiple_of(crate::board::LANES) && self.width <= PANEL, "panels are padded");
        assert!(self.first + self.width <= self.channels, "the panel is one of the output");
        assert!(self.products.len() >= FREQUENCIES * columns * self.width, "the products are there");
        assert!(self.bias.len() >= self.channels.max(self.positions * self.bias_stride()), "the biases are there");
        assert!(out >= self.positions * self.board.len(self.channels), "there is room for the output");
    }
}

/// A pointer to some numbers of a slice.
#[inline(always)]
fn at<T>(slice: &[T], index: usize, count: usize) -> *const T {
    debug_assert!(index + count <= slice.len(), "{index} + {count} of {}", slice.len());
    slice.as_ptr().wrapping_add(index)
}

/// A pointer to room for some numbers in a slice.
#[inline(always)]
fn room<T>(slice: &mut [T], index: usize, count: usize) -> *mut T {
    debug_assert!(index + count <= slice.len(), "{index} + {count} of {}", slice.len());
    slice.as_mut_ptr().wrapping_add(index)
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
                    // SAFETY: by `check` a position has rows and columns for every tile, and `out` room for every
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
/// [`Products::check`] holds, and the processor has the instruction set.
#[inline(always)]
pub(super) unsafe fn products<S: Simd, T: Element>(job: Products<'_, T>, out: &mut [f32]) {
    let mut lane = 0;
    while lane + 2 * S::LANES <= job.width {
        // SAFETY: the caller's promise; the lanes are ones of the panel.
        unsafe { all_columns::<S, T, 2>(&job, lane, out) };
        lane += 2 * S::LANES;
    }
    if lane < job.width {
        // SAFETY: the same; the width is a multiple of the lanes of a vector.
        unsafe { all_columns::<S, T, 1>(&job, lane, out) };
    }
}

/// # Safety
/// [`Products::check`] holds, `W` vectors from `lane` on are in the panel, and the processor has the instruction set.
#[inline(always)]
unsafe fn all_columns<S: Simd, T: Element, const W: usize>(job: &Products<'_, T>, lane: usize, out: &mut [f32]) {
    let mut column = 0;
    while column < job.columns {
        if lane == 0 {
            prefetch::<S, T>(job, column);
        }
        // SAFETY: the caller's promise; no more columns are asked for than there are.
        unsafe {
            match job.columns - column {
                1 => block::<S, T, W, 1>(job, lane, column, out),
                2 => block::<S, T, W, 2>(job, lane, column, out),
                3 => block::<S, T, W, 3>(job, lane, column, out),
                4 => block::<S, T, W, 4>(job, lane, column, out),
                5 => block::<S, T, W, 5>(job, lane, column, out),
                _ => block::<S, T, W, BLOCK>(job, lane, column, out),
            }
        }
        column += BLOCK;
    }
}

/// Fetches the part of the next weights that falls to a block of columns.
#[inline(always)]
fn prefetch<S: Simd, T: Element>(job: &Products<'_, T>, column: usize) {
    const LINE: usize = 64;
    let count = job.next.len().min(job.depth * job.width) * size_of::<T>() / LINE;
    let share = count.div_ceil(job.columns.div_ceil(BLOCK));
    let first = column / BLOCK * share;
    for line in first..(first + share).min(count) {
        S::prefetch(job.next.as_ptr().wrapping_byte_add(line * LINE).cast());
    }
}

/// The sums of `W` vectors of output channels and `B` columns, in registers.
///
/// # Safety
/// [`Products::check`] holds, `W` vectors from `lane` and `B` columns from `column` on are there, and the processor has the
/// instruction set.
#[inline(always)]
unsafe fn block<S: Simd, T: Element, const W: usize, const B: usize>(
    job: &Products<'_, T>,
    lane: usize,
    column: usize,
    out: &mut [f32],
) {
    let &Products { depth, width, weights, inputs, strides, scales, .. } = job;
    // SAFETY: the caller's promise; `weights`, `inputs` and `out` hold what `check` asks for.
    unsafe {
        let mut sums = [[T::zero::<S>(); B]; W];
        let mut input = 0;
        while input < depth {
            let mut factors = [T::splat::<S>(weights.as_ptr()); W];
            for vector in 0..W {
                let index = input * width + (lane + vector * S::LANES) * T::STEP;
                factors[vector] = T::load::<S>(at(weights, index, S::LANES * T::STEP));
            }
            for b in 0..B {
                let seen = T::splat::<S>(at(inputs, (column + b) * strides.0 + input, T::STEP));
                for vector in 0..W {
                    sums[vector][b] = T::add_products::<S>(sums[vector][b], factors[vector], seen);
                }
            }
            input += T::STEP;
        }
        for b in 0..B {
            for vector in 0..W {
                let place = lane + vector * S::LANES;
                let scales = if T::STEP == 1 { scales.as_ptr() } else { at(scales, place, S::LANES) };
                let sums = T::finish::<S>(sums[vector][b], scales);
                S::store(room(out, (column + b) * strides.1 + place, S::LANES), sums);
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
    let &Scatter { board, positions, products, width, first, channels, bias, add, relu } = job;
    let columns = positions * board.columns();
    let channel = first + lane;
    // SAFETY: the caller's promise; points beside the board are left out.
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
                    sum = S::max(sum, zero);
                }
                S::store(room(out, index, S::LANES), sum);
            }
        }
    }
}
