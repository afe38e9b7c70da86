//! What goes into the state machine, and what comes out of it.

use std::time::Duration;

/// Time since the pool began.
pub(crate) type Time = Duration;

/// A connection to a server. Events of earlier connections to it are ignored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Connection {
    /// The place of the server in the list.
    pub(crate) server: usize,
    /// Counts the connections to this server.
    pub(crate) generation: u64,
}

/// Something that happened on a connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Event {
    /// The server has returned the greeting, and says who it is. So many positions may be outstanding, and be in a
    /// batch.
    Welcome { credit: u32, most: u32, server: String },
    /// So many positions may be outstanding from now on. A server says so every [`LIVENESS`](crate::LIVENESS) while
    /// batches are outstanding.
    Credit { credit: u32 },
    /// The response to an attempt.
    Answer { attempt: u64, reply: Reply },
    /// The connection cannot be made, has failed or has ended.
    Gone { problem: String },
}

/// A response without its numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Reply {
    /// The batch is evaluated.
    Evaluated,
    /// The server is full; it may be tried again after this time.
    Exhausted { retry_after: Option<Duration>, reason: String },
    /// The server cannot load the model for now, or its device failed; it may be tried again after this time. Other
    /// batches are not concerned.
    Later { retry_after: Duration, reason: String },
    /// The deadline passed before the server came to evaluate the batch.
    Expired,
    /// This server cannot evaluate the batch; another one may.
    Refused { reason: String },
    /// No server can evaluate the batch.
    Invalid { reason: String },
    /// The server shuts down.
    Draining,
}

/// Something that the caller has to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Action {
    /// Connect and greet. The server counts as failed unless [`Event::Welcome`] follows in time.
    Connect(Connection),
    /// Close the connection, whose events are ignored from then on.
    Close(Connection),
    /// Send a batch. The server may drop it unevaluated after the deadline; without one it must not.
    Send { connection: Connection, attempt: u64, batch: u64, deadline: Option<Duration> },
    /// A batch is done. It is forgotten, so each batch has this once.
    Done { batch: u64, outcome: Outcome },
    /// A server is in another state.
    Changed { server: usize, state: State },
}

/// The end of a batch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// The response that was just reported is that of the batch.
    Answered,
    /// The caller evaluates it, for no server can.
    Local,
    /// It cannot be evaluated.
    Failed(Failure),
}

/// Why a batch cannot be evaluated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Failure {
    /// No server evaluated the batch for so long.
    NoServer { waited: Duration },
    /// Every server that was up lately has refused the batch, this one for this reason.
    Refused { server: usize, reason: String },
    /// A server takes batches of so many positions only.
    TooLarge { most: u32 },
    /// A server has found that the batch is invalid.
    Invalid { server: usize, reason: String },
}

/// The state of a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    /// There is no connection. The next one is tried at this time.
    Down { until: Time },
    /// A connection is being made, until this time at most.
    Probing { until: Time },
    /// It responds. Servers of other tiers, and of its own, take precedence until its trial is over.
    Up { since: Time, settled: Time },
    /// It has not responded in time, and there is a connection. One that was silent is up with the next message, any
    /// other with the next response.
    Suspect { since: Time, silent: bool },
}
