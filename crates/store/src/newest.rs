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
    ///
    /// Reads the previously newest name again only while no newer one counts: it may have been deleted.
    pub(crate) fn find(&self, counts: impl Fn(&str) -> Result<bool, StoreError>) -> Result<Option<String>, StoreError> {
        let known = self.get();
        let later = self.at.store.after(&self.at.path([self.folder]), known.as_deref())?;
        for name in later.keys().rev() {
            if counts(name)? {
                self.set(name);
                return Ok(Some(name.clone()));
            }
        }
        match known {
            Some(name) if !counts(&name)? => {
                *self.lock() = None;
                self.find(counts)
            }
            known => Ok(known),
        }
    }

    /// The newest name seen.
    pub(crate) fn get(&self) -> Option<String> {
        self.lock().clone()
    }

    /// Remembers a name as the newest.
    pub(crate) fn set(&self, name: &str) {
        *self.lock() = Some(name.to_owned());
    }

    fn lock(&self) -> MutexGuard<'_, Option<String>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
