//! Checkpoints: all that a trainer needs to resume.

use std::collections::BTreeMap;

use bytes::Bytes;
use object_store::path::Path;
use serde::{Deserialize, Serialize};

use crate::error::StoreError;
use crate::folder::RunFolder;
use crate::names::MANIFEST;
use crate::parts::Part;

pub(crate) const CHECKPOINTS: &str = "checkpoints";

/// Checkpoints that are kept: the one a trainer resumes from, and the one before it, which others may be reading.
const KEPT: usize = 2;

/// What to do about a damaged checkpoint. No program deletes it by itself: it may be whole where the disk is repaired.
const REMEDY: &str = "delete its folder, and training continues from the checkpoint or model before it";

/// The state of a trainer after some steps.
#[derive(Clone, Debug, PartialEq)]
pub struct Checkpoint {
    /// Optimiser steps since the start of the run.
    pub step: u64,
    /// The files, by name. A name has an extension: `optimiser.safetensors`.
    pub files: BTreeMap<String, Bytes>,
}

#[derive(Serialize, Deserialize)]
struct CheckpointManifest {
    step: u64,
    files: BTreeMap<String, Part>,
}

/// The checkpoints of a run.
#[derive(Debug)]
pub struct Checkpoints {
    pub(crate) at: RunFolder,
}

impl Checkpoints {
    /// Publishes a checkpoint, and then deletes all but the newest two.
    ///
    /// # Errors
    /// [`StoreError::Malformed`] for a file whose name has no extension or cannot be one,
    /// [`StoreError::AlreadyExists`] when there is another checkpoint of this step; the same one is no error.
    pub fn publish(&self, checkpoint: &Checkpoint) -> Result<(), StoreError> {
        let folder = self.folder(checkpoint.step);
        let mut manifest = CheckpointManifest { step: checkpoint.step, files: BTreeMap::new() };
        for (name, bytes) in &checkpoint.files {
            let expected = "the name of a file of a checkpoint: a stem and an extension, each of 1 to 64 letters, digits, '_' \
                            and '-'";
            let bad = || StoreError::Malformed { text: name.clone(), expected };
            let (stem, extension) = split(name).ok_or_else(bad)?;
            let part = self.at.store.publish_part(&folder, stem, extension, bytes.clone())?;
            manifest.files.insert(name.clone(), part);
        }
        self.at.store.publish_toml(&folder.join(MANIFEST), &manifest)?;
        self.prune(KEPT).map(drop)
    }

    /// The newest checkpoint; `None` before any.
    ///
    /// # Errors
    /// [`StoreError::Damaged`] when it is not as it was published. Once its folder is deleted, the one before it is the
    /// newest.
    pub fn newest(&self) -> Result<Option<Checkpoint>, StoreError> {
        // Without a manifest it is one that is being published, or was when its writer was killed.
        let mut newest = self.steps()?.into_iter().rev();
        newest.find_map(|step| self.get(step).transpose()).transpose()
    }

    /// The checkpoint of a step; `None` when there is none, or not wholly.
    ///
    /// # Errors
    /// [`StoreError::Damaged`] when it is not as it was published.
    pub fn get(&self, step: u64) -> Result<Option<Checkpoint>, StoreError> {
        let folder = self.folder(step);
        let Some(manifest) = self.at.store.find_toml::<CheckpointManifest>(&folder.clone().join(MANIFEST))? else {
            return Ok(None);
        };
        let read = |(name, part): (String, Part)| {
            let bytes = self.at.store.read_part(&folder, &part).map_err(|error| error.with_remedy(REMEDY))?;
            Ok((name, bytes))
        };
        let files = manifest.files.into_iter().map(read).collect::<Result<_, StoreError>>()?;
        Ok(Some(Checkpoint { step, files }))
    }

    /// Deletes all but the newest checkpoints, one of which is kept always; returns how many it deleted.
    ///
    /// # Errors
    /// A store that cannot be used.
    pub fn prune(&self, keep: usize) -> Result<usize, StoreError> {
        let (mut kept, mut deleted) = (0, 0);
        for step in self.steps()?.into_iter().rev() {
            let folder = self.folder(step);
            if kept >= keep.max(1) {
                self.at.store.delete_folder(&folder, MANIFEST)?;
                deleted += 1;
            } else if self.at.store.exists(&folder.join(MANIFEST))? {
                kept += 1;
            }
        }
        Ok(deleted)
    }

    /// The steps of all checkpoints, whole or not, ascending.
    ///
    /// # Errors
    /// A store that cannot be reached.
    pub fn steps(&self) -> Result<Vec<u64>, StoreError> {
        let folders = self.at.store.folders(&self.at.path([CHECKPOINTS]))?;
        let mut steps: Vec<u64> = folders.iter().filter_map(|name| parse_step(name)).collect();
        steps.sort_unstable();
        Ok(steps)
    }

    /// When the newest file of them was written by the clock of the place, in milliseconds since 1970; `None` before
    /// any. Older checkpoints are deleted, so that this lists a few files in a run of any age.
    ///
    /// # Errors
    /// A store that cannot be reached.
    pub fn last_written(&self) -> Result<Option<i64>, StoreError> {
        let files = self.at.store.files_below(&self.at.path([CHECKPOINTS]))?;
        Ok(files.iter().map(|found| found.written).max())
    }

    fn folder(&self, step: u64) -> Path {
        self.at.path([CHECKPOINTS]).join(step_name(step))
    }
}

/// The folder of a checkpoint: `000000168960`.
fn step_name(step: u64) -> String {
    format!("{step:012}")
}

/// Undoes [`step_name`]; `None` for any other name.
pub(crate) fn parse_step(text: &str) -> Option<u64> {
    text.parse().ok().filter(|&step| step_name(step) == text)
}

/// `optimiser.safetensors` → (`optimiser`, `safetensors`).
fn split(name: &str) -> Option<(&str, &str)> {
    let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    let fits = |text: &str| !text.is_empty() && text.len() <= 64 && text.chars().all(allowed);
    name.split_once('.').filter(|(stem, extension)| fits(stem) && fits(extension) && name != MANIFEST)
}
