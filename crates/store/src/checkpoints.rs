//! Checkpoints: all a trainer needs to go on where it was.

use std::collections::BTreeMap;

use bytes::Bytes;
use object_store::path::Path;
use serde::{Deserialize, Serialize};

use crate::parts::Part;
use crate::{Run, StoreError};

const CHECKPOINTS: &str = "checkpoints";
const MANIFEST: &str = "manifest.toml";

/// Checkpoints that are kept: the one a trainer goes on from, and the one before it, which others may be reading.
const KEPT: usize = 2;

/// The state of a trainer after some steps.
#[derive(Clone, Debug, PartialEq)]
pub struct Checkpoint {
    /// Optimiser steps since the start of the run.
    pub step: u64,
    /// The files, by name. A name has an extension: `optimiser.safetensors`.
    pub files: BTreeMap<String, Bytes>,
}

#[derive(Serialize, Deserialize)]
struct Manifest {
    step: u64,
    files: BTreeMap<String, Part>,
}

impl Run {
    /// Publishes a checkpoint, and then deletes all but the newest two.
    ///
    /// # Errors
    /// [`StoreError::BadName`] for a file whose name has no extension or cannot be one, [`StoreError::AlreadyExists`]
    /// when there is another checkpoint of this step; the same one is no error.
    pub fn publish_checkpoint(&self, checkpoint: &Checkpoint) -> Result<(), StoreError> {
        let folder = self.checkpoint_path(checkpoint.step);
        let mut manifest = Manifest { step: checkpoint.step, files: BTreeMap::new() };
        for (name, bytes) in &checkpoint.files {
            let (stem, extension) = split(name).ok_or_else(|| StoreError::BadName(name.clone()))?;
            let part = self.store().publish_part(&folder, stem, extension, bytes.clone())?;
            manifest.files.insert(name.clone(), part);
        }
        self.store().publish_toml(&folder.join(MANIFEST), &manifest)?;
        self.prune_checkpoints()
    }

    /// The newest checkpoint; `None` before any.
    ///
    /// # Errors
    /// [`StoreError::Damaged`] when it is not as it was published. Once its folder is deleted, the one before it is the
    /// newest.
    pub fn newest_checkpoint(&self) -> Result<Option<Checkpoint>, StoreError> {
        // Without a manifest it is one that is being published, or was when its writer was killed.
        let mut newest = self.checkpoint_steps()?.into_iter().rev();
        newest.find_map(|step| self.checkpoint(step).transpose()).transpose()
    }

    /// The checkpoint of a step; `None` when there is none, or not wholly.
    ///
    /// # Errors
    /// [`StoreError::Damaged`] when it is not as it was published.
    pub fn checkpoint(&self, step: u64) -> Result<Option<Checkpoint>, StoreError> {
        let folder = self.checkpoint_path(step);
        let Some(manifest) = self.store().find_toml::<Manifest>(&folder.clone().join(MANIFEST))? else {
            return Ok(None);
        };
        let read = |(name, part): (String, Part)| Ok((name, self.store().read_part(&folder, &part)?));
        let files = manifest.files.into_iter().map(read).collect::<Result<_, StoreError>>()?;
        Ok(Some(Checkpoint { step, files }))
    }

    fn prune_checkpoints(&self) -> Result<(), StoreError> {
        let mut kept = 0;
        for step in self.checkpoint_steps()?.into_iter().rev() {
            let folder = self.checkpoint_path(step);
            if kept == KEPT {
                self.store().delete_folder(&folder, MANIFEST)?;
            } else if self.store().exists(&folder.join(MANIFEST))? {
                kept += 1;
            }
        }
        Ok(())
    }

    /// The steps of all checkpoints, whole or not, ascending.
    ///
    /// # Errors
    /// A store that cannot be reached.
    pub fn checkpoint_steps(&self) -> Result<Vec<u64>, StoreError> {
        let folders = self.store().folders(&self.path([CHECKPOINTS]))?;
        let mut steps: Vec<u64> = folders.iter().filter_map(|name| name.parse().ok()).collect();
        steps.sort_unstable();
        Ok(steps)
    }

    fn checkpoint_path(&self, step: u64) -> Path {
        self.path([CHECKPOINTS]).join(format!("{step:012}"))
    }
}

/// `optimiser.safetensors` → (`optimiser`, `safetensors`).
fn split(name: &str) -> Option<(&str, &str)> {
    let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    let fits = |text: &str| !text.is_empty() && text.len() <= 64 && text.chars().all(allowed);
    name.split_once('.').filter(|(stem, extension)| fits(stem) && fits(extension) && name != MANIFEST)
}
