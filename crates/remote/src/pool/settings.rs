//! The times of a pool.

use std::time::Duration;

use runtime::INFERENCE_DEADLINE_MS;

use crate::LIVENESS;

/// Times and limits of a pool.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Settings {
    /// A batch is overdue after this time, and goes to another server as well. Servers that are slower have longer.
    pub(crate) deadline: Duration,
    /// The same for the first batches of a model on a connection: the server may have to load the model, and is not
    /// silent then.
    pub(crate) cold: Duration,
    /// A server with outstanding batches that sends nothing for this time is stopped or cut off: it says something
    /// every [`LIVENESS`].
    pub(crate) silence: Duration,
    /// Time for a connection and its greeting, and for the response to a ping.
    pub(crate) connect: Duration,
    /// The first and the longest pause before a connection is tried again, from its loss or from the beginning of the
    /// last try.
    pub(crate) backoff: [Duration; 2],
    /// A server that comes back is used beside others after it was up for a time between these. Chance spreads its
    /// clients, which a server that was stopped greets all at once.
    pub(crate) settle: [Duration; 2],
    /// Pause after a server was full and gave no hint.
    pub(crate) busy: Duration,
    /// The longest hint that is honoured.
    pub(crate) longest_busy: Duration,
    /// Pause before a batch is offered again to servers that have refused it.
    pub(crate) refused: Duration,
    /// How often a batch is offered to all servers that refuse it.
    pub(crate) rounds: u32,
    /// A connection is closed when a batch is outstanding and the server sends nothing for the first time, or when a
    /// batch had no response for the second: the server may have lost it. Both are below the patience, so that another
    /// has time.
    pub(crate) give_up: [Duration; 2],
    /// A batch fails when no server has evaluated it for this time.
    pub(crate) patience: Duration,
    /// Whether the caller can evaluate batches where no server can.
    pub(crate) local: bool,
}

impl Settings {
    /// The longest pause and the longest time to be trusted add up to less than 2 s: so long a server that is back is
    /// without traffic.
    pub(crate) const DEFAULT: Settings = Settings {
        deadline: Duration::from_millis(INFERENCE_DEADLINE_MS),
        cold: Duration::from_secs(10),
        // Two credits may be late. It is below the deadline, so that a frozen server is noticed first.
        silence: Duration::from_millis(LIVENESS.as_millis() as u64 * 23 / 8),
        connect: Duration::from_millis(500),
        backoff: [Duration::from_millis(100), Duration::from_millis(750)],
        settle: [Duration::from_millis(650), Duration::from_millis(1125)],
        busy: Duration::from_millis(10),
        longest_busy: Duration::from_secs(5),
        refused: Duration::from_secs(1),
        rounds: 3,
        give_up: [Duration::from_secs(60), Duration::from_secs(240)],
        patience: Duration::from_secs(300),
        local: false,
    };
}
