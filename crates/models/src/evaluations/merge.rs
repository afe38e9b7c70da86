//! Merges of segments.

use std::ops::ControlFlow;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError};

use evalcache::ReadError;
use evalcache::segment::Merged;

use super::error::EvaluationCacheError;
use super::mergeable::{Mergeable, MergedSegments, is_merge_due, mergeable, replaced_by, sizes, total};
use super::segments::{OpenSegment, is_gone, open_segment};
use super::shared::Shared;

/// The writer of every eighth segment merges, if that is worth it, and who opens the set next: the writer may be over
/// by then. Of hundreds of processes that share a set, most would merge the same segments at the same time otherwise.
const MERGE: u32 = 8;

/// Caches of a process merge one after the other in the background, since each merge takes memory.
static MERGING: Mutex<()> = Mutex::new(());

impl Shared {
    /// Merges segments in the background, if the `last` one has the number for that. The end of the process does not
    /// wait for it: a merge that does not come to its end loses nothing, and a later one takes the same segments.
    pub(super) fn merge_when_due(self: &Arc<Self>, last: Option<u32>, most: Mergeable) {
        let is_merger = last.is_some_and(|number| number.is_multiple_of(MERGE)) && !self.is_closed();
        if is_merger && is_merge_due(&self.opened(), most) {
            let shared = Arc::clone(self);
            self.merges.start("evalcache-merge", move || shared.merge_or_log(most));
        }
    }

    pub(super) fn merge_or_log(&self, most: Mergeable) {
        let _one = MERGING.lock().unwrap_or_else(PoisonError::into_inner);
        // Of exact evaluations several merges are due at once. One that waited may not be due any more.
        let while_due = |_: &MergedSegments| match is_merge_due(&self.opened(), most) {
            true => ControlFlow::Continue(()),
            false => ControlFlow::Break(()),
        };
        let merged = self.refresh().and_then(|()| self.merge_all(most, &while_due));
        if let Err(error) = merged {
            self.metrics.errors.increment(1);
            tracing::warn!(%error, "segments of the evaluation cache cannot be merged; no evaluations are lost");
        }
    }

    fn is_closed(&self) -> bool {
        self.closed.load(Ordering::Relaxed)
    }

    /// Merges until nothing fits together, or `progress` breaks. It sees what was done before each merge, of which a
    /// large set takes many.
    pub(super) fn merge_all(
        &self,
        most: Mergeable,
        progress: &dyn Fn(&MergedSegments) -> ControlFlow<()>,
    ) -> Result<MergedSegments, EvaluationCacheError> {
        let mut all = MergedSegments::default();
        while progress(&all).is_continue() {
            let done = self.merge(most)?;
            all.merged += done.merged;
            all.evaluations += done.evaluations;
            all.deleted += done.deleted;
            all.damaged += done.damaged;
            if done.merged == 0 {
                break;
            }
        }
        Ok(all)
    }

    /// Merges as many segments as fit together, and deletes what killed writers abandoned.
    ///
    /// The merged segment names those that it stands for and is published first, so that a process that is killed
    /// leaves everything in one segment at least; the next compaction deletes what was left over.
    pub(super) fn merge(&self, most: Mergeable) -> Result<MergedSegments, EvaluationCacheError> {
        if self.is_closed() {
            return Ok(MergedSegments::default());
        }
        // No merge needs it.
        if let Err(error) = self.segments.sweep() {
            tracing::warn!(%error, "segments of killed writers cannot be deleted");
        }
        let mut done = MergedSegments { deleted: self.delete_replaced()?, ..MergedSegments::default() };
        self.refresh()?;
        let chosen = mergeable(&self.opened(), most);
        if chosen.len() < 2 {
            return Ok(done);
        }
        let Some(mut merged) = self.read_all(&chosen)? else { return Ok(done) };
        let numbers: Vec<u32> = chosen.iter().map(|one| one.number).collect();
        let bytes = merged.write(self.set, &self.tables, &numbers)?;
        let (evaluations, damaged) = (merged.entries() as u64, merged.damaged.len());
        drop(merged);
        if self.is_closed() {
            return Ok(done);
        }
        self.publish_segment(&bytes.into())?;
        done = MergedSegments { merged: numbers.len(), evaluations, damaged, ..done };
        done.deleted += self.delete_replaced()?;
        self.refresh()?;
        Ok(done)
    }

    /// The evaluations of these segments; `None` where another process merges them, or this one needs them no more.
    fn read_all(&self, chosen: &[Arc<OpenSegment>]) -> Result<Option<Merged>, EvaluationCacheError> {
        let (entries, bytes) = total(&sizes(chosen));
        let mut merged = Merged::with_capacity(entries as usize, bytes as usize);
        for one in chosen {
            if self.is_closed() {
                return Ok(None);
            }
            match merged.add(&one.segment) {
                Err(error) if is_gone(&error) => return Ok(None),
                added => added.map_err(|source| self.segment_error(one.number, source))?,
            }
        }
        for damage in &merged.damaged {
            tracing::warn!(error = %damage, "block of the evaluation cache omitted");
        }
        Ok(Some(merged))
    }

    /// Deletes segments that a readable one stands for which is not replaced itself.
    ///
    /// A merged segment that got a used number is replaced by one that does not have its evaluations. If its process is
    /// killed before it publishes it again, those that it stands for have to stay. So nothing is deleted where a listed
    /// segment cannot be asked, since it is gone: it may be one that replaced another.
    ///
    /// Opening one reads its filters, which are megabytes. Of one that is open it is enough that the store still has
    /// it: where a set was deleted and begun anew, another one has its number.
    fn delete_replaced(&self) -> Result<usize, EvaluationCacheError> {
        let numbers = self.segments.numbers()?;
        let open = self.opened();
        let mut replaced: Vec<u32> = Vec::new();
        for &number in numbers.iter().rev() {
            if replaced.contains(&number) {
                continue;
            }
            if let Some(one) = open.iter().find(|one| one.number == number)
                && one.segment.source().0.is_current()?
            {
                replaced.extend(replaced_by(number, &one.segment));
                continue;
            }
            match open_segment(&self.segments, number) {
                Ok(None) => return Ok(0),
                Ok(Some(segment)) if self.fits(number, &segment) => replaced.extend(replaced_by(number, &segment)),
                Ok(Some(_)) => {}
                Err(EvaluationCacheError::Segment { source: ReadError::NoSegment(_), .. }) => {}
                Err(error) => return Err(error),
            }
        }
        let mut deleted = 0;
        for &number in numbers.iter().filter(|number| replaced.contains(number)) {
            self.segments.delete(number)?;
            deleted += 1;
        }
        Ok(deleted)
    }
}
