//! Liveness and readiness of a process, as /healthz and /readyz report.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// The health of one process. Cloning is cheap; all clones are of the same process.
#[derive(Clone, Debug, Default)]
pub struct Health(Arc<State>);

/// Times count from the start of the process.
#[derive(Debug)]
struct State {
    start: Instant,
    /// Milliseconds to the last heartbeat.
    last: AtomicU64,
    ready: AtomicBool,
    draining: AtomicBool,
}

impl Default for State {
    fn default() -> State {
        State {
            start: Instant::now(),
            last: AtomicU64::default(),
            ready: AtomicBool::default(),
            draining: AtomicBool::default(),
        }
    }
}

impl Health {
    /// Reports progress: positions were evaluated, a batch was trained on, the store has responded. Cheap enough to be
    /// called several times a second.
    pub fn heartbeat(&self) {
        self.heartbeat_at(self.0.start.elapsed());
    }

    /// Reports readiness: the store has responded, the configuration is read, and the work begins.
    pub fn set_ready(&self) {
        self.heartbeat();
        self.0.ready.store(true, Ordering::Relaxed);
    }

    /// Ends readiness: shutdown was requested, and no more work begins.
    pub(crate) fn drain(&self) {
        self.0.draining.store(true, Ordering::Relaxed);
    }

    /// Whether the work has begun and no stop of the process was requested.
    pub(crate) fn is_ready(&self) -> bool {
        self.0.ready.load(Ordering::Relaxed) && !self.0.draining.load(Ordering::Relaxed)
    }

    /// Time since the last heartbeat, or since the start of the process.
    pub(crate) fn idle(&self) -> Duration {
        self.idle_at(self.0.start.elapsed())
    }

    fn heartbeat_at(&self, now: Duration) {
        self.0.last.store(u64::try_from(now.as_millis()).unwrap_or(u64::MAX), Ordering::Relaxed);
    }

    fn idle_at(&self, now: Duration) -> Duration {
        now.saturating_sub(Duration::from_millis(self.0.last.load(Ordering::Relaxed)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn health_is_ready_from_set_ready_to_drain() {
        let health = Health::default();
        assert!(!health.is_ready());
        health.set_ready();
        assert!(health.is_ready());
        health.drain();
        assert!(!health.is_ready());
    }

    #[test]
    fn health_idle_counts_from_the_last_heartbeat_or_the_start() {
        let health = Health::default();
        assert_eq!(health.idle_at(Duration::from_secs(20)), Duration::from_secs(20));
        health.heartbeat_at(Duration::from_secs(20));
        assert_eq!(health.idle_at(Duration::from_secs(25)), Duration::from_secs(5));
        health.heartbeat_at(Duration::from_secs(26));
        assert_eq!(health.idle_at(Duration::from_secs(26)), Duration::ZERO);
        assert_eq!(health.idle_at(Duration::from_secs(25)), Duration::ZERO, "a clock read earlier by another thread");
    }
}
