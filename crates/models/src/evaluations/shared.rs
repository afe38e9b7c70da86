//! What the threads of a process know of one set: those that search, and those in the background.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::Instant;

use evalcache::{Key, ReadError, Segment, Set, Tables, segment};
use store::Evaluations;

use super::background::Background;
use super::error::EvaluationCacheError;
use super::measured::{Held, Metrics};
use super::recent::Recent;
use super::segments::{OpenSegment, SegmentSource, is_gone, is_unreachable};
use crate::first::is_first;

/// Evaluations in memory that make a segment.
pub(super) const MOST_IN_MEMORY: usize = 200_000;

/// The evaluations of one set.
pub(super) struct Shared {
    pub(super) segments: Evaluations,
    pub(super) set: Set,
    pub(super) tables: Arc<Tables>,
    /// The lock is held for a moment, and for no request: a lookup has a list of its own.
    pub(super) open: RwLock<Arc<[Arc<OpenSegment>]>>,
    pub(super) recent: RwLock<Recent>,
    /// When evaluations were published last, or were to be; the thread that publishes holds it.
    pub(super) published: Mutex<Instant>,
    /// Evaluations in memory with which they are published next.
    pub(super) due: AtomicUsize,
    /// The thread that looks for segments holds it.
    pub(super) refreshed: Mutex<Refreshed>,
    /// Whether a segment is gone since.
    pub(super) outdated: AtomicBool,
    /// Whether a read could not reach the store, which is logged once; of a bucket, since it was listed last.
    away: AtomicBool,
    /// Whether a read from the store failed otherwise, which is logged once.
    failed: AtomicBool,
    /// Whether the process has no use for the cache any more.
    pub(super) closed: AtomicBool,
    /// Publications and refreshes.
    pub(super) upkeep: Background,
    pub(super) merges: Background,
    pub(super) metrics: Metrics,
}

/// What is known of segments that are not open.
pub(super) struct Refreshed {
    /// When they were last looked for.
    pub(super) at: Instant,
    /// Those that are not used: unreadable ones, and those of other sets. They are not opened again while they are
    /// listed.
    pub(super) omitted: Vec<u32>,
}

impl Shared {
    /// Those of a set, without its segments.
    pub(super) fn new(segments: Evaluations, set: Set, tables: Arc<Tables>) -> Shared {
        Shared {
            segments,
            set,
            tables,
            open: RwLock::default(),
            recent: RwLock::default(),
            published: Mutex::new(Instant::now()),
            due: AtomicUsize::new(MOST_IN_MEMORY),
            refreshed: Mutex::new(Refreshed { at: Instant::now(), omitted: Vec::new() }),
            outdated: AtomicBool::new(false),
            away: AtomicBool::new(false),
            failed: AtomicBool::new(false),
            closed: AtomicBool::new(false),
            upkeep: Background::default(),
            merges: Background::default(),
            metrics: Metrics::new(),
        }
    }

    /// The segments that are open now.
    pub(super) fn opened(&self) -> Arc<[Arc<OpenSegment>]> {
        Arc::clone(&self.open.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Whether a segment is of this set; others are logged.
    pub(super) fn fits(&self, number: u32, segment: &Segment<SegmentSource>) -> bool {
        let fits = segment.head().set == self.set && segment.head().tables.digest() == self.tables.digest();
        let segment = self.segments.name(number);
        if !fits && is_first(format!("set of {segment}")) {
            tracing::warn!(segment, "segment of another set omitted");
        }
        fits
    }

    pub(super) fn segment_error(&self, number: u32, source: ReadError) -> EvaluationCacheError {
        EvaluationCacheError::Segment { path: self.segments.name(number), source }
    }

    /// Reads the code of a key from the new evaluations or from a segment into `buffer`, and returns where it is there.
    pub(super) fn find(&self, key: Key, buffer: &mut Vec<u8>) -> Option<Range<usize>> {
        if let Some(found) = self.recent.read().unwrap_or_else(PoisonError::into_inner).get(key) {
            buffer.clear();
            buffer.extend_from_slice(found);
            return Some(0..found.len());
        }
        let open = self.opened();
        for one in open.iter() {
            if self.is_away() {
                return None;
            }
            match one.segment.get(key, buffer) {
                Ok(Some(code)) => return Some(code),
                Ok(None) => {}
                Err(error) => self.log(one, &error),
            }
        }
        None
    }

    /// Whether the segments are in a bucket that could not be reached. Each try takes half a minute, and an evaluation
    /// is made again in a moment.
    fn is_away(&self) -> bool {
        self.away.load(Ordering::Relaxed) && self.segments.are_in_a_bucket()
    }

    /// Notes that the store was listed: a bucket can be read again.
    pub(super) fn reached(&self) {
        if self.is_away() {
            self.away.store(false, Ordering::Relaxed);
        }
    }

    /// Logs the damage that a segment shows when it is opened, once a process: matches open their players often. No
    /// lookup reports it: those in blocks with damaged filters are misses.
    pub(super) fn log_opened(&self, number: u32, opened: &Segment<SegmentSource>) {
        let segment = self.segments.name(number);
        if let Some(error) = opened.head_damage()
            && is_first(format!("head of {segment}"))
        {
            tracing::warn!(segment, %error, "segment of the evaluation cache is damaged, and in use");
        }
        let blocks = opened.damaged_blocks();
        if blocks > 0 && is_first(format!("filters of {segment}")) {
            tracing::warn!(segment, blocks, "blocks of the evaluation cache have damaged filters, and are not used");
        }
    }

    /// Logs damage once a block, a store that cannot be reached once, and other failures of it once. Notes a store that
    /// cannot be reached, and a segment that is gone.
    fn log(&self, one: &OpenSegment, error: &ReadError) {
        if is_gone(error) {
            self.outdated.store(true, Ordering::Relaxed);
            return;
        }
        self.metrics.errors.increment(1);
        let is_logged = match error {
            ReadError::Damaged { reason: segment::KNOWN, .. } => true,
            error if is_unreachable(error) => self.away.swap(true, Ordering::Relaxed),
            ReadError::Source(_) => self.failed.swap(true, Ordering::Relaxed),
            _ => false,
        };
        if !is_logged {
            let segment = self.segments.name(one.number);
            tracing::warn!(segment, %error, "evaluations cannot be read from the cache");
        }
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        self.metrics.hold(Held::of(&self.opened()), Held::default());
    }
}
