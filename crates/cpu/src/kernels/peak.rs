//! Products of numbers in registers, to measure how many an instruction set makes.

// An index goes through several arrays at once, and iterators over arrays of vectors are not always inlined.
#![allow(clippy::needless_range_loop)]

use super::products::unrolled;
use super::simd::{Element, Simd};
use super::slice::at;
use crate::board::LANES;

/// Vectors of weights, and columns of inputs. Their twelve sums are enough for two instructions a cycle of six cycles
/// each, and fit 16 registers with all else.
const WEIGHTS: usize = 2;
const COLUMNS: usize = 6;
/// Steps of a round.
const DEPTH: usize = 8;

/// Products of vectors in a round.
pub(crate) const PRODUCTS: usize = WEIGHTS * COLUMNS * DEPTH;
/// Numbers of each kind that a round reads at most.
pub(crate) const OPERANDS: usize = 2 * COLUMNS * DEPTH;
const _: () = assert!(OPERANDS >= 2 * WEIGHTS * LANES);

/// Numbers to be multiplied again and again, by weights that stay in registers.
#[derive(Clone, Copy)]
pub(crate) struct Repeated<'a, T> {
    pub(crate) weights: &'a [T],
    pub(crate) inputs: &'a [T],
    pub(crate) rounds: usize,
}

impl<T: Element> Repeated<'_, T> {
    pub(super) fn check(&self) {
        assert!(self.weights.len() >= WEIGHTS * LANES * T::STEP, "the weights are there");
        assert!(self.inputs.len() >= COLUMNS * DEPTH * T::STEP, "the inputs are there");
    }
}

/// Multiplies as [`super::products`] does, but loads weights once and stores nothing. Gives back the multiply-adds of
/// each of the [`PRODUCTS`] of a round.
///
/// # Safety
/// [`Repeated::check`] holds, and the processor has the instruction set.
#[inline(always)]
pub(super) unsafe fn peak<S: Simd, T: Element>(job: Repeated<'_, T>) -> usize {
    // SAFETY: the caller's promise.
    unsafe { in_registers::<S, T, WEIGHTS, COLUMNS>(job) };
    S::LANES * T::STEP
}

/// # Safety
/// As for [`peak`], and `W` and `B` are [`WEIGHTS`] and [`COLUMNS`].
#[inline(always)]
unsafe fn in_registers<S: Simd, T: Element, const W: usize, const B: usize>(job: Repeated<'_, T>) {
    // SAFETY: the caller's promise; a vector has at most `LANES` lanes.
    unsafe {
        // The compiler is kept from seeing that both vectors have equal weights, and below, that all rounds have the
        // same inputs: it would multiply once.
        let weights = std::hint::black_box(job.weights);
        let mut factors = [T::splat::<S>(weights.as_ptr()); W];
        for vector in 0..W {
            let len = S::LANES * T::STEP;
            factors[vector] = T::load::<S>(at(weights, vector * len, len));
        }
        let mut sums = [[T::zero::<S>(); B]; W];
        for _ in 0..job.rounds {
            let inputs = std::hint::black_box(job.inputs.as_ptr());
            for step in 0..DEPTH {
                unrolled!(B, b, {
                    let seen = T::splat::<S>(inputs.wrapping_add((step * B + b) * T::STEP));
                    for vector in 0..W {
                        sums[vector][b] = T::add_products::<S>(sums[vector][b], factors[vector], seen);
                    }
                });
            }
        }
        unrolled!(B, b, {
            for vector in 0..W {
                std::hint::black_box(sums[vector][b]);
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[should_panic(expected = "the inputs are there")]
    fn too_few_inputs_are_refused() {
        Repeated { weights: &[0_i16; OPERANDS], inputs: &[0; OPERANDS - 1], rounds: 1 }.check();
    }
}
