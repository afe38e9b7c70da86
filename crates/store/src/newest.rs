//! The newest name in a folder whose names order by time.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::error::StoreError;
use crate::folder::RunFolder;

/// The newest name seen in a folder, so that only what came since is listed.
#[derive(Clone, Debug)]
pub(crate) struct NewestName {
    at: RunFolder,
    folder: &'static str,
    known: Arc<Mutex<Option<String>>>,
}

impl NewestName {
    pub(crate) fn new(at: RunFolder, folder: &'static str) -> NewestName {
        NewestName { at, folder, known: Arc::default() }
    }

    /// The newest name that `counts`; `None` when there is none.
    pub(crate) fn find(&self, counts: impl Fn(&str) -> bool) -> Result<Option<String>, StoreError> {
        let known = self.lock().clone();
        let later = self.at.store.after(&self.at.path([self.folder]), known.as_deref())?;
        let newest = later.into_keys().rev().find(|name| counts(name)).or(known);
        self.lock().clone_from(&newest);
        Ok(newest)
    }

    fn lock(&self) -> MutexGuard<'_, Option<String>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
