//! New evaluations: in memory first, then in a segment.

use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant};

use bytes::Bytes;
use evalcache::{Key, segment};

use super::error::EvaluationCacheError;
use super::mergeable::{Mergeable, replaced_by};
use super::recent::Codes;
use super::segments::OpenSegment;
use super::shared::{MOST_IN_MEMORY, Shared};

/// How long evaluations are in memory at most while others are added.
pub(super) const PUBLISH_AFTER: Duration = Duration::from_secs(60);
/// Evaluations in memory at most, where the store is slow or refuses them.
pub(super) const MOST_UNPUBLISHED: usize = 2 * MOST_IN_MEMORY;

impl Shared {
    /// Keeps a new evaluation in memory, unless there are too many: games need none of them. When it is time, the
    /// background publishes them and merges segments.
    pub(super) fn keep(self: &Arc<Self>, key: Key, code: &[u8]) {
        let many = {
            let mut recent = self.recent.write().unwrap_or_else(PoisonError::into_inner);
            if recent.len() < MOST_UNPUBLISHED {
                recent.put(key, code);
            }
            recent.len() >= self.due.load(Ordering::Relaxed)
        };
        // A thread that publishes holds it.
        if self.published.try_lock().is_ok_and(|published| many || published.elapsed() > PUBLISH_AFTER) {
            let shared = Arc::clone(self);
            self.upkeep.start("evalcache", move || {
                let published = shared.publish_or_log();
                shared.merge_when_due(published, Mergeable::SIMILAR);
            });
        }
    }

    /// Publishes the evaluations in memory, if there are any, and returns the number of their segment. Where the store
    /// refuses it they stay in memory.
    pub(super) fn publish(&self) -> Result<Option<u32>, EvaluationCacheError> {
        let mut published = self.published.lock().unwrap_or_else(PoisonError::into_inner);
        let done = self.publish_recent();
        *published = Instant::now();
        // After a failure only time counts: a try takes long, and a store that refuses one refuses the next.
        self.due.store(if done.is_ok() { MOST_IN_MEMORY } else { usize::MAX }, Ordering::Relaxed);
        done
    }

    pub(super) fn publish_or_log(&self) -> Option<u32> {
        self.publish().unwrap_or_else(|error| {
            self.metrics.errors.increment(1);
            tracing::warn!(%error, "evaluations cannot be published");
            None
        })
    }

    /// Publishes what a publication that failed has kept, and then what was added since that began.
    fn publish_recent(&self) -> Result<Option<u32>, EvaluationCacheError> {
        let mut number = None;
        let failed = self.recent.read().unwrap_or_else(PoisonError::into_inner).publishing();
        if let Some(codes) = failed {
            number = Some(self.publish_codes(&codes)?);
        }
        if let Some(codes) = self.begin_publication() {
            number = Some(self.publish_codes(&codes)?);
        }
        Ok(number)
    }

    /// The evaluations that were added, if there are any. The thread that publishes allocates the buffers of the next
    /// ones, and not while it has the lock: searches wait for that.
    fn begin_publication(&self) -> Option<Arc<Codes>> {
        let capacity = {
            let recent = self.recent.read().unwrap_or_else(PoisonError::into_inner);
            (recent.added.len() > 0).then(|| recent.added.capacity())?
        };
        let empty = Codes::with_capacity(capacity);
        Some(self.recent.write().unwrap_or_else(PoisonError::into_inner).begin_publication(empty))
    }

    fn publish_codes(&self, codes: &Codes) -> Result<u32, EvaluationCacheError> {
        let bytes = segment::write(self.set, &self.tables, &[], &codes.sorted())?;
        let number = self.publish_segment(&bytes.into())?;
        self.recent.write().unwrap_or_else(PoisonError::into_inner).end_publication();
        tracing::debug!(segment = number, "published evaluations");
        Ok(number)
    }

    /// Publishes a segment under a number that none has had before, opens it, and returns the number.
    ///
    /// A number is free again when its segment was merged and deleted. A writer that listed the segments before that
    /// number was taken, and is late with its put, then gets it, and others take its segment for the one that was
    /// merged: they ignore and delete it. So the segments are listed again after the put, and the segment is published
    /// again if the number was used.
    ///
    /// How that shows: the highest number of all times is always in use, since only a segment with a higher number
    /// replaces one. So this number is new if the list has no higher one. Otherwise, if it was used, a segment that
    /// names it was there before the put. It is there still, or one that names it, and so on; in any case one that
    /// names this number or a higher one. If there is none, no process has a reason to delete this number.
    ///
    /// A new number counts as used, too, where others publish and merge later segments before that list. Its segment is
    /// then published twice, and the next merge has each evaluation once. Numbers that are never used again, such as
    /// random ones, would need another format.
    pub(super) fn publish_segment(&self, bytes: &Bytes) -> Result<u32, EvaluationCacheError> {
        loop {
            let number = self.segments.publish(bytes)?;
            self.metrics.written.increment(bytes.len() as u64);
            match self.open_published(number) {
                Ok(true) => return Ok(number),
                Ok(false) => tracing::debug!(segment = number, "segment published again: its number was used before"),
                // If its number was used, which is rare, its evaluations are made again. No search waits for a store
                // that has just failed, so the background opens it after a miss.
                Err(error) => {
                    self.metrics.errors.increment(1);
                    self.refresh_soon();
                    tracing::warn!(%error, segment = number, "segment of the evaluation cache published, but not opened");
                    return Ok(number);
                }
            }
        }
    }

    /// Opens a segment that was just published, and returns whether none has had its number before.
    fn open_published(&self, number: u32) -> Result<bool, EvaluationCacheError> {
        let is_last = self.segments.numbers()?.last() == Some(&number);
        self.refresh_locked(self.refreshed.lock().unwrap_or_else(PoisonError::into_inner), Some(number))?;
        if is_last {
            return Ok(true);
        }
        if self.outdated.load(Ordering::Relaxed) {
            self.refresh()?;
        }
        let is_used = |one: &Arc<OpenSegment>| replaced_by(one.number, &one.segment).any(|other| other >= number);
        Ok(!self.opened().iter().any(is_used))
    }
}
