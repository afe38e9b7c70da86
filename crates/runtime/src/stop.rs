//! The wish that a process should end.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use crate::Health;

/// A request to stop, shared by everything that should heed it. Cloning is cheap; all clones are the same request.
///
/// Work asks [`Stop::requested`] between steps, and waits with [`Stop::wait`] instead of sleeping.
#[derive(Clone, Debug, Default)]
pub struct Stop(Arc<Shared>);

/// A mutex rather than an atomic, so that a waiter cannot miss the request between looking and sleeping.
#[derive(Debug, Default)]
struct Shared {
    requested: Mutex<bool>,
    changed: Condvar,
    limit: OnceLock<Duration>,
    preempted: AtomicBool,
    health: Health,
}

impl Stop {
    /// A request that no signal triggers: for tests, and for nested work.
    pub fn never() -> Stop {
        Stop::default()
    }

    /// Asks to stop. Asking again changes nothing.
    pub fn request(&self) {
        *self.lock() = true;
        self.0.changed.notify_all();
    }

    /// Bounds how long work may take to stop when the place is to be cleared. The first bound holds.
    pub(crate) fn set_limit(&self, limit: Duration) {
        self.0.limit.get_or_init(|| limit);
    }

    /// Time limit of shutdown; none by default.
    pub(crate) fn limit(&self) -> Option<Duration> {
        self.0.limit.get().copied()
    }

    /// The health of the process that is to stop. It is here because all work has the request to stop, and reports its
    /// progress where it asks for it.
    pub fn health(&self) -> &Health {
        &self.0.health
    }

    /// Asks to stop because the place is to be cleared, whether the work is done or not.
    pub(crate) fn preempt(&self) {
        self.0.preempted.store(true, Ordering::Relaxed);
        self.request();
    }

    /// Whether the place is to be cleared.
    pub(crate) fn preempted(&self) -> bool {
        self.0.preempted.load(Ordering::Relaxed)
    }

    /// Whether a stop is requested.
    pub fn requested(&self) -> bool {
        *self.lock()
    }

    /// Breaks once a stop is requested: for work that calls back between its steps.
    pub fn flow(&self) -> ControlFlow<()> {
        if self.requested() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    /// Sleeps for `time`, or until a stop is requested; returns [`Stop::requested`].
    pub fn wait(&self, time: Duration) -> bool {
        let waited = self.0.changed.wait_timeout_while(self.lock(), time, |requested| !*requested);
        *waited.unwrap_or_else(PoisonError::into_inner).0
    }

    /// A flag has no broken states, so a panic elsewhere while it was held does not matter.
    fn lock(&self) -> MutexGuard<'_, bool> {
        self.0.requested.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A wait that is not interrupted does not end the test.
    const LONG: Duration = Duration::from_secs(24 * 3600);

    #[test]
    fn clone_is_the_same_request() {
        let stop = Stop::never();
        let clone = stop.clone();
        assert!(!clone.requested() && clone.flow().is_continue());
        stop.request();
        assert!(clone.requested() && clone.flow().is_break());
    }

    #[test]
    fn wait_returns_at_its_timeout() {
        assert!(!Stop::never().wait(Duration::from_millis(5)));
    }

    #[test]
    fn wait_returns_at_once_on_a_stop_request() {
        let stop = Stop::never();
        std::thread::scope(|scope| {
            scope.spawn(|| assert!(stop.wait(LONG)));
            stop.request();
        });
        assert!(stop.wait(LONG));
    }
}
