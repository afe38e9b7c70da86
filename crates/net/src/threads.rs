//! One operation of libtorch runs on one thread.
//!
//! Concurrency comes from threads of this project: players that evaluate their own batches, and parts of a
//! training batch. Operations that spread over threads by themselves would only wait for each other.

use std::cell::Cell;

thread_local! {
    static DONE: Cell<bool> = const { Cell::new(false) };
}

/// Keeps the operations that this thread starts on this thread. A second call costs nothing.
pub(crate) fn single() {
    if !DONE.replace(true) {
        // When a thread first asks for their number, libtorch gives it the one that any thread set last: that must
        // come before ours. The number belongs to the calling thread, being OpenMP's.
        tch::get_num_threads();
        tch::set_num_threads(1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_thread_has_its_own_number() {
        tch::get_num_threads();
        tch::set_num_threads(2);
        std::thread::scope(|scope| {
            let other = scope.spawn(|| {
                single();
                tch::get_num_threads()
            });
            assert_eq!(other.join().unwrap(), 1);
        });
        assert_eq!(tch::get_num_threads(), 2);
        single();
        assert_eq!(tch::get_num_threads(), 1);
    }
}
