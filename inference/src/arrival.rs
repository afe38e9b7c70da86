//! When a message arrived, and until when its client waits.

use std::time::{Duration, Instant};

/// The transport and the client measure the time of a call, too, and begin a bit earlier.
const TOLERANCE: Duration = Duration::from_millis(20);

/// The arrival of a message. It is made once, so that a batch is of use equally long while it is loaded and while it is
/// queued.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Arrival {
    pub(crate) at: Instant,
    /// When the response is of no use any more; `None`: never.
    pub(crate) deadline: Option<Instant>,
}

impl Arrival {
    /// Of a message whose client waits so long from then on.
    pub(crate) fn new(at: Instant, timeout: Option<Duration>) -> Arrival {
        Arrival { at, deadline: timeout.and_then(|timeout| at.checked_add(timeout)) }
    }

    /// Whether a client that is gone went because its time was up.
    pub(crate) fn is_over(self) -> bool {
        self.deadline.is_some_and(|deadline| deadline <= Instant::now() + TOLERANCE)
    }

    /// Returns at the deadline, or never.
    pub(crate) async fn over(self) {
        match self.deadline {
            Some(deadline) => tokio::time::sleep_until(deadline.into()).await,
            None => std::future::pending().await,
        }
    }
}
