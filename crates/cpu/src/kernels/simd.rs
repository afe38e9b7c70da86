//! Operations of an instruction set that the loops use, and the two types of number that are multiplied.

/// The largest magnitude of a transformed input: 13 bits and a sign. Larger ones are saturated.
pub(crate) const LARGEST_INPUT: i32 = 8191;

/// The vectors of an instruction set.
///
/// # Safety
/// Every function needs a processor with the instruction set, and pointers to as many numbers as a vector holds.
pub(crate) trait Simd {
    /// [`Simd::LANES`] f32.
    type Floats: Copy;
    /// As many i32.
    type Sums: Copy;
    /// As many pairs of i16.
    type Pairs: Copy;
    const LANES: usize;

    /// Asks for a cache line, wherever it may be; it need not be memory of this process.
    fn prefetch(line: *const u8);
    unsafe fn load(from: *const f32) -> Self::Floats;
    unsafe fn store(to: *mut f32, a: Self::Floats);
    unsafe fn splat(number: f32) -> Self::Floats;
    unsafe fn add(a: Self::Floats, b: Self::Floats) -> Self::Floats;
    unsafe fn sub(a: Self::Floats, b: Self::Floats) -> Self::Floats;
    unsafe fn mul(a: Self::Floats, b: Self::Floats) -> Self::Floats;
    /// `a * b + c`, rounded once.
    unsafe fn fused(a: Self::Floats, b: Self::Floats, c: Self::Floats) -> Self::Floats;
    /// `a * b + c` where `a * b` is exact, so that it does not matter how often it is rounded.
    unsafe fn exact(a: Self::Floats, b: Self::Floats, c: Self::Floats) -> Self::Floats;
    /// `a` where it is larger, else `b`.
    unsafe fn max(a: Self::Floats, b: Self::Floats) -> Self::Floats;
    /// `a`, or the nearest number from `-limit` to `limit`.
    unsafe fn clamp(a: Self::Floats, limit: f32) -> Self::Floats;
    /// Rounds numbers of 15 bits to the nearest integers, halves to even ones.
    unsafe fn store_rounded(to: *mut i16, a: Self::Floats);
    unsafe fn no_sums() -> Self::Sums;
    unsafe fn load_pairs(from: *const i16) -> Self::Pairs;
    /// One pair in every lane.
    unsafe fn splat_pair(from: *const i16) -> Self::Pairs;
    /// Adds both products of each pair.
    unsafe fn add_products(sums: Self::Sums, a: Self::Pairs, b: Self::Pairs) -> Self::Sums;
    unsafe fn to_floats(sums: Self::Sums) -> Self::Floats;
}

/// A type of number that is multiplied.
///
/// # Safety
/// As for [`Simd`].
pub(crate) trait Element: Copy + Default + sealed::Sealed {
    /// Numbers of one output that are multiplied at once.
    const STEP: usize;
    /// Vectors of output channels, and columns, whose sums are in registers at once.
    type Sums<S: Simd>: Copy;
    type Factors<S: Simd>: Copy;

    unsafe fn zero<S: Simd>() -> Self::Sums<S>;
    unsafe fn load<S: Simd>(from: *const Self) -> Self::Factors<S>;
    unsafe fn splat<S: Simd>(from: *const Self) -> Self::Factors<S>;
    unsafe fn add_products<S: Simd>(
        sums: Self::Sums<S>,
        weights: Self::Factors<S>,
        inputs: Self::Factors<S>,
    ) -> Self::Sums<S>;
    /// Sums in the scale of the layer; `scales` points to the scales of the lanes if there are any.
    unsafe fn finish<S: Simd>(sums: Self::Sums<S>, scales: *const f32) -> S::Floats;
    /// Stores a transformed input, for i16 in this scale.
    unsafe fn store<S: Simd>(to: *mut Self, a: S::Floats, scale: f32);
}

mod sealed {
    pub(crate) trait Sealed {}
    impl Sealed for f32 {}
    impl Sealed for i16 {}
}

impl Element for f32 {
    const STEP: usize = 1;
    type Sums<S: Simd> = S::Floats;
    type Factors<S: Simd> = S::Floats;

    #[inline(always)]
    unsafe fn zero<S: Simd>() -> S::Floats {
        // SAFETY: the caller's promise.
        unsafe { S::splat(0.0) }
    }

    #[inline(always)]
    unsafe fn load<S: Simd>(from: *const f32) -> S::Floats {
        // SAFETY: the caller's promise.
        unsafe { S::load(from) }
    }

    #[inline(always)]
    unsafe fn splat<S: Simd>(from: *const f32) -> S::Floats {
        // SAFETY: the caller's promise.
        unsafe { S::splat(*from) }
    }

    #[inline(always)]
    unsafe fn add_products<S: Simd>(sums: S::Floats, weights: S::Floats, inputs: S::Floats) -> S::Floats {
        // SAFETY: the caller's promise.
        unsafe { S::fused(weights, inputs, sums) }
    }

    #[inline(always)]
    unsafe fn finish<S: Simd>(sums: S::Floats, _: *const f32) -> S::Floats {
        sums
    }

    #[inline(always)]
    unsafe fn store<S: Simd>(to: *mut f32, a: S::Floats, _: f32) {
        // SAFETY: the caller's promise.
        unsafe { S::store(to, a) }
    }
}

impl Element for i16 {
    const STEP: usize = 2;
    type Sums<S: Simd> = S::Sums;
    type Factors<S: Simd> = S::Pairs;

    #[inline(always)]
    unsafe fn zero<S: Simd>() -> S::Sums {
        // SAFETY: the caller's promise.
        unsafe { S::no_sums() }
    }

    #[inline(always)]
    unsafe fn load<S: Simd>(from: *const i16) -> S::Pairs {
        // SAFETY: the caller's promise.
        unsafe { S::load_pairs(from) }
    }

    #[inline(always)]
    unsafe fn splat<S: Simd>(from: *const i16) -> S::Pairs {
        // SAFETY: the caller's promise.
        unsafe { S::splat_pair(from) }
    }

    #[inline(always)]
    unsafe fn add_products<S: Simd>(sums: S::Sums, weights: S::Pairs, inputs: S::Pairs) -> S::Sums {
        // SAFETY: the caller's promise.
        unsafe { S::add_products(sums, weights, inputs) }
    }

    #[inline(always)]
    unsafe fn finish<S: Simd>(sums: S::Sums, scales: *const f32) -> S::Floats {
        // SAFETY: the caller's promise.
        unsafe { S::mul(S::to_floats(sums), S::load(scales)) }
    }

    #[inline(always)]
    unsafe fn store<S: Simd>(to: *mut i16, a: S::Floats, scale: f32) {
        const LARGEST: f32 = LARGEST_INPUT as f32;
        // SAFETY: the caller's promise.
        unsafe {
            let scaled = S::mul(a, S::splat(scale));
            S::store_rounded(to, S::clamp(scaled, LARGEST));
        }
    }
}
