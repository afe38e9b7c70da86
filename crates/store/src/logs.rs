//! Logs of training.

use bytes::Bytes;

use crate::error::StoreError;
use crate::folder::RunFolder;

const LOGS: &str = "logs";

/// The logs of a run.
#[derive(Debug)]
pub struct Logs {
    pub(crate) at: RunFolder,
}

impl Logs {
    /// Publishes a log under a name that says what it is and when it was made, for a log is not written twice.
    ///
    /// A log that grows could not live in a store; so a stretch of training has a file of its own, and tools that read
    /// logs read the folder.
    ///
    /// # Errors
    /// [`StoreError::BadName`] for a name that cannot be that of a file, [`StoreError::AlreadyExists`] when there is
    /// another log of this name.
    pub fn publish(&self, name: &str, bytes: Bytes) -> Result<(), StoreError> {
        let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
        if !name.starts_with(|c: char| c.is_ascii_alphanumeric()) || name.len() > 128 || !name.chars().all(allowed) {
            return Err(StoreError::BadName(name.to_owned()));
        }
        self.at.store.publish(&self.at.path([LOGS, name]), bytes)
    }

    /// The names of all logs, in order of name.
    ///
    /// # Errors
    /// A store that cannot be reached.
    pub fn list(&self) -> Result<Vec<String>, StoreError> {
        Ok(self.at.store.files(&self.at.path([LOGS]))?.into_iter().collect())
    }

    /// The names with the same first digit that order after this one.
    ///
    /// # Errors
    /// A store that cannot be reached.
    pub fn list_after(&self, name: &str) -> Result<Vec<String>, StoreError> {
        Ok(self.at.store.files_after(&self.at.path([LOGS]), name)?.into_iter().collect())
    }

    /// The contents of a log.
    ///
    /// # Errors
    /// [`StoreError::NotFound`] when there is none of this name.
    pub fn read(&self, name: &str) -> Result<Bytes, StoreError> {
        self.at.store.get(&self.at.path([LOGS, name]))
    }
}
