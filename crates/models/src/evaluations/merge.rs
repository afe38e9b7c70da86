//! Merges of segments.

use evalcache::ReadError;
use evalcache::segment::Merged;

use super::mergeable::{Mergeable, MergedSegments, mergeable, replaced_by, sizes, total};
use super::segments::{is_gone, open_segment};
use super::{EvaluationCache, EvaluationCacheError};

impl EvaluationCache {
    /// Merges segments into larger ones, and deletes those that another one stands for.
    ///
    /// The merged segment names those that it stands for and is published first, so that a process that is killed leaves
    /// everything in one segment at least; the next compaction deletes what was left over.
    ///
    /// Before each merge, of which a large set takes many, `next` sees what was done, and ends the compaction where it returns
    /// false.
    ///
    /// # Errors
    /// A store that cannot be reached.
    pub fn compact(&self, next: &dyn Fn(&MergedSegments) -> bool) -> Result<MergedSegments, EvaluationCacheError> {
        self.merge_all(Mergeable::ALL, next)
    }

    pub(super) fn merge_all(
        &self,
        most: Mergeable,
        next: &dyn Fn(&MergedSegments) -> bool,
    ) -> Result<MergedSegments, EvaluationCacheError> {
        let mut all = MergedSegments::default();
        while next(&all) {
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
    pub(super) fn merge(&self, most: Mergeable) -> Result<MergedSegments, EvaluationCacheError> {
        // No merge needs it.
        if let Err(error) = self.segments.sweep() {
            tracing::warn!(%error, "segments of killed writers cannot be deleted");
        }
        let mut done = MergedSegments { deleted: self.delete_replaced()?, ..MergedSegments::default() };
        self.refresh()?;
        // The lock is not held while they are read: a refresh would wait for it, and all lookups for the refresh.
        let chosen = mergeable(&self.opened(), most);
        if chosen.len() < 2 {
            return Ok(done);
        }
        let (entries, bytes) = total(&sizes(&chosen));
        let (mut merged, mut numbers) = (Merged::with_capacity(entries as usize, bytes as usize), Vec::new());
        for one in chosen {
            match merged.add(&one.segment) {
                // Another process merges them.
                Err(error) if is_gone(&error) => return Ok(done),
                added => added.map_err(|source| self.segment_error(one.number, source))?,
            }
            numbers.push(one.number);
        }
        done.damaged = merged.damaged.len();
        for damage in &merged.damaged {
            tracing::warn!(error = %damage, "block of the evaluation cache omitted");
        }
        done.merged = numbers.len();
        let bytes = merged.write(self.set, &self.tables, &numbers)?;
        done.evaluations = merged.entries() as u64;
        drop(merged);
        self.publish_segment(&bytes.into())?;
        done.deleted += self.delete_replaced()?;
        self.refresh()?;
        Ok(done)
    }

    /// Deletes segments that a readable one stands for which is not replaced itself.
    ///
    /// A merged segment that got a used number is replaced by one that does not have its evaluations. If its process is killed
    /// before it publishes it again, those that it stands for have to stay. So nothing is deleted where a listed segment cannot
    /// be asked, since it is gone: it may be one that replaced another.
    ///
    /// Opening one reads its filters, which are megabytes. Of one that is open it is enough that the store still has it: where
    /// a set was deleted and begun anew, another one has its number.
    fn delete_replaced(&self) -> Result<usize, EvaluationCacheError> {
        let numbers = self.segments.numbers()?;
        // The lock is not held during requests.
        let open = self.opened().to_vec();
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
