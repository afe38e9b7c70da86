//! What the shuffler reports.

use store::{Manifest, ResignThreshold};

/// Something that the driver reports.
#[derive(Clone, Debug)]
pub enum Event {
    /// The run exists, and work begins.
    Ready,
    /// There are games that were not there before.
    Games {
        /// When the newest were published, in milliseconds since 1970.
        time: u64,
        /// When the newest held-out games were published; `None` when the newest models have none.
        holdout: Option<u64>,
    },
    /// The resign threshold was computed; `None` while there are too few games.
    Calibrated(Option<ResignThreshold>),
    /// It waits for games, or makes the shards since there are enough, or waits for the next model.
    Waiting {
        /// The newest model; 0 is `random`.
        model: u32,
        /// Its games.
        games: usize,
        /// Its games that the next generation needs.
        wanted: usize,
        /// Whether the shards of the next generation are published.
        published: bool,
    },
    /// Shards were published.
    Published(Box<Manifest>),
}
