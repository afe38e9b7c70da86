//! The middle step of a convolution: a product of matrices for each frequency. Dense layers and 1x1 convolutions are
//! products, too.

// An index goes through several arrays at once, and iterators over arrays of vectors are not always inlined.
#![allow(clippy::needless_range_loop)]

use super::simd::{Element, Simd};
use super::slice::{at, product, room};
use crate::board::LANES;

/// Bytes of a cache line.
const LINE: usize = 64;

/// Columns of inputs to be multiplied by a panel of weights: for each column and output channel a sum of products.
#[derive(Clone, Copy)]
pub(crate) struct Products<'a, T> {
    /// Inputs of an output.
    pub(crate) depth: usize,
    /// Output channels of the panel.
    pub(crate) width: usize,
    /// As many as `depth` requires, `T::STEP` inputs of each output channel side by side.
    pub(crate) weights: &'a [T],
    /// The weights that follow, which are brought into the cache on the way.
    pub(crate) next: &'a [T],
    pub(crate) columns: usize,
    pub(crate) inputs: &'a [T],
    /// From one column of the inputs to the next, and of the sums.
    pub(crate) strides: (usize, usize),
    /// Factors of the sums of integers, for each output channel; empty for f32.
    pub(crate) scales: &'a [f32],
}

impl<T: Element> Products<'_, T> {
    pub(super) fn check(&self, out: usize) {
        let rows = |stride, len| product([self.columns.saturating_sub(1), stride]).saturating_add(len);
        assert!(self.width.is_multiple_of(LANES), "panels are padded");
        assert!(self.depth.is_multiple_of(T::STEP), "inputs are padded");
        assert!(self.weights.len() >= product([self.depth, self.width]), "the weights are there");
        assert!(self.inputs.len() >= rows(self.strides.0, self.depth), "the inputs are there");
        assert!(T::STEP == 1 || self.scales.len() >= self.width, "the scales are there");
        assert!(out >= rows(self.strides.1, self.width), "the output has the sums");
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
        // SAFETY: the caller's promise; no more columns are requested than there are.
        unsafe {
            match (job.columns - column).min(S::BLOCK) {
                1 => block::<S, T, W, 1>(job, lane, column, out),
                2 => block::<S, T, W, 2>(job, lane, column, out),
                3 => block::<S, T, W, 3>(job, lane, column, out),
                4 => block::<S, T, W, 4>(job, lane, column, out),
                5 => block::<S, T, W, 5>(job, lane, column, out),
                6 => block::<S, T, W, 6>(job, lane, column, out),
                7 if S::BLOCK > 6 => block::<S, T, W, 7>(job, lane, column, out),
                8 if S::BLOCK > 6 => block::<S, T, W, 8>(job, lane, column, out),
                9 if S::BLOCK > 6 => block::<S, T, W, 9>(job, lane, column, out),
                10 if S::BLOCK > 6 => block::<S, T, W, 10>(job, lane, column, out),
                11 if S::BLOCK > 6 => block::<S, T, W, 11>(job, lane, column, out),
                _ => block::<S, T, W, 12>(job, lane, column, out),
            }
        }
        column += S::BLOCK;
    }
}

/// The body for each column below `$count`. A loop of twelve is not unrolled, and its sums are kept in memory.
macro_rules! unrolled {
    ($count:expr, $column:ident, $body:block) => {
        unrolled!($count, $column, $body, 0 1 2 3 4 5 6 7 8 9 10 11)
    };
    ($count:expr, $column:ident, $body:block, $($number:literal)*) => {
        $(if $number < $count {
            let $column = $number;
            $body
        })*
    };
}
pub(super) use unrolled;

/// The sums of `W` vectors of output channels and `B` columns, in registers.
///
/// # Safety
/// [`Products::check`] holds, `W` vectors from `lane` and `B` columns from `column` on are there, and the processor has
/// the instruction set.
#[inline(always)]
unsafe fn block<S: Simd, T: Element, const W: usize, const B: usize>(
    job: &Products<'_, T>,
    lane: usize,
    column: usize,
    out: &mut [f32],
) {
    let &Products { depth, width, weights, next, inputs, strides, scales, .. } = job;
    // SAFETY: the caller's promise; `weights`, `inputs` and `out` hold what `check` asks for.
    unsafe {
        let mut sums = [[T::zero::<S>(); B]; W];
        let first = at(inputs, column * strides.0, (B - 1) * strides.0 + depth);
        // With a pointer for three columns their addresses need no arithmetic. The compiler keeps one pointer, and adds
        // up for each column, unless it is kept from seeing that they belong together (4 % of a network of 32 filters
        // on AVX2).
        let rows: [_; 4] = std::array::from_fn(|group| std::hint::black_box(first.wrapping_add(3 * group * strides.0)));
        let mut input = 0;
        while input < depth {
            let mut factors = [T::splat::<S>(weights.as_ptr()); W];
            for vector in 0..W {
                let index = input * width + (lane + vector * S::LANES) * T::STEP;
                factors[vector] = T::load::<S>(at(weights, index, S::LANES * T::STEP));
            }
            let ahead = next.as_ptr().wrapping_add(input * width + lane * T::STEP).cast::<u8>();
            for line in 0..(W * S::LANES * T::STEP * size_of::<T>()).div_ceil(LINE) {
                S::prefetch(ahead.wrapping_add(line * LINE));
            }
            unrolled!(B, b, {
                let seen = T::splat::<S>(rows[b / 3].wrapping_add(b % 3 * strides.0 + input));
                for vector in 0..W {
                    sums[vector][b] = T::add_products::<S>(sums[vector][b], factors[vector], seen);
                }
            });
            input += T::STEP;
        }
        unrolled!(B, b, {
            for vector in 0..W {
                let place = lane + vector * S::LANES;
                let scales = if T::STEP == 1 { scales.as_ptr() } else { at(scales, place, S::LANES) };
                let sums = T::finish::<S>(sums[vector][b], scales);
                S::store(room(out, (column + b) * strides.1 + place, S::LANES), sums);
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[should_panic(expected = "the inputs are there")]
    fn columns_whose_number_wraps_are_refused() {
        let numbers = [0.0_f32; LANES];
        let (columns, strides) = (usize::MAX / LANES + 2, (LANES, 0));
        let (weights, inputs) = (&numbers[..], &numbers[..]);
        Products { depth: 1, width: LANES, weights, next: &[], columns, inputs, strides, scales: &[] }.check(LANES);
    }
}
