//! Vectors in plain Rust, for processors that have none of the other instruction sets.

use super::simd::{Floats, LARGEST_INPUT, Round, Simd};
use crate::math::ROUNDING;

/// Four lanes, as many as SSE2 and NEON have.
pub(super) struct Portable;

const LANES: usize = 4;

/// A binary operation, lane by lane.
#[inline(always)]
fn zip(a: [f32; LANES], b: [f32; LANES], operation: impl Fn(f32, f32) -> f32) -> [f32; LANES] {
    [operation(a[0], b[0]), operation(a[1], b[1]), operation(a[2], b[2]), operation(a[3], b[3])]
}

impl Floats for Portable {
    type Vector = [f32; LANES];
    const LANES: usize = LANES;

    #[inline(always)]
    unsafe fn load(from: *const f32) -> Self::Vector {
        // SAFETY: the caller promises that there are as many numbers; an array of f32 is aligned as f32 is.
        unsafe { from.cast::<Self::Vector>().read() }
    }

    #[inline(always)]
    unsafe fn store(to: *mut f32, a: Self::Vector) {
        // SAFETY: as for `load`.
        unsafe { to.cast::<Self::Vector>().write(a) }
    }

    #[inline(always)]
    unsafe fn splat(number: f32) -> Self::Vector {
        [number; LANES]
    }

    #[inline(always)]
    unsafe fn add(a: Self::Vector, b: Self::Vector) -> Self::Vector {
        zip(a, b, |a, b| a + b)
    }

    #[inline(always)]
    unsafe fn sub(a: Self::Vector, b: Self::Vector) -> Self::Vector {
        zip(a, b, |a, b| a - b)
    }

    #[inline(always)]
    unsafe fn mul(a: Self::Vector, b: Self::Vector) -> Self::Vector {
        zip(a, b, |a, b| a * b)
    }

    #[inline(always)]
    unsafe fn exact(a: Self::Vector, b: Self::Vector, c: Self::Vector) -> Self::Vector {
        // As if fused: a product may be beyond f32 though the sum is not. f64 holds it. It has 24 bits, so that
        // rounding the sum to f64 first changes nothing. `mul_add` calls a function of the C library here.
        let sum = |lane: usize| (f64::from(a[lane]) * f64::from(b[lane]) + f64::from(c[lane])) as f32;
        [sum(0), sum(1), sum(2), sum(3)]
    }
}

impl Round for Portable {
    const HOLDS_TILE: bool = false;

    #[inline(always)]
    unsafe fn store_rounded(to: *mut i16, a: Self::Vector) {
        const LARGEST: f32 = LARGEST_INPUT as f32;
        let round = |number: f32| {
            ((number.clamp(-LARGEST, LARGEST) + ROUNDING).to_bits().wrapping_sub(ROUNDING.to_bits())) as i32 as i16
        };
        let rounded = [round(a[0]), round(a[1]), round(a[2]), round(a[3])];
        // SAFETY: the caller promises enough space; an array of i16 is aligned as i16 is.
        unsafe { to.cast::<[i16; LANES]>().write(rounded) }
    }
}

impl Simd for Portable {
    type Sums = [i32; LANES];
    /// A pair in the halves of each.
    type Pairs = [i32; LANES];
    const BLOCK: usize = 6;
    const TILES: usize = 12;

    #[inline(always)]
    fn prefetch(_: *const u8) {}

    #[inline(always)]
    unsafe fn max(a: Self::Vector, b: Self::Vector) -> Self::Vector {
        zip(a, b, |a, b| if a > b { a } else { b })
    }

    #[inline(always)]
    unsafe fn fused(a: Self::Vector, b: Self::Vector, c: Self::Vector) -> Self::Vector {
        std::array::from_fn(|lane| a[lane].mul_add(b[lane], c[lane]))
    }

    #[inline(always)]
    unsafe fn no_sums() -> Self::Sums {
        [0; LANES]
    }

    #[inline(always)]
    unsafe fn load_pairs(from: *const i16) -> Self::Pairs {
        // SAFETY: the caller promises that there are as many numbers, aligned or not.
        unsafe { from.cast::<Self::Pairs>().read_unaligned() }
    }

    #[inline(always)]
    unsafe fn splat_pair(from: *const i16) -> Self::Pairs {
        // SAFETY: the caller promises that there is a pair.
        [unsafe { from.cast::<i32>().read_unaligned() }; LANES]
    }

    #[inline(always)]
    unsafe fn add_products(sums: Self::Sums, a: Self::Pairs, b: Self::Pairs) -> Self::Sums {
        // No sum overflows, which packing has proved; a debug build checks it.
        let products = |a: i32, b: i32| (a >> 16) * (b >> 16) + (a << 16 >> 16) * (b << 16 >> 16);
        [
            sums[0] + products(a[0], b[0]),
            sums[1] + products(a[1], b[1]),
            sums[2] + products(a[2], b[2]),
            sums[3] + products(a[3], b[3]),
        ]
    }

    #[inline(always)]
    unsafe fn to_floats(sums: Self::Sums) -> Self::Vector {
        sums.map(|sum| sum as f32)
    }
}
