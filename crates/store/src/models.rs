//! Models: weights and metadata.

use std::collections::BTreeSet;
use std::sync::{Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use config::{ModelId, Network, RunConfig, RunName, Search};
use object_store::path::Path;
use serde::{Deserialize, Serialize};
use toml::{Table, Value};

use crate::error::StoreError;
use crate::folder::RunFolder;
use crate::metadata::one_line;
use crate::names::parse_number;
use crate::numbers;
use crate::origin::Source;
use crate::parallel::STRETCH;
use crate::parts::Part;

pub(crate) const MODELS: &str = "models";
/// The extension of weights.
pub(crate) const SAFETENSORS: &str = "safetensors";
const METADATA: &str = "model.toml";
const DELETED: &str = "deleted.toml";

/// What there is to know of a model beside its weights.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ModelMetadata {
    /// The run it belongs to.
    pub run: RunName,
    /// Its number in the run, from 1.
    pub number: u32,
    /// The model whose training it continues; `None` for the first.
    pub parent: Option<u32>,
    /// Origin of the first model, if it was not trained from random weights on the run's own games.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub origin: Vec<Source>,
    /// Optimiser steps since the start of the run.
    pub step: u64,
    /// Points on a side of the board it plays on.
    pub size: usize,
    /// Digest of the configuration it was trained with.
    pub config_digest: String,
    /// The shape of its tower.
    pub network: Network,
    /// How it wants to be searched with.
    pub search: Search,
}

impl ModelMetadata {
    /// The metadata of a model that continues the one before it, after so many steps of this configuration.
    pub fn new(run: &RunName, number: u32, step: u64, config: &RunConfig) -> ModelMetadata {
        ModelMetadata {
            run: run.clone(),
            number,
            parent: number.checked_sub(1).filter(|&parent| parent > 0),
            origin: Vec::new(),
            step,
            size: config.game.size,
            config_digest: config.digest(),
            network: config.network_of(number),
            search: config.search.at(number),
        }
    }

    /// The id of the model.
    pub fn id(&self) -> ModelId {
        self.run.model(self.number)
    }
}

/// The metadata as `model.toml` has it.
#[derive(Serialize, Deserialize)]
struct Committed {
    #[serde(flatten)]
    metadata: ModelMetadata,
    weights: Part,
}

/// What was deleted, as `deleted.toml` has it.
#[derive(Serialize)]
struct Deleted {
    file: String,
    bytes: u64,
}

/// The models of a run.
#[derive(Debug)]
pub struct Models {
    at: RunFolder,
    /// The number of the newest model at the last look; 0 where there was none.
    newest: Mutex<Option<u32>>,
    /// The models that were seen.
    seen: Mutex<BTreeSet<u32>>,
}

impl Models {
    pub(crate) fn new(at: RunFolder) -> Models {
        Models { newest: Mutex::default(), seen: Mutex::default(), at }
    }

    /// The numbers of all models, ascending. Model 0, which is `random`, is not among them. A second call requests only
    /// the metadata of new ones.
    ///
    /// # Errors
    /// A store that cannot be reached.
    pub fn list(&self) -> Result<Vec<u32>, StoreError> {
        let known = self.known().clone();
        let (mut published, new): (Vec<u32>, Vec<u32>) =
            self.folders()?.into_iter().partition(|number| known.contains(number));
        for some in new.chunks(STRETCH) {
            for (&number, exists) in some.iter().zip(self.at.store.each(some, |&number| self.exists(number))) {
                published.extend(exists?.then_some(number));
            }
        }
        published.sort_unstable();
        *self.known() = published.iter().copied().collect();
        Ok(published)
    }

    /// The number of the newest model; `None` before the first. Models are numbered without gaps, so this requests
    /// metadata and lists nothing: for the next one and the newest known while nothing is new, and for some ten where
    /// there are hundreds.
    ///
    /// Only where model 1 is not there the folder is listed: before the first model, where it is empty, and in a run
    /// whose oldest models are deleted.
    ///
    /// # Errors
    /// A store that cannot be reached.
    pub fn newest(&self) -> Result<Option<u32>, StoreError> {
        let known = *self.newest.lock().unwrap_or_else(PoisonError::into_inner);
        let from = known.unwrap_or_default();
        let last = numbers::last(from, |number| self.exists(number))?;
        // Where there was none at all, the first that comes is model 1. A known one may be deleted.
        let is_newest = last > from || known == Some(0) || (known.is_some() && self.exists(last)?);
        let newest = if is_newest { last } else { self.newest_listed()? };
        *self.newest.lock().unwrap_or_else(PoisonError::into_inner) = Some(newest);
        Ok(Some(newest).filter(|&newest| newest > 0))
    }

    /// The highest number of a folder with metadata, 0 without one. A folder without is a model that is being
    /// published, or was when its writer was killed.
    fn newest_listed(&self) -> Result<u32, StoreError> {
        for number in self.folders()?.into_iter().rev() {
            if self.exists(number)? {
                return Ok(number);
            }
        }
        Ok(0)
    }

    /// Whether this model has been published.
    ///
    /// # Errors
    /// A store that cannot be reached.
    pub fn exists(&self, number: u32) -> Result<bool, StoreError> {
        self.at.store.exists(&self.at.numbered(MODELS, number).join(METADATA))
    }

    /// Publishes a model: the weights first and then the metadata, with which the model exists.
    ///
    /// # Errors
    /// [`StoreError::AlreadyExists`] when there is another model of this number; the same one is no error.
    pub fn publish(&self, metadata: &ModelMetadata, weights: Bytes) -> Result<(), StoreError> {
        let folder = self.at.numbered(MODELS, metadata.number);
        let weights = self.at.store.publish_part(&folder, "weights", SAFETENSORS, weights)?;
        self.at.store.publish_toml(&folder.join(METADATA), &Committed { metadata: metadata.clone(), weights })
    }

    /// A model: its metadata and its weights, which are checked to be the ones that were published.
    ///
    /// # Errors
    /// [`StoreError::NotFound`] when it has not been published, [`StoreError::Damaged`] when it is not as it was,
    /// [`StoreError::OtherKeys`] when another version published it.
    pub fn get(&self, number: u32) -> Result<(ModelMetadata, Bytes), StoreError> {
        let folder = self.at.numbered(MODELS, number);
        let committed = self.committed(number)?;
        match self.at.store.read_part(&folder, &committed.weights) {
            Err(StoreError::NotFound { path }) if self.weights_are_deleted(number)? => {
                Err(StoreError::Deleted { path, model: committed.metadata.id() })
            }
            read => Ok((committed.metadata, read?)),
        }
    }

    /// Deletes the weights of a model, and keeps its metadata. The mark that says so comes first.
    ///
    /// # Errors
    /// A store that cannot be used. Weights that are deleted already are no error.
    pub fn delete_weights(&self, number: u32) -> Result<(), StoreError> {
        let Committed { weights, .. } = self.committed(number)?;
        let deleted = Deleted { file: weights.file.clone(), bytes: weights.bytes };
        self.at.store.publish_mark(&self.deletion_path(number), &deleted)?;
        self.at.store.delete(&self.at.numbered(MODELS, number).join(weights.file.as_str()))
    }

    /// Whether the weights of a model were deleted on request.
    ///
    /// # Errors
    /// A store that cannot be reached.
    pub fn weights_are_deleted(&self, number: u32) -> Result<bool, StoreError> {
        self.at.store.exists(&self.deletion_path(number))
    }

    /// Whether the weights of a published model are there. They are although they were deleted on request where the
    /// process was killed between the mark and the deletion.
    ///
    /// # Errors
    /// As [`Models::get`].
    pub fn has_weights(&self, number: u32) -> Result<bool, StoreError> {
        let Committed { weights, .. } = self.committed(number)?;
        self.at.store.exists(&self.at.numbered(MODELS, number).join(weights.file.as_str()))
    }

    fn deletion_path(&self, number: u32) -> Path {
        self.at.numbered(MODELS, number).join(DELETED)
    }

    /// What there is to know of a model, without its weights.
    ///
    /// # Errors
    /// As [`Models::get`].
    pub fn metadata(&self, number: u32) -> Result<ModelMetadata, StoreError> {
        Ok(self.committed(number)?.metadata)
    }

    /// The same with the SHA-256 of its weights, in hexadecimal digits.
    ///
    /// # Errors
    /// As [`Models::get`].
    pub fn described(&self, number: u32) -> Result<(ModelMetadata, String), StoreError> {
        let committed = self.committed(number)?;
        Ok((committed.metadata, committed.weights.sha256))
    }

    /// When a model was published by the clock of the place, in milliseconds since 1970; `None` before.
    ///
    /// # Errors
    /// A store that cannot be reached.
    pub fn published_at(&self, number: u32) -> Result<Option<i64>, StoreError> {
        self.at.store.written_at(&self.at.numbered(MODELS, number).join(METADATA))
    }

    /// The full name of a model's metadata, for messages.
    pub fn name(&self, number: u32) -> String {
        self.at.store.name(&self.at.numbered(MODELS, number).join(METADATA))
    }

    fn committed(&self, number: u32) -> Result<Committed, StoreError> {
        let path = self.at.numbered(MODELS, number).join(METADATA);
        let name = self.at.store.name(&path);
        let table: Option<Table> = self.at.store.find_toml(&path)?;
        let Some(table) = table else { return Err(StoreError::NotFound { path: name }) };
        // They come last, so a file that has all of their keys is not cut.
        let is_whole = table.get("weights").is_some_and(|weights| weights.clone().try_into::<Part>().is_ok());
        Value::Table(table).try_into().map_err(|error| match one_line(&error) {
            // Keys of metadata may be added; the network and the search have all of theirs, and no other.
            problem if is_whole && is_of_another_version(&problem) => StoreError::OtherKeys { path: name, problem },
            reason => StoreError::Damaged { path: name, reason },
        })
    }

    fn known(&self) -> MutexGuard<'_, BTreeSet<u32>> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn folders(&self) -> Result<Vec<u32>, StoreError> {
        let folders = self.at.store.folders(&self.at.path([MODELS]))?;
        let mut numbers: Vec<u32> = folders.iter().filter_map(|name| parse_number(name)).collect();
        numbers.sort_unstable();
        Ok(numbers)
    }
}

/// Whether a program with other keys, or with other words for their values, wrote what this error is about.
fn is_of_another_version(problem: &str) -> bool {
    ["unknown field", "missing field", "unknown variant"].iter().any(|beginning| problem.starts_with(beginning))
}
