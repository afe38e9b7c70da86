//! Segments in a store.

use std::ops::Range;

use evalcache::{ReadError, Segment, SegmentBytes, SourceError};
use store::{Evaluations, SegmentFile, StoreError};

use super::error::EvaluationCacheError;

/// A segment of the store.
pub(super) struct OpenSegment {
    pub(super) number: u32,
    pub(super) segment: Segment<SegmentSource>,
}

/// The bytes of a segment in a store.
pub struct SegmentSource(pub SegmentFile);

impl SegmentBytes for SegmentSource {
    fn size(&self) -> u64 {
        self.0.size()
    }

    fn read(&self, at: u64, into: &mut [u8]) -> Result<(), SourceError> {
        Ok(self.0.read(at, into)?)
    }

    fn drop_copies(&self, bytes: Range<u64>) -> bool {
        let dropped = self.0.drop_copies(bytes);
        if dropped {
            tracing::warn!("damaged local copies of a segment dropped; the bucket is read again");
        }
        dropped
    }
}

/// Whether a segment was deleted since it was listed or opened: a compaction merged it.
pub(super) fn is_gone(error: &ReadError) -> bool {
    let ReadError::Source(source) = error else { return false };
    matches!(source.downcast_ref(), Some(StoreError::NotFound { .. }))
}

/// Whether the store could not be reached, as opposed to a file that is damaged. A server that refuses the request
/// counts: while credentials have expired each lookup would be a request.
pub(super) fn is_unreachable(error: &ReadError) -> bool {
    let ReadError::Source(source) = error else { return false };
    source.downcast_ref().is_some_and(|error: &StoreError| !error.is_damage())
}

/// A segment; `None` when it is gone.
pub(super) fn open_segment(
    segments: &Evaluations,
    number: u32,
) -> Result<Option<Segment<SegmentSource>>, EvaluationCacheError> {
    let file = match segments.open(number) {
        Err(StoreError::NotFound { .. }) => return Ok(None),
        file => file?,
    };
    match Segment::open(SegmentSource(file)) {
        Err(error) if is_gone(&error) => Ok(None),
        opened => {
            let opened = opened.map(Some);
            opened.map_err(|source| EvaluationCacheError::Segment { path: segments.name(number), source })
        }
    }
}
