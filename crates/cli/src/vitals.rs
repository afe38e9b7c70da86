//! Signs of life: whether the work gets on, and whether it has begun.

use std::sync::LazyLock;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// Since when the process is there, as far as it knows.
static START: LazyLock<Instant> = LazyLock::new(Instant::now);

/// Milliseconds from the start to the last step of the work.
static LAST: AtomicU64 = AtomicU64::new(0);

static READY: AtomicBool = AtomicBool::new(false);
static DRAINING: AtomicBool = AtomicBool::new(false);

/// The process is there.
pub(crate) fn begin() {
    LazyLock::force(&START);
}

/// The work has got on: positions were evaluated, a batch was learned from, the store has answered. Cheap enough to be
/// said several times a second.
pub fn alive() {
    LAST.store(u64::try_from(START.elapsed().as_millis()).unwrap_or(u64::MAX), Ordering::Relaxed);
}

/// The store has answered, the configuration is read, and the work begins.
pub fn ready() {
    alive();
    READY.store(true, Ordering::Relaxed);
}

/// The process was asked to stop, and takes no more work.
pub(crate) fn drain() {
    DRAINING.store(true, Ordering::Relaxed);
}

/// Whether the work has begun and nobody has asked to stop.
pub(crate) fn is_ready() -> bool {
    READY.load(Ordering::Relaxed) && !DRAINING.load(Ordering::Relaxed)
}

/// How long ago the work got on, or the process began.
pub(crate) fn idle() -> Duration {
    START.elapsed().saturating_sub(Duration::from_millis(LAST.load(Ordering::Relaxed)))
}

/// Seconds since 1970.
pub(crate) fn now() -> f64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0.0, |time| time.as_secs_f64())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ready_once_the_work_has_begun_and_until_it_is_to_end() {
        begin();
        std::thread::sleep(Duration::from_millis(20));
        assert!(!is_ready() && idle() >= Duration::from_millis(20));
        ready();
        assert!(is_ready() && idle() < Duration::from_millis(20));
        drain();
        assert!(!is_ready());
    }
}
