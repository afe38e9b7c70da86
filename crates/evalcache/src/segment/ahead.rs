//! Reading a segment from one end to the other.

use super::source::{SegmentBytes, SourceError};

/// Bytes of a read.
const PART: u64 = 4 << 20;

/// A source that is read in long parts, each of which serves the reads that follow.
pub(super) struct Ahead<'a, S> {
    source: &'a S,
    /// Where the reads end.
    end: u64,
    /// Where the present part begins.
    at: u64,
    part: Vec<u8>,
}

impl<'a, S: SegmentBytes> Ahead<'a, S> {
    pub(super) fn new(source: &'a S, end: u64) -> Ahead<'a, S> {
        Ahead { source, end, at: 0, part: Vec::new() }
    }

    /// Fills `into` with the bytes from `at` on.
    pub(super) fn read(&mut self, at: u64, into: &mut [u8]) -> Result<(), SourceError> {
        let wanted = into.len() as u64;
        if at < self.at || at + wanted > self.at + self.part.len() as u64 {
            let len = self.end.saturating_sub(at).min(PART).max(wanted);
            self.part.resize(len as usize, 0);
            self.at = at;
            if let Err(error) = self.source.read(at, &mut self.part) {
                self.forget();
                return Err(error);
            }
        }
        let start = (at - self.at) as usize;
        into.copy_from_slice(&self.part[start..start + into.len()]);
        Ok(())
    }

    /// Drops the present part.
    pub(super) fn forget(&mut self) {
        self.part.clear();
    }
}
