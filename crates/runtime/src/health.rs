//! Liveness and readiness: progress of the work, and whether it has begun.

use std::sync::LazyLock;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// Since when the process is there, as far as it knows.
static START: LazyLock<Instant> = LazyLock::new(Instant::now);

static VITALS: Vitals = Vitals::new();

/// What is known of a process; times count from its start.
struct Vitals {
    /// Milliseconds to the last step of the work.
    last: AtomicU64,
    ready: AtomicBool,
    draining: AtomicBool,
}

impl Vitals {
    const fn new() -> Vitals {
        Vitals { last: AtomicU64::new(0), ready: AtomicBool::new(false), draining: AtomicBool::new(false) }
    }

    fn alive(&self, now: Duration) {
        self.last.store(u64::try_from(now.as_millis()).unwrap_or(u64::MAX), Ordering::Relaxed);
    }

    fn ready(&self, now: Duration) {
        self.alive(now);
        self.ready.store(true, Ordering::Relaxed);
    }

    fn drain(&self) {
        self.draining.store(true, Ordering::Relaxed);
    }

    fn is_ready(&self) -> bool {
        self.ready.load(Ordering::Relaxed) && !self.draining.load(Ordering::Relaxed)
    }

    fn idle(&self, now: Duration) -> Duration {
        now.saturating_sub(Duration::from_millis(self.last.load(Ordering::Relaxed)))
    }
}

/// The process is there.
pub(crate) fn begin() {
    LazyLock::force(&START);
}

/// The work has got on: positions were evaluated, a batch was learned from, the store has answered. Cheap enough to be
/// said several times a second.
pub fn alive() {
    VITALS.alive(START.elapsed());
}

/// The store has answered, the configuration is read, and the work begins.
pub fn ready() {
    VITALS.ready(START.elapsed());
}

/// The process was asked to stop, and takes no more work.
pub(crate) fn drain() {
    VITALS.drain();
}

/// Whether the work has begun and no stop is requested.
pub(crate) fn is_ready() -> bool {
    VITALS.is_ready()
}

/// How long ago the work got on, or the process began.
pub(crate) fn idle() -> Duration {
    VITALS.idle(START.elapsed())
}

/// Seconds since 1970.
pub(crate) fn now() -> f64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0.0, |time| time.as_secs_f64())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vitals_are_ready_from_the_first_work_to_the_drain() {
        let vitals = Vitals::new();
        assert!(!vitals.is_ready());
        vitals.ready(Duration::from_secs(20));
        assert!(vitals.is_ready());
        vitals.drain();
        assert!(!vitals.is_ready());
    }

    #[test]
    fn vitals_idle_counts_from_the_last_step_or_the_start() {
        let vitals = Vitals::new();
        assert_eq!(vitals.idle(Duration::from_secs(20)), Duration::from_secs(20));
        vitals.ready(Duration::from_secs(20));
        assert_eq!(vitals.idle(Duration::from_secs(25)), Duration::from_secs(5));
        vitals.alive(Duration::from_secs(26));
        assert_eq!(vitals.idle(Duration::from_secs(26)), Duration::ZERO);
        assert_eq!(vitals.idle(Duration::from_secs(25)), Duration::ZERO, "a clock read earlier by another thread");
    }
}
