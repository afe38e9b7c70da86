//! Models that passed a promotion test: small files that are written once. The evaluator decides who passes.

use std::collections::BTreeSet;

use serde::Serialize;

use crate::error::StoreError;
use crate::folder::RunFolder;
use crate::names::{number_name, parse_number};

const CHAMPIONS: &str = "champions";

/// The models of a run that passed a promotion test.
#[derive(Debug)]
pub struct Champions {
    pub(crate) at: RunFolder,
}

impl Champions {
    /// The model that passed the last promotion test; `None` before there is one. Only newer models follow it.
    ///
    /// # Errors
    /// A store that cannot be reached.
    pub fn newest(&self) -> Result<Option<u32>, StoreError> {
        Ok(self.list()?.last().copied())
    }

    /// Keeps that a model has passed a promotion test, and how.
    ///
    /// # Errors
    /// A store that cannot be written. A model that has passed one before is no error.
    pub fn put(&self, number: u32, how: &impl Serialize) -> Result<(), StoreError> {
        let file = self.at.path([CHAMPIONS]).join(format!("{}.toml", number_name(number)));
        self.at.store.publish_mark(&file, how)
    }

    /// The models that passed a promotion test.
    ///
    /// # Errors
    /// A store that cannot be reached.
    pub fn list(&self) -> Result<BTreeSet<u32>, StoreError> {
        let files = self.at.store.files(&self.at.path([CHAMPIONS]))?;
        Ok(files.iter().filter_map(|name| parse_number(name.strip_suffix(".toml")?)).collect())
    }
}
