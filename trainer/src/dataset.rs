//! The examples of a generation, in the order in which the shuffler put them.

use net::{Preparation, PreparedBatch};
use record::{Example, ExampleRows};
use store::{Manifest, Run, StoreError};

use crate::{Prefetch, TrainerError};

/// Examples that the batch norms of averaged weights are measured on.
pub(crate) const RECALIBRATION_POSITIONS: usize = 4_096;

/// Examples that the scales of int16 inference are found on.
pub(crate) const CALIBRATION_POSITIONS: usize = 1_024;

/// Batches for one step each.
pub(crate) type Feed = Prefetch<PreparedBatch, TrainerError>;

/// Reads examples one batch after the other. One part is in memory at a time.
pub(crate) struct Dataset {
    run: Run,
    manifest: Manifest,
    /// The part being read.
    part: usize,
    rows: Option<ExampleRows>,
    /// Rows of it that have been read.
    read: usize,
}

impl Dataset {
    /// Begins after the first `skipped` examples.
    pub(crate) fn new(run: &Run, manifest: &Manifest, skipped: usize) -> Dataset {
        let (mut part, mut read) = (0, skipped);
        while manifest.parts.get(part).is_some_and(|part| read >= part.rows) {
            read -= manifest.parts[part].rows;
            part += 1;
        }
        Dataset { run: run.clone(), manifest: manifest.clone(), part, rows: None, read }
    }

    /// Batches of `count` examples from a step on, read and prepared ahead.
    pub(crate) fn ahead(mut self, count: usize, preparation: Preparation, mut step: u64) -> Feed {
        let generation = self.manifest.generation;
        Prefetch::new(move || {
            let examples = self.next(count)?;
            if examples.is_empty() {
                return Ok(None);
            }
            let prepared = preparation.prepare(step, examples);
            let prepared = prepared.map_err(|source| TrainerError::Train { generation, source })?;
            step += 1;
            Ok(Some(prepared))
        })
    }

    /// The next examples, `count` of them or the rest.
    ///
    /// # Errors
    /// A part that cannot be read.
    pub(crate) fn next(&mut self, count: usize) -> Result<Vec<Example>, StoreError> {
        let mut examples = Vec::with_capacity(count);
        while examples.len() < count && self.open()? {
            let rows = self.rows.as_ref().expect("a part was just opened");
            let end = rows.len().min(self.read + count - examples.len());
            let wanted: Vec<u32> = (self.read..end).map(|row| row as u32).collect();
            examples.extend(rows.take(&wanted).to_examples());
            self.read = end;
            if end == rows.len() {
                (self.part, self.rows, self.read) = (self.part + 1, None, 0);
            }
        }
        Ok(examples)
    }

    /// Makes sure that a part with unread rows is in memory; returns whether there is one.
    fn open(&mut self) -> Result<bool, StoreError> {
        while self.rows.is_none() {
            let Some(part) = self.manifest.parts.get(self.part) else { return Ok(false) };
            let rows = self.run.shards().read(self.manifest.generation, part)?;
            if self.read < rows.len() {
                self.rows = Some(rows);
            } else {
                (self.part, self.read) = (self.part + 1, 0);
            }
        }
        Ok(true)
    }
}

/// Examples in all parts.
pub(crate) fn examples(manifest: &Manifest) -> usize {
    manifest.parts.iter().map(|part| part.rows).sum()
}
