//! Segments that others publish and delete.

use std::cmp::Reverse;
use std::sync::atomic::Ordering;
use std::sync::{Arc, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use evalcache::ReadError;

use super::error::EvaluationCacheError;
use super::measured::Held;
use super::mergeable::replaced_by;
use super::segments::{OpenSegment, open_segment};
use super::shared::{Refreshed, Shared};
use crate::first::is_first;

/// How long segments of other processes are not seen.
pub(super) const REFRESH_AFTER: Duration = Duration::from_secs(60);
/// Lists of a refresh at most. Each after the first means that a compaction deleted segments since the one before.
pub(super) const LISTS: u32 = 3;

/// What the last of several lists of the store has.
#[derive(Default)]
struct Listed {
    numbers: Vec<u32>,
    /// Those that were not open before the first list.
    found: Vec<Arc<OpenSegment>>,
    /// Whether a segment was gone before it was opened: it was merged into one that the next list has.
    gone: bool,
}

impl Shared {
    /// Opens the segments that others have published, and forgets those that are gone.
    pub(super) fn refresh(&self) -> Result<(), EvaluationCacheError> {
        self.refresh_locked(self.refreshed.lock().unwrap_or_else(PoisonError::into_inner), None)
    }

    /// The same when a segment is gone, unless another thread does it, and returns whether it was done; after a while
    /// in the background. A store that tells that a segment is gone can be reached. Another one takes half a minute to
    /// fail, for which no search waits.
    pub(super) fn refresh_when_due(self: &Arc<Self>) -> bool {
        let Ok(refreshed) = self.refreshed.try_lock() else { return false };
        if self.outdated.load(Ordering::Relaxed) {
            return self.refresh_or_log(refreshed);
        }
        if refreshed.at.elapsed() >= REFRESH_AFTER {
            drop(refreshed);
            let shared = Arc::clone(self);
            self.upkeep.start("evalcache", move || {
                shared.refresh_or_log(shared.refreshed.lock().unwrap_or_else(PoisonError::into_inner));
            });
        }
        false
    }

    /// Has the next miss look for segments in the background.
    pub(super) fn refresh_soon(&self) {
        let mut refreshed = self.refreshed.lock().unwrap_or_else(PoisonError::into_inner);
        // A machine that has just started has no such time: its next refresh is due by itself.
        refreshed.at = refreshed.at.checked_sub(REFRESH_AFTER).unwrap_or(refreshed.at);
    }

    fn refresh_or_log(&self, refreshed: MutexGuard<'_, Refreshed>) -> bool {
        let done = self.refresh_locked(refreshed, None);
        if let Err(error) = &done {
            self.metrics.errors.increment(1);
            tracing::warn!(%error, "segments of the evaluation cache cannot be listed");
        }
        done.is_ok()
    }

    /// Lookups go on meanwhile. If the number of the segment just `published` is known, that one was deleted by hand.
    pub(super) fn refresh_locked(
        &self,
        mut refreshed: MutexGuard<'_, Refreshed>,
        published: Option<u32>,
    ) -> Result<(), EvaluationCacheError> {
        refreshed.at = Instant::now();
        self.outdated.store(false, Ordering::Relaxed);
        let is_other = |number: &u32| Some(*number) != published;
        refreshed.omitted.retain(is_other);
        let known: Vec<u32> = self.opened().iter().map(|one| one.number).filter(is_other).collect();
        let mut listed = Listed::default();
        for _ in 0..LISTS {
            self.list(&known, &mut refreshed.omitted, &mut listed)?;
            if !listed.gone {
                break;
            }
        }
        self.reached();
        if listed.gone {
            self.outdated.store(true, Ordering::Relaxed);
        }
        // No other thread changes them: this one has `refreshed`.
        let mut open = self.opened().to_vec();
        let before = Held::of(&open);
        open.retain(|old| is_other(&old.number) && listed.numbers.contains(&old.number));
        open.extend(listed.found);
        // The newest first. One that is replaced itself stands for nothing: see `delete_replaced`.
        open.sort_by_key(|one| Reverse(one.number));
        let mut replaced: Vec<u32> = Vec::new();
        open.retain(|one| {
            let stays = !replaced.contains(&one.number);
            if stays {
                replaced.extend(replaced_by(one.number, &one.segment));
            }
            stays
        });
        self.metrics.hold(before, Held::of(&open));
        *self.open.write().unwrap_or_else(PoisonError::into_inner) = open.into();
        Ok(())
    }

    /// Lists the segments, and opens those that are neither known nor opened by the list before.
    fn list(&self, known: &[u32], omitted: &mut Vec<u32>, listed: &mut Listed) -> Result<(), EvaluationCacheError> {
        let numbers = self.segments.numbers()?;
        self.segments.retain_copies(&numbers);
        omitted.retain(|number| numbers.contains(number));
        listed.found.retain(|one| numbers.contains(&one.number));
        listed.gone = false;
        for &number in numbers.iter().filter(|number| !known.contains(number)) {
            if omitted.contains(&number) || listed.found.iter().any(|one| one.number == number) {
                continue;
            }
            match open_segment(&self.segments, number) {
                Ok(None) => listed.gone = true,
                Ok(Some(mut segment)) if self.fits(number, &segment) => {
                    segment.share_tables(&self.tables);
                    self.log_opened(number, &segment);
                    listed.found.push(Arc::new(OpenSegment { number, segment }));
                }
                Ok(Some(_)) => omitted.push(number),
                Err(error @ EvaluationCacheError::Segment { source: ReadError::NoSegment(_), .. }) => {
                    if is_first(error.to_string()) {
                        tracing::warn!(%error, "segment of the evaluation cache omitted");
                    }
                    omitted.push(number);
                }
                Err(error) => return Err(error),
            }
        }
        listed.numbers = numbers;
        Ok(())
    }
}
