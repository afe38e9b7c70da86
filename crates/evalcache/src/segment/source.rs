//! The bytes of a segment.

use std::ops::Range;

/// Why a file could not be read.
pub type SourceError = Box<dyn std::error::Error + Send + Sync>;

/// The bytes of a segment, wherever they are.
pub trait SegmentBytes: Send + Sync {
    /// How many there are.
    fn size(&self) -> u64;

    /// Fills `into` with the bytes from `at` on.
    ///
    /// # Errors
    /// The place cannot be read, or ends before.
    fn read(&self, at: u64, into: &mut [u8]) -> Result<(), SourceError>;

    /// Drops copies of these bytes, which proved wrong. Returns whether there were any: another read has the original.
    fn drop_copies(&self, bytes: Range<u64>) -> bool {
        let _ = bytes;
        false
    }
}

impl SegmentBytes for Vec<u8> {
    fn size(&self) -> u64 {
        self.len() as u64
    }

    fn read(&self, at: u64, into: &mut [u8]) -> Result<(), SourceError> {
        let from = usize::try_from(at)?;
        let bytes = self.get(from..).and_then(|rest| rest.get(..into.len())).ok_or("the file is too short")?;
        into.copy_from_slice(bytes);
        Ok(())
    }
}
