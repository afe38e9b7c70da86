//! What a monitor knows of a cache.

use std::sync::Arc;

use evalcache::SegmentBytes;
use metrics::{Counter, Gauge, counter, gauge};

use super::segments::OpenSegment;

/// The metrics. To find one by its name allocates.
pub(super) struct Metrics {
    pub(super) hits: Counter,
    pub(super) misses: Counter,
    pub(super) errors: Counter,
    /// Bytes of published segments.
    pub(super) written: Counter,
    /// Of the open segments of all caches of this process.
    evaluations: Gauge,
    bytes: Gauge,
}

impl Metrics {
    pub(super) fn new() -> Metrics {
        Metrics {
            hits: counter!("tengen_evalcache_hits_total"),
            misses: counter!("tengen_evalcache_misses_total"),
            errors: counter!("tengen_evalcache_errors_total"),
            written: counter!("tengen_evalcache_written_bytes_total"),
            evaluations: gauge!("tengen_evalcache_evaluations"),
            bytes: gauge!("tengen_evalcache_bytes"),
        }
    }

    /// Other segments are open than before.
    pub(super) fn hold(&self, before: Held, after: Held) {
        self.evaluations.increment(after.evaluations as f64 - before.evaluations as f64);
        self.bytes.increment(after.bytes as f64 - before.bytes as f64);
    }
}

/// What open segments have together.
#[derive(Clone, Copy, Default)]
pub(super) struct Held {
    /// Those that several of them have counted several times.
    pub(super) evaluations: u64,
    pub(super) bytes: u64,
}

impl Held {
    pub(super) fn of(open: &[Arc<OpenSegment>]) -> Held {
        Held {
            evaluations: open.iter().map(|one| one.segment.head().entries).sum(),
            bytes: open.iter().map(|one| one.segment.source().size()).sum(),
        }
    }
}
