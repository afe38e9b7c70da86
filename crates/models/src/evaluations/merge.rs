//! Merges of segments, and which are merged.

use std::cmp::Reverse;
use std::ops::Range;
use std::sync::Arc;

use evalcache::segment::Merged;
use evalcache::{ReadError, Segment, Source};

use super::{EvaluationCache, EvaluationCacheError, OpenSegment, SegmentSource, is_gone, open_segment};

/// The result of a compaction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MergedSegments {
    /// Segments that were merged.
    pub merged: usize,
    /// Evaluations in the segments that were written.
    pub evaluations: u64,
    /// Segments deleted, those that another one stood for already included.
    pub deleted: usize,
    /// Blocks that could not be read, whose evaluations are lost.
    pub damaged: usize,
}

/// Which segments are merged.
#[derive(Clone, Copy)]
pub(super) struct Mergeable {
    /// The next segment has at most so many times as many evaluations as those before together.
    pub(super) ratio: u64,
    /// Evaluations of a merged segment, and its bytes. A merge has both in memory; a segment has at most 4 GiB.
    pub(super) entries: u64,
    pub(super) bytes: u64,
}

impl Mergeable {
    /// All that are small enough.
    pub(super) const ALL: Mergeable = Mergeable { ratio: u64::MAX, entries: 4_000_000, bytes: 1 << 30 };
    /// Those that are merged of their own accord, so that evaluations are written again only a few times.
    pub(super) const SIMILAR: Mergeable = Mergeable { ratio: 2, ..Mergeable::ALL };

    /// The longest run of segments that one may replace; of equal runs the first. The sizes are evaluations, which ascend,
    /// and bytes.
    pub(super) fn longest(self, sizes: &[(u64, u64)]) -> Range<usize> {
        let runs = (0..sizes.len()).map(|start| start..start + self.fitting(&sizes[start..]));
        runs.min_by_key(|run| Reverse(run.len())).unwrap_or_default()
    }

    /// How many of these, from the first on, one may replace.
    fn fitting(self, sizes: &[(u64, u64)]) -> usize {
        let (mut entries, mut bytes) = (0, 0);
        let fits = |&&(more, size): &&(u64, u64)| {
            let is_similar = entries == 0 || more <= self.ratio.saturating_mul(entries);
            entries += more;
            bytes += size;
            is_similar && entries <= self.entries && bytes <= self.bytes
        };
        sizes.iter().take_while(fits).count()
    }
}

/// The segments that a merge takes: as many as fit together, in order of size.
pub(super) fn mergeable(open: &[Arc<OpenSegment>], most: Mergeable) -> Vec<Arc<OpenSegment>> {
    let mut all = open.to_vec();
    all.sort_by_key(|one| (one.segment.head().entries, one.number));
    let size = |one: &Arc<OpenSegment>| (one.segment.head().entries, one.segment.source().size());
    let sizes: Vec<(u64, u64)> = all.iter().map(size).collect();
    all[most.longest(&sizes)].to_vec()
}

/// The segments that one of this number stands for: older ones only. It names others where its set was deleted before its put, or
/// by error.
pub(super) fn replaced_by(number: u32, segment: &Segment<SegmentSource>) -> impl Iterator<Item = u32> {
    segment.head().replaces.iter().copied().filter(move |&other| other < number)
}

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

    /// Merges as many segments as fit together.
    pub(super) fn merge(&self, most: Mergeable) -> Result<MergedSegments, EvaluationCacheError> {
        let mut done = MergedSegments { deleted: self.delete_replaced()?, ..MergedSegments::default() };
        self.refresh()?;
        // The lock is not held while they are read: a refresh would wait for it, and all lookups for the refresh.
        let chosen = mergeable(&self.opened(), most);
        if chosen.len() < 2 {
            return Ok(done);
        }
        let (mut merged, mut numbers) = (Merged::default(), Vec::new());
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
    fn delete_replaced(&self) -> Result<usize, EvaluationCacheError> {
        let numbers = self.segments.numbers()?;
        let mut replaced: Vec<u32> = Vec::new();
        for &number in numbers.iter().rev() {
            if replaced.contains(&number) {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn segments_that_cannot_grow_hinder_no_merge() {
        let of = |entries: u64| (entries, 64 * entries);
        let full = vec![of(3_900_000); 25];
        let longest = |small: &[(u64, u64)]| Mergeable::SIMILAR.longest(&[small, full.as_slice()].concat());
        assert_eq!(longest(&[of(200_000); 2]), 0..2);
        assert_eq!(longest(&[of(200_000); 8]), 0..8);
        assert_eq!(longest(&[]).len(), 1);
        // One that is much smaller waits for others like it.
        assert_eq!(longest(&[&[of(10)][..], &[of(200_000); 8]].concat()), 1..9);
        assert_eq!(Mergeable::SIMILAR.longest(&[]), 0..0);
    }
}
