//! What a monitor knows of a cache.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use evalcache::SegmentBytes;
use metrics::{Counter, Gauge};
use runtime::metrics::{
    EVALCACHE_BYTES, EVALCACHE_ERRORS, EVALCACHE_EVALUATIONS, EVALCACHE_HITS, EVALCACHE_MISSES, EVALCACHE_WRITTEN,
};

use super::segments::OpenSegment;

/// Lookups that a metric gets at once. A number of all threads is written with each lookup already.
const AT_ONCE: u64 = 256;

/// The metrics.
pub(super) struct Metrics {
    pub(super) hits: CountedLookups,
    pub(super) misses: CountedLookups,
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
            hits: CountedLookups::new(EVALCACHE_HITS.handle()),
            misses: CountedLookups::new(EVALCACHE_MISSES.handle()),
            errors: EVALCACHE_ERRORS.handle(),
            written: EVALCACHE_WRITTEN.handle(),
            evaluations: EVALCACHE_EVALUATIONS.handle(),
            bytes: EVALCACHE_BYTES.handle(),
        }
    }

    /// Other segments are open than before.
    pub(super) fn hold(&self, before: Held, after: Held) {
        self.evaluations.increment(after.evaluations as f64 - before.evaluations as f64);
        self.bytes.increment(after.bytes as f64 - before.bytes as f64);
    }
}

/// Lookups of one result, all of which a metric has once the cache is closed.
pub(super) struct CountedLookups {
    count: AtomicU64,
    metric: Counter,
}

impl CountedLookups {
    fn new(metric: Counter) -> CountedLookups {
        CountedLookups { count: AtomicU64::new(0), metric }
    }

    /// One more.
    pub(super) fn note(&self) {
        if (self.count.fetch_add(1, Ordering::Relaxed) + 1).is_multiple_of(AT_ONCE) {
            self.metric.increment(AT_ONCE);
        }
    }

    pub(super) fn count(&self) -> u64 {
        self.count.load(Ordering::Relaxed)
    }

    /// The metric gets the rest. It was the last lookup.
    pub(super) fn close(&self) {
        self.metric.increment(self.count() % AT_ONCE);
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
