//! Which segments are merged, and which a merged one stands for.

use std::cmp::Reverse;
use std::ops::Range;
use std::sync::Arc;

use evalcache::{Segment, SegmentBytes};

use super::segments::{OpenSegment, SegmentSource};

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

/// Segments that are worth a merge whatever their sizes.
const MANY: usize = 8;

/// Which segments are merged.
#[derive(Clone, Copy)]
pub(super) struct Mergeable {
    /// The next segment has at most so many times as many evaluations as those before together.
    pub(super) ratio: u64,
    /// Evaluations of a merged segment, and its bytes. A merge has the bytes twice in memory, and 32 more for each
    /// evaluation; a segment has at most 4 GiB.
    pub(super) entries: u64,
    pub(super) bytes: u64,
}

impl Mergeable {
    /// All that are small enough, for a command that does nothing else.
    pub(super) const ALL: Mergeable = Mergeable { ratio: u64::MAX, entries: 4_000_000, bytes: 1 << 30 };
    /// Those that are merged of their own accord, so that evaluations are written again only a few times, and a process
    /// that does other things does not run out of memory. A slow line takes 256 MiB to a bucket before the request
    /// fails.
    pub(super) const SIMILAR: Mergeable = Mergeable { ratio: 2, bytes: 256 << 20, ..Mergeable::ALL };

    /// Similar ones that are merged in a moment, for processes that may be over soon.
    pub(super) const SMALL: Mergeable = Mergeable { bytes: 32 << 20, ..Mergeable::SIMILAR };

    /// The longest run of segments that one may replace; of equal runs the first. The sizes are evaluations, which
    /// ascend, and bytes.
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

    /// Whether segments of these sizes are worth a merge: they are many, or fill half of a segment at least. Of exact
    /// evaluations fewer fit into one than are many.
    fn is_worth(self, sizes: &[(u64, u64)]) -> bool {
        let (entries, bytes) = total(sizes);
        sizes.len() >= MANY || sizes.len() >= 2 && (2 * entries >= self.entries || 2 * bytes >= self.bytes)
    }
}

/// The segments that a merge takes: as many as fit together, in order of size.
pub(super) fn mergeable(open: &[Arc<OpenSegment>], most: Mergeable) -> Vec<Arc<OpenSegment>> {
    let mut all = open.to_vec();
    all.sort_by_key(|one| (one.segment.head().entries, one.number));
    let run = most.longest(&sizes(&all));
    all[run].to_vec()
}

/// Whether the segments that a merge takes are worth it.
pub(super) fn is_merge_due(open: &[Arc<OpenSegment>], most: Mergeable) -> bool {
    most.is_worth(&sizes(&mergeable(open, most)))
}

/// The evaluations and the bytes of each of these segments.
pub(super) fn sizes(segments: &[Arc<OpenSegment>]) -> Vec<(u64, u64)> {
    segments.iter().map(|one| (one.segment.head().entries, one.segment.source().size())).collect()
}

/// Those of all together.
pub(super) fn total(sizes: &[(u64, u64)]) -> (u64, u64) {
    sizes.iter().fold((0, 0), |(entries, bytes), size| (entries + size.0, bytes + size.1))
}

/// The segments that one of this number stands for: older ones only. It names others where its set was deleted before
/// its put, or by error.
pub(super) fn replaced_by(number: u32, segment: &Segment<SegmentSource>) -> impl Iterator<Item = u32> {
    segment.head().replaces.iter().copied().filter(move |&other| other < number)
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

    #[test]
    fn segments_are_merged_that_are_many_or_fill_half_of_one() {
        let is_worth = |count: usize, entries: u64, each: u64| {
            Mergeable::SIMILAR.is_worth(&vec![(entries, each * entries); count])
        };
        assert!(is_worth(8, 10, 64) && !is_worth(7, 200_000, 64));
        assert!(is_worth(2, 1_600_000, 54) && !is_worth(1, 3_900_000, 54));
        assert!(is_worth(4, 200_000, 269) && !is_worth(2, 200_000, 269), "exact evaluations");
        assert!(!is_worth(0, 0, 0));
    }
}
