//! Errors of segments.

use super::format::VERSION;
use super::source::SourceError;
use crate::{Key, Steps};

/// Errors of lookups and checks.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The file is no segment, or of another version.
    #[error("not a segment of version {VERSION}: {0}")]
    NoSegment(&'static str),
    /// A copy of the head is damaged; the segment is in use nevertheless.
    #[error("one of the two copies of its head is damaged; the other one is used")]
    Head,
    /// The file is longer than its head says, or lacks bytes after its blocks; the segment is in use nevertheless.
    #[error("it has {found} bytes instead of {expected}; all blocks are there and in use")]
    Length {
        /// Bytes that it has.
        found: u64,
        /// Bytes by its head.
        expected: u64,
    },
    /// A block cannot be used; the others can.
    #[error("block {block} of {blocks} is damaged: {reason}")]
    Damaged {
        /// The number of the block.
        block: u32,
        /// How many there are.
        blocks: u32,
        /// The problem.
        reason: &'static str,
    },
    /// The bytes cannot be read.
    #[error("cannot read: {0}")]
    Source(SourceError),
}

/// Why entries make no segment.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SegmentError {
    /// Keys must ascend.
    #[error("key {0} comes after a key that is not below it")]
    Order(Key),
    /// A code is longer than a segment can say.
    #[error("the code of key {0} has {1} bytes, more than 65535")]
    Code(Key, usize),
    /// 4 GiB of codes or more, or more entries in a block than it can count.
    #[error("{0} entries are more than a segment can have; write several")]
    TooLarge(u64),
    /// The tables are of other steps than the set.
    #[error("tables of {0} steps do not fit a set of {1}")]
    Tables(Steps, Steps),
}
