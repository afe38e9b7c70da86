//! Vectors of AVX2 and AVX-512.

use std::arch::asm;
use std::arch::x86_64::*;

use super::simd::Simd;

/// AVX2 and FMA.
pub(super) struct Avx2;
/// The same and AVX-VNNI: a multiply-add of pairs in one instruction.
pub(super) struct AvxVnni;
/// AVX-512 F, BW, VL and DQ.
pub(super) struct Avx512;
/// The same and VNNI: a multiply-add of pairs in one instruction.
pub(super) struct Avx512Vnni;

macro_rules! avx2 {
    ($name:ident, |$sums:ident, $a:ident, $b:ident| $products:expr) => {
        impl Simd for $name {
            type Floats = __m256;
            type Sums = __m256i;
            type Pairs = __m256i;
            const LANES: usize = 8;

            #[inline(always)]
            fn prefetch(line: *const u8) {
                // SAFETY: a prefetch does nothing but fill caches, and faults nowhere; every x86-64 processor has it.
                unsafe { _mm_prefetch::<_MM_HINT_T1>(line.cast()) }
            }

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
            unsafe fn fused(a: __m256, b: __m256, c: __m256) -> __m256 {
                // SAFETY: as above.
                unsafe { _mm256_fmadd_ps(a, b, c) }
            }

            #[inline(always)]
            unsafe fn exact(a: __m256, b: __m256, c: __m256) -> __m256 {
                // SAFETY: as above.
                unsafe { _mm256_fmadd_ps(a, b, c) }
            }

            #[inline(always)]
            unsafe fn max(a: __m256, b: __m256) -> __m256 {
                // SAFETY: as above.
                unsafe { _mm256_max_ps(a, b) }
            }

            #[inline(always)]
            unsafe fn clamp(a: __m256, limit: f32) -> __m256 {
                // SAFETY: as above.
                unsafe { _mm256_max_ps(_mm256_min_ps(a, _mm256_set1_ps(limit)), _mm256_set1_ps(-limit)) }
            }

            #[inline(always)]
            unsafe fn store_rounded(to: *mut i16, a: __m256) {
                // SAFETY: as above.
                unsafe {
                    let rounded = _mm256_cvtps_epi32(a);
                    let halves = (_mm256_castsi256_si128(rounded), _mm256_extracti128_si256::<1>(rounded));
                    _mm_storeu_si128(to.cast(), _mm_packs_epi32(halves.0, halves.1));
                }
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
        impl Simd for $name {
            type Floats = __m512;
            type Sums = __m512i;
            type Pairs = __m512i;
            const LANES: usize = 16;

            #[inline(always)]
            fn prefetch(line: *const u8) {
                // SAFETY: a prefetch does nothing but fill caches, and faults nowhere; every x86-64 processor has it.
                unsafe { _mm_prefetch::<_MM_HINT_T1>(line.cast()) }
            }

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
            unsafe fn fused(a: __m512, b: __m512, c: __m512) -> __m512 {
                // SAFETY: as above.
                unsafe { _mm512_fmadd_ps(a, b, c) }
            }

            #[inline(always)]
            unsafe fn exact(a: __m512, b: __m512, c: __m512) -> __m512 {
                // SAFETY: as above.
                unsafe { _mm512_fmadd_ps(a, b, c) }
            }

            #[inline(always)]
            unsafe fn max(a: __m512, b: __m512) -> __m512 {
                // SAFETY: as above.
                unsafe { _mm512_max_ps(a, b) }
            }

            #[inline(always)]
            unsafe fn clamp(a: __m512, limit: f32) -> __m512 {
                // The smaller magnitude, with the sign of the first.
                const SMALLER: i32 = 0b0010;
                // SAFETY: as above.
                unsafe { _mm512_range_ps::<SMALLER>(a, _mm512_set1_ps(limit)) }
            }

            #[inline(always)]
            unsafe fn store_rounded(to: *mut i16, a: __m512) {
                // SAFETY: as above.
                unsafe { _mm256_storeu_si256(to.cast(), _mm512_cvtepi32_epi16(_mm512_cvtps_epi32(a))) }
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

/// `vpdpwssd`, which LLVM 22 makes two instructions of if it is written as an intrinsic: `vpmaddwd` and `vpaddd`,
/// to shorten a chain of dependent sums. With twelve independent sums the chain does not matter, and the second instruction
/// costs a fifth of the speed.
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
