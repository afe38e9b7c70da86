//! What is known of players for ever: small files that are written once.

use std::collections::BTreeSet;

use config::EngineName;
use object_store::path::Path;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::names::{number_name, parse_number};
use crate::{Run, StoreError};

const ENGINES: &str = "engines";
const RETIRED: &str = "retired";
const CHAMPIONS: &str = "champions";

impl Run {
    /// Keeps what is known of a program that plays matches under this name, unless something is known already; returns what
    /// is known now.
    ///
    /// # Errors
    /// A store that cannot be used, or [`StoreError::Damaged`].
    pub fn remember_engine<T: Serialize + DeserializeOwned>(
        &self,
        name: &EngineName,
        found: &T,
    ) -> Result<T, StoreError> {
        let path = self.path([ENGINES]).join(format!("{name}.toml"));
        if let Some(known) = self.store().find_toml(&path)? {
            return Ok(known);
        }
        // Somebody else may be quicker, perhaps with something else.
        self.mark(&path, found)?;
        let missing = || StoreError::NotFound { path: self.store().name(&path) };
        self.store().find_toml(&path)?.ok_or_else(missing)
    }

    /// The models that are not paired any more.
    ///
    /// # Errors
    /// A store that cannot be reached.
    pub fn retired_models(&self) -> Result<BTreeSet<u32>, StoreError> {
        self.marked_models(RETIRED)
    }

    /// Keeps for ever that a model is not to be paired any more, and why.
    ///
    /// # Errors
    /// A store that cannot be written. A model that is retired already is no error.
    pub fn retire_model(&self, number: u32, why: &impl Serialize) -> Result<(), StoreError> {
        self.mark(&self.model_mark(RETIRED, number), why)
    }

    /// The model that passed the last promotion test; `None` before there is one. Only newer models follow it.
    ///
    /// # Errors
    /// A store that cannot be reached.
    pub fn champion(&self) -> Result<Option<u32>, StoreError> {
        Ok(self.marked_models(CHAMPIONS)?.last().copied())
    }

    /// Keeps that a model has passed a promotion test, and how.
    ///
    /// # Errors
    /// A store that cannot be written. A model that has passed one before is no error.
    pub fn crown(&self, number: u32, how: &impl Serialize) -> Result<(), StoreError> {
        self.mark(&self.model_mark(CHAMPIONS, number), how)
    }

    /// Publishes a mark unless it is there.
    fn mark(&self, path: &Path, what: &impl Serialize) -> Result<(), StoreError> {
        match self.store().publish_toml(path, what) {
            Ok(()) | Err(StoreError::AlreadyExists { .. }) => Ok(()),
            Err(error) => Err(error),
        }
    }

    fn marked_models(&self, folder: &str) -> Result<BTreeSet<u32>, StoreError> {
        let files = self.store().files(&self.path([folder]))?;
        Ok(files.iter().filter_map(|name| parse_number(name.strip_suffix(".toml")?)).collect())
    }

    fn model_mark(&self, folder: &str, number: u32) -> Path {
        self.path([folder]).join(format!("{}.toml", number_name(number)))
    }
}
