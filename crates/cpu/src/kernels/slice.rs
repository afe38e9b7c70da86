//! Pointers into slices, checked in debug builds, and lengths that slices are compared with.

/// The product of counts, or `usize::MAX` where it is larger, as no slice is as long. One that wraps could pass a
/// check.
pub(super) fn product<const N: usize>(counts: [usize; N]) -> usize {
    counts.into_iter().fold(1, usize::saturating_mul)
}

/// A pointer to some numbers of a slice.
#[inline(always)]
pub(super) fn at<T>(slice: &[T], index: usize, count: usize) -> *const T {
    debug_assert!(index + count <= slice.len(), "{index} + {count} of {}", slice.len());
    slice.as_ptr().wrapping_add(index)
}

/// A pointer to space for some numbers in a slice.
#[inline(always)]
pub(super) fn room<T>(slice: &mut [T], index: usize, count: usize) -> *mut T {
    debug_assert!(index + count <= slice.len(), "{index} + {count} of {}", slice.len());
    slice.as_mut_ptr().wrapping_add(index)
}
