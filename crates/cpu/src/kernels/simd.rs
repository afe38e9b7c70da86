//! Operations of an instruction set that the loops use, and the two types of number that are multiplied.

/// The largest magnitude of a transformed input: 13 bits and a sign. Larger ones are saturated.
pub(crate) const LARGEST_INPUT: i32 = 8191;

/// Vectors of f32, as transforms add them up.
///
/// # Safety
/// Every function needs a processor with the instruction set, and pointers to as many numbers as a vector holds.
pub(crate) trait Floats {
    /// [`Floats::LANES`] f32.
    type Vector: Copy;
    const LANES: usize;

    unsafe fn load(from: *const f32) -> Self::Vector;
    unsafe fn store(to: *mut f32, a: Self::Vector);
    unsafe fn splat(number: f32) -> Self::Vector;
    unsafe fn add(a: Self::Vector, b: Self::Vector) -> Self::Vector;
    unsafe fn sub(a: Self::Vector, b: Self::Vector) -> Self::Vector;
    unsafe fn mul(a: Self::Vector, b: Self::Vector) -> Self::Vector;
    /// `a * b + c`, rounded once, where `a * b` has no more bits than an f32, though it may be beyond its range:
    /// factors are 0 and powers of two.
    unsafe fn exact(a: Self::Vector, b: Self::Vector, c: Self::Vector) -> Self::Vector;
}

/// Vectors whose numbers can be stored as integers.
///
/// # Safety
/// As for [`Floats`].
pub(crate) trait Round: Floats {
    /// Whether the 25 numbers of a tile fit the registers. With 16 registers, most of them would be in memory twice (2
    /// to 4 % of a network).
    const HOLDS_TILE: bool;

    /// Rounds numbers to the nearest integers, halves to even ones, and saturates them at [`LARGEST_INPUT`]. What NaN
    /// becomes depends on the instruction set; `bound` proves that there is none.
    unsafe fn store_rounded(to: *mut i16, a: Self::Vector);
}

/// The vectors of an instruction set, and products of both types of number.
///
/// # Safety
/// As for [`Floats`].
pub(crate) trait Simd: Floats {
    /// [`Floats::LANES`] i32.
    type Sums: Copy;
    /// As many pairs of i16.
    type Pairs: Copy;
    /// Columns whose sums are in registers at once, 6 or 12.
    const BLOCK: usize;
    /// Tiles that go through all frequencies together at most. Few have their products in the first-level cache when
    /// they are transformed back, and many read the weights fewer times, which counts the more the faster products are.
    const TILES: usize;

    /// Asks for a cache line, wherever it may be; it need not be memory of this process.
    fn prefetch(line: *const u8);
    /// `a` where it is larger, else `b`.
    unsafe fn max(a: Self::Vector, b: Self::Vector) -> Self::Vector;
    /// `a * b + c`, rounded once.
    unsafe fn fused(a: Self::Vector, b: Self::Vector, c: Self::Vector) -> Self::Vector;
    unsafe fn no_sums() -> Self::Sums;
    unsafe fn load_pairs(from: *const i16) -> Self::Pairs;
    /// One pair in every lane.
    unsafe fn splat_pair(from: *const i16) -> Self::Pairs;
    /// Adds both products of each pair.
    unsafe fn add_products(sums: Self::Sums, a: Self::Pairs, b: Self::Pairs) -> Self::Sums;
    unsafe fn to_floats(sums: Self::Sums) -> Self::Vector;
}

/// A type of number that is multiplied.
///
/// # Safety
/// As for [`Floats`].
pub(crate) trait Element: Copy + Default {
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
    unsafe fn finish<S: Simd>(sums: Self::Sums<S>, scales: *const f32) -> S::Vector;
    /// Stores a transformed input, for i16 in this scale.
    unsafe fn store<R: Round>(to: *mut Self, a: R::Vector, scale: f32);
}

impl Element for f32 {
    const STEP: usize = 1;
    type Sums<S: Simd> = S::Vector;
    type Factors<S: Simd> = S::Vector;

    #[inline(always)]
    unsafe fn zero<S: Simd>() -> S::Vector {
        // SAFETY: the caller's promise.
        unsafe { S::splat(0.0) }
    }

    #[inline(always)]
    unsafe fn load<S: Simd>(from: *const f32) -> S::Vector {
        // SAFETY: the caller's promise.
        unsafe { S::load(from) }
    }

    #[inline(always)]
    unsafe fn splat<S: Simd>(from: *const f32) -> S::Vector {
        // SAFETY: the caller's promise.
        unsafe { S::splat(*from) }
    }

    #[inline(always)]
    unsafe fn add_products<S: Simd>(sums: S::Vector, weights: S::Vector, inputs: S::Vector) -> S::Vector {
        // SAFETY: the caller's promise.
        unsafe { S::fused(weights, inputs, sums) }
    }

    #[inline(always)]
    unsafe fn finish<S: Simd>(sums: S::Vector, _: *const f32) -> S::Vector {
        sums
    }

    #[inline(always)]
    unsafe fn store<R: Round>(to: *mut f32, a: R::Vector, _: f32) {
        // SAFETY: the caller's promise.
        unsafe { R::store(to, a) }
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
    unsafe fn finish<S: Simd>(sums: S::Sums, scales: *const f32) -> S::Vector {
        // SAFETY: the caller's promise.
        unsafe { S::mul(S::to_floats(sums), S::load(scales)) }
    }

    #[inline(always)]
    unsafe fn store<R: Round>(to: *mut i16, a: R::Vector, scale: f32) {
        // SAFETY: the caller's promise.
        unsafe { R::store_rounded(to, R::mul(a, R::splat(scale))) }
    }
}
