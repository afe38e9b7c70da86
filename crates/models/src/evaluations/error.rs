//! Why an evaluation cache cannot be used.

use evalcache::{ReadError, SegmentError};
use exit_class::{Classified, ExitClass};
use store::StoreError;

/// An evaluation cache that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum EvaluationCacheError {
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A segment cannot be read.
    #[error("{path}: {source}")]
    Segment {
        /// The segment.
        path: String,
        /// The problem with it.
        source: ReadError,
    },
    /// A segment in the folder of another set.
    #[error("{path}: segment belongs to another set than its folder and is not used")]
    OtherSet {
        /// The segment.
        path: String,
    },
    /// No segment of a set can be read.
    #[error("set {set}: none of its {} segments can be read; `tengen evalcache check` says why", problems.len())]
    Unreadable {
        /// The name of the set.
        set: String,
        /// The problem with each segment.
        problems: Vec<EvaluationCacheError>,
    },
    /// An option that means nothing.
    #[error("{0}")]
    Option(String),
    /// Evaluations that make no segment: a bug.
    #[error("cannot write a segment: {0}")]
    Write(#[from] SegmentError),
}

impl Classified for EvaluationCacheError {
    fn class(&self) -> ExitClass {
        match self {
            EvaluationCacheError::Store(error) => error.class(),
            EvaluationCacheError::Option(_) => ExitClass::Configuration,
            EvaluationCacheError::Segment { .. }
            | EvaluationCacheError::OtherSet { .. }
            | EvaluationCacheError::Unreadable { .. }
            | EvaluationCacheError::Write(_) => ExitClass::Failure,
        }
    }
}
