//! How many threads one operation of libtorch is spread over.
//!
//! libtorch keeps the number for each calling thread (it is OpenMP's), so that worker threads which evaluate their own
//! batches on one thread each live beside a trainer that uses all cores. Everyone states its number before it
//! calculates; asking for the number already in force costs nothing.

use std::cell::Cell;

thread_local! {
    /// The number last set by this thread; 0 before the first time.
    static COUNT: Cell<usize> = const { Cell::new(0) };
}

/// Spreads what this thread calculates from now on over `count` threads.
pub(crate) fn use_threads(count: usize) {
    if COUNT.replace(count) != count {
        // When a thread first asks, libtorch gives it the number that any thread set last. That must come before ours.
        tch::get_num_threads();
        tch::set_num_threads(i32::try_from(count).unwrap_or(i32::MAX));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_thread_has_its_own_number() {
        use_threads(2);
        std::thread::scope(|scope| {
            let other = scope.spawn(|| {
                use_threads(1);
                tch::get_num_threads()
            });
            assert_eq!(other.join().unwrap(), 1);
        });
        assert_eq!(tch::get_num_threads(), 2);
        use_threads(1);
        assert_eq!(tch::get_num_threads(), 1);
    }
}
