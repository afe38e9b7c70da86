//! Vectors of AVX2 and AVX-512.

use std::arch::asm;
use std::arch::x86_64::*;

use super::simd::{Floats, LARGEST_INPUT, Round, Simd};

/// AVX2 and FMA.
pub(super) struct Avx2;
/// Two vectors of AVX2 side by side, for the transform of inputs: sixteen integers are packed at once.
pub(super) struct Avx2Pair;
/// The same and AVX-VNNI: a multiply-add of pairs in one instruction.
pub(super) struct AvxVnni;
/// AVX-512 F, BW, VL and DQ.
pub(super) struct Avx512;
/// The same and VNNI: a multiply-add of pairs in one instruction.
pub(super) struct Avx512Vnni;

macro_rules! avx2 {
    ($name:ident, |$sums:ident, $a:ident, $b:ident| $products:expr) => {
        impl Floats for $name {
            type Vector = __m256;
            const LANES: usize = 8;

            #[inline(always)]
            unsafe fn load(from: *const f32) -> __m256 {
                // SAFETY: the caller's promise, here and below.
                unsafe { _mm256_loadu_ps(from) }
            }

            #[inline(always)]
            unsafe fn store(to: *mut f32, a: __m256) {
                // SAFETY: as above.
                unsafe { _mm256_storeu_ps(to, a) }
            }

            #[inline(always)]
            unsafe fn splat(number: f32) -> __m256 {
                // SAFETY: as above.
                unsafe { _mm256_set1_ps(number) }
            }

            #[inline(always)]
            unsafe fn add(a: __m256, b: __m256) -> __m256 {
                // SAFETY: as above.
                unsafe { _mm256_add_ps(a, b) }
            }

            #[inline(always)]
            unsafe fn sub(a: __m256, b: __m256) -> __m256 {
                // SAFETY: as above.
                unsafe { _mm256_sub_ps(a, b) }
            }

            #[inline(always)]
            unsafe fn mul(a: __m256, b: __m256) -> __m256 {
                // SAFETY: as above.
                unsafe { _mm256_mul_ps(a, b) }
            }

            #[inline(always)]
            unsafe fn exact(a: __m256, b: __m256, c: __m256) -> __m256 {
                // SAFETY: as above.
                unsafe { _mm256_fmadd_ps(a, b, c) }
            }
        }

        impl Simd for $name {
            type Sums = __m256i;
            type Pairs = __m256i;
            // With two vectors of output channels twelve sums, which with two vectors of weights, one of inputs and a
            // product fill the 16 registers.
            const BLOCK: usize = 6;
            const TILES: usize = 12;

            #[inline(always)]
            fn prefetch(line: *const u8) {
                // SAFETY: a prefetch does nothing but fill caches, and faults nowhere; every x86-64 processor has it.
                unsafe { _mm_prefetch::<_MM_HINT_T0>(line.cast()) }
            }

            #[inline(always)]
            unsafe fn max(a: __m256, b: __m256) -> __m256 {
                // SAFETY: as above.
                unsafe { _mm256_max_ps(a, b) }
            }

            #[inline(always)]
            unsafe fn fused(a: __m256, b: __m256, c: __m256) -> __m256 {
                // SAFETY: as above.
                unsafe { _mm256_fmadd_ps(a, b, c) }
            }

            #[inline(always)]
            unsafe fn no_sums() -> __m256i {
                // SAFETY: as above.
                unsafe { _mm256_setzero_si256() }
            }

            #[inline(always)]
            unsafe fn load_pairs(from: *const i16) -> __m256i {
                // SAFETY: as above.
                unsafe { _mm256_loadu_si256(from.cast()) }
            }

            #[inline(always)]
            unsafe fn splat_pair(from: *const i16) -> __m256i {
                // SAFETY: as above.
                unsafe { _mm256_set1_epi32(from.cast::<i32>().read_unaligned()) }
            }

            #[inline(always)]
            unsafe fn add_products($sums: __m256i, $a: __m256i, $b: __m256i) -> __m256i {
                // SAFETY: as above.
                unsafe { $products }
            }

            #[inline(always)]
            unsafe fn to_floats(sums: __m256i) -> __m256 {
                // SAFETY: as above.
                unsafe { _mm256_cvtepi32_ps(sums) }
            }
        }
    };
}

macro_rules! avx512 {
    ($name:ident, |$sums:ident, $a:ident, $b:ident| $products:expr) => {
        impl Floats for $name {
            type Vector = __m512;
            const LANES: usize = 16;

            #[inline(always)]
            unsafe fn load(from: *const f32) -> __m512 {
                // SAFETY: the caller's promise, here and below.
                unsafe { _mm512_loadu_ps(from) }
            }

            #[inline(always)]
            unsafe fn store(to: *mut f32, a: __m512) {
                // SAFETY: as above.
                unsafe { _mm512_storeu_ps(to, a) }
            }

            #[inline(always)]
            unsafe fn splat(number: f32) -> __m512 {
                // SAFETY: as above.
                unsafe { _mm512_set1_ps(number) }
            }

            #[inline(always)]
            unsafe fn add(a: __m512, b: __m512) -> __m512 {
                // SAFETY: as above.
                unsafe { _mm512_add_ps(a, b) }
            }

            #[inline(always)]
            unsafe fn sub(a: __m512, b: __m512) -> __m512 {
                // SAFETY: as above.
                unsafe { _mm512_sub_ps(a, b) }
            }

            #[inline(always)]
            unsafe fn mul(a: __m512, b: __m512) -> __m512 {
                // SAFETY: as above.
                unsafe { _mm512_mul_ps(a, b) }
            }

            #[inline(always)]
            unsafe fn exact(a: __m512, b: __m512, c: __m512) -> __m512 {
                // SAFETY: as above.
                unsafe { _mm512_fmadd_ps(a, b, c) }
            }
        }

        impl Round for $name {
            const HOLDS_TILE: bool = true;

            #[inline(always)]
            unsafe fn store_rounded(to: *mut i16, a: __m512) {
                // The smaller magnitude, with the sign of the first.
                const SMALLER: i32 = 0b0010;
                // SAFETY: as above.
                unsafe {
                    let saturated = _mm512_range_ps::<SMALLER>(a, _mm512_set1_ps(LARGEST_INPUT as f32));
                    _mm256_storeu_si256(to.cast(), _mm512_cvtepi32_epi16(_mm512_cvtps_epi32(saturated)));
                }
            }
        }

        impl Simd for $name {
            type Sums = __m512i;
            type Pairs = __m512i;
            // Of 32 registers: 24 sums, two vectors of weights and one of inputs. Each vector of weights is loaded for
            // twice as many products.
            const BLOCK: usize = 12;
            const TILES: usize = 60;

            #[inline(always)]
            fn prefetch(line: *const u8) {
                // SAFETY: a prefetch does nothing but fill caches, and faults nowhere; every x86-64 processor has it.
                unsafe { _mm_prefetch::<_MM_HINT_T0>(line.cast()) }
            }

            #[inline(always)]
            unsafe fn max(a: __m512, b: __m512) -> __m512 {
                // SAFETY: as above.
                unsafe { _mm512_max_ps(a, b) }
            }

            #[inline(always)]
            unsafe fn fused(a: __m512, b: __m512, c: __m512) -> __m512 {
                // SAFETY: as above.
                unsafe { _mm512_fmadd_ps(a, b, c) }
            }

            #[inline(always)]
            unsafe fn no_sums() -> __m512i {
                // SAFETY: as above.
                unsafe { _mm512_setzero_si512() }
            }

            #[inline(always)]
            unsafe fn load_pairs(from: *const i16) -> __m512i {
                // SAFETY: as above.
                unsafe { _mm512_loadu_si512(from.cast()) }
            }

            #[inline(always)]
            unsafe fn splat_pair(from: *const i16) -> __m512i {
                // SAFETY: as above.
                unsafe { _mm512_set1_epi32(from.cast::<i32>().read_unaligned()) }
            }

            #[inline(always)]
            unsafe fn add_products($sums: __m512i, $a: __m512i, $b: __m512i) -> __m512i {
                // SAFETY: as above.
                unsafe { $products }
            }

            #[inline(always)]
            unsafe fn to_floats(sums: __m512i) -> __m512 {
                // SAFETY: as above.
                unsafe { _mm512_cvtepi32_ps(sums) }
            }
        }
    };
}

avx2!(Avx2, |sums, a, b| _mm256_add_epi32(sums, _mm256_madd_epi16(a, b)));
avx2!(AvxVnni, |sums, a, b| multiply_add_256(sums, a, b));
avx512!(Avx512, |sums, a, b| _mm512_add_epi32(sums, _mm512_madd_epi16(a, b)));
avx512!(Avx512Vnni, |sums, a, b| multiply_add(sums, a, b));

/// `vpdpwssd`, which LLVM 22 makes two instructions of if it is written as an intrinsic: `vpmaddwd` and `vpaddd`, to
/// shorten a chain of dependent sums. With twelve independent sums the chain does not matter, and the second
/// instruction costs a sixth of the speed.
#[inline]
#[target_feature(enable = "avx512f,avx512vnni")]
fn multiply_add(mut sums: __m512i, a: __m512i, b: __m512i) -> __m512i {
    // SAFETY: the instruction changes the register that it is given, and nothing else.
    unsafe {
        asm!(
            "vpdpwssd {sums}, {a}, {b}",
            sums = inout(zmm_reg) sums,
            a = in(zmm_reg) a,
            b = in(zmm_reg) b,
            options(pure, nomem, nostack, preserves_flags),
        );
    }
    sums
}

/// The same of 256 bits, with the prefix of AVX-VNNI, as processors without AVX-512 have no other.
#[inline]
#[target_feature(enable = "avx2,avxvnni")]
fn multiply_add_256(mut sums: __m256i, a: __m256i, b: __m256i) -> __m256i {
    // SAFETY: the instruction changes the register that it is given, and nothing else.
    unsafe {
        asm!(
            "{{vex}} vpdpwssd {sums}, {a}, {b}",
            sums = inout(ymm_reg) sums,
            a = in(ymm_reg) a,
            b = in(ymm_reg) b,
            options(pure, nomem, nostack, preserves_flags),
        );
    }
    sums
}

/// Rounds, and saturates positive numbers; negative ones that are too small become some number that is too small, too.
#[inline]
#[target_feature(enable = "avx2")]
fn rounded(a: __m256) -> __m256i {
    _mm256_cvtps_epi32(_mm256_min_ps(a, _mm256_set1_ps(LARGEST_INPUT as f32)))
}

macro_rules! lane_by_lane {
    ($($name:ident),*) => {
        $(
            #[inline(always)]
            unsafe fn $name(a: [__m256; 2], b: [__m256; 2]) -> [__m256; 2] {
                // SAFETY: the caller's promise.
                unsafe { [Avx2::$name(a[0], b[0]), Avx2::$name(a[1], b[1])] }
            }
        )*
    };
}

impl Floats for Avx2Pair {
    type Vector = [__m256; 2];
    const LANES: usize = 16;

    #[inline(always)]
    unsafe fn load(from: *const f32) -> [__m256; 2] {
        // SAFETY: the caller's promise, here and below.
        unsafe { [Avx2::load(from), Avx2::load(from.add(8))] }
    }

    #[inline(always)]
    unsafe fn store(to: *mut f32, a: [__m256; 2]) {
        // SAFETY: as above.
        unsafe {
            Avx2::store(to, a[0]);
            Avx2::store(to.add(8), a[1]);
        }
    }

    #[inline(always)]
    unsafe fn splat(number: f32) -> [__m256; 2] {
        // SAFETY: as above.
        unsafe { [Avx2::splat(number); 2] }
    }

    lane_by_lane!(add, sub, mul);

    #[inline(always)]
    unsafe fn exact(a: [__m256; 2], b: [__m256; 2], c: [__m256; 2]) -> [__m256; 2] {
        // SAFETY: as above.
        unsafe { [Avx2::exact(a[0], b[0], c[0]), Avx2::exact(a[1], b[1], c[1])] }
    }
}

impl Round for Avx2Pair {
    const HOLDS_TILE: bool = false;

    #[inline(always)]
    unsafe fn store_rounded(to: *mut i16, a: [__m256; 2]) {
        // In the lower and upper halves of the packed vector are four numbers of each.
        const ORDER: i32 = 0b11_01_10_00;
        // SAFETY: as above.
        unsafe {
            let packed = _mm256_packs_epi32(rounded(a[0]), rounded(a[1]));
            let ordered = _mm256_permute4x64_epi64::<ORDER>(packed);
            _mm256_storeu_si256(to.cast(), _mm256_max_epi16(ordered, _mm256_set1_epi16(-(LARGEST_INPUT as i16))));
        }
    }
}
