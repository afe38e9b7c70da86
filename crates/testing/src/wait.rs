//! Waiting for a state instead of for a time.

use std::thread;
use std::time::{Duration, Instant};

/// Longer than anything takes that is waited for, on a machine that does five other things.
pub const PATIENCE: Duration = Duration::from_secs(600);

/// Polls until there is something, and returns it; `None` when there is nothing after this time. The pauses grow with
/// the time that has passed: from a millisecond to a tenth of a second.
pub fn poll<T>(time: Duration, mut found: impl FnMut() -> Option<T>) -> Option<T> {
    let began = Instant::now();
    loop {
        if let Some(found) = found() {
            return Some(found);
        }
        let waited = began.elapsed();
        if waited > time {
            return None;
        }
        thread::sleep((waited / 16).clamp(Duration::from_millis(1), Duration::from_millis(100)));
    }
}

/// Waits until there is something, and returns it.
///
/// # Panics
/// When there is nothing after [`PATIENCE`]; the message names it.
pub fn wait_for<T>(what: &str, found: impl FnMut() -> Option<T>) -> T {
    poll(PATIENCE, found).unwrap_or_else(|| panic!("waited {PATIENCE:?} for {what}"))
}

/// Waits for a state.
///
/// # Panics
/// As [`wait_for`].
pub fn wait_until(what: &str, mut reached: impl FnMut() -> bool) {
    wait_for(what, || reached().then_some(()));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn poll_returns_what_is_found_and_nothing_after_its_time() {
        let mut looks = 0..;
        assert_eq!(poll(PATIENCE, || looks.next().filter(|&look| look == 3)), Some(3));
        let mut looks = 0;
        assert_eq!(
            poll::<()>(Duration::ZERO, || {
                looks += 1;
                None
            }),
            None
        );
        assert!(looks >= 1, "it looks once at least");
    }
}
