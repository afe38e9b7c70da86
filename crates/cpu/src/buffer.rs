//! Memory that begins at a cache line, so that no vector of it straddles two.

use std::ops::{Deref, DerefMut};

const LINE: usize = 64;

/// Numbers whose first lies at the beginning of a cache line; zeros at first. The length never changes.
#[derive(Debug)]
pub(crate) struct Buffer<T> {
    all: Vec<T>,
    start: usize,
    len: usize,
}

impl<T: Copy + Default> Buffer<T> {
    pub(crate) fn new(len: usize) -> Buffer<T> {
        let spare = LINE / size_of::<T>();
        let all = vec![T::default(); len + spare];
        // `align_offset` may fail, which costs speed alone.
        let start = Some(all.as_ptr().align_offset(LINE)).filter(|&start| start <= spare).unwrap_or(0);
        Buffer { all, start, len }
    }
}

impl<T> Deref for Buffer<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.all[self.start..self.start + self.len]
    }
}

impl<T> DerefMut for Buffer<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        &mut self.all[self.start..self.start + self.len]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buffers_begin_at_a_cache_line_and_hold_zeros() {
        for len in [0, 1, 31, 1000] {
            let buffer = Buffer::<i16>::new(len);
            assert_eq!((buffer.len(), buffer.as_ptr() as usize % LINE), (len, 0));
            assert!(buffer.iter().all(|&number| number == 0));
        }
    }
}
