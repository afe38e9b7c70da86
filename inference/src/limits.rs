//! Limits of requests.

use std::time::Duration;

/// Bounds of requests.
#[derive(Clone, Debug)]
pub struct Limits {
    /// Positions that a device evaluates at a time.
    pub batch: usize,
    /// Time that positions wait for a full batch.
    pub wait: Duration,
    /// Positions in a message; [`Limits::largest`] is what clients are promised.
    pub max_positions: usize,
    /// Positions that wait, of all clients.
    pub queue: usize,
    /// Outstanding positions of a stream.
    pub credit: usize,
    /// Connections at the same time.
    pub connections: usize,
    /// A connection whose first call does not come within this time is closed. A call with a wrong token is none.
    pub first_call: Duration,
    /// Streams and calls of a connection at the same time.
    pub streams: u32,
    /// Bytes of a message.
    pub message_bytes: usize,
    /// Bytes of all networks in memory.
    pub memory: u64,
    /// A device that makes a model ready for longer hangs.
    pub stalled_after: Duration,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits::DEFAULT
    }
}

impl Limits {
    /// Those of the CPU, as the command line has them by default.
    pub const DEFAULT: Limits = Limits {
        batch: 64,
        wait: Duration::ZERO,
        max_positions: 2048,
        queue: 65_536,
        credit: 8192,
        connections: 1024,
        first_call: Duration::from_secs(10),
        streams: 64,
        message_bytes: 16 << 20,
        memory: 4 << 30,
        stalled_after: Duration::from_secs(runtime::STALLED_AFTER),
    };

    /// Positions of the largest message that can be accepted: one above the credit or the queue would be refused for
    /// ever.
    pub fn largest(&self) -> usize {
        self.max_positions.min(self.credit).min(self.queue)
    }
}
