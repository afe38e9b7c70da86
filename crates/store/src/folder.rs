//! The folder of a run, which its repositories share.

use config::RunName;
use object_store::path::Path;

use crate::error::StoreError;
use crate::files::FileRef;
use crate::names::{Stem, number_name};
use crate::store::Store;

/// A run's folder in a store.
#[derive(Clone, Debug)]
pub(crate) struct RunFolder {
    pub(crate) store: Store,
    pub(crate) name: RunName,
}

impl RunFolder {
    #[cfg(test)]
    pub(crate) fn in_memory() -> RunFolder {
        let store = Store::in_memory().expect("a store in memory needs no place");
        RunFolder { store, name: "run".parse().expect("letters are a name") }
    }

    /// A folder or file of the run.
    pub(crate) fn path<'a>(&'a self, parts: impl IntoIterator<Item = &'a str>) -> Path {
        std::iter::once(self.name.as_str()).chain(parts).collect()
    }

    /// The folder of a model or generation in one of the run's folders.
    pub(crate) fn numbered(&self, folder: &str, number: u32) -> Path {
        self.path([folder]).join(number_name(number))
    }

    /// A file that goes with a file of games.
    pub(crate) fn file(&self, folder: &str, file: &FileRef, extension: &str) -> Path {
        self.numbered(folder, file.model).join(format!("{}.{extension}", file.stem))
    }

    /// Publishes something under the name of the worker and the present time, or a later one: after a
    /// hand-off two processes may publish games of one worker in the same millisecond.
    pub(crate) fn publish_now(
        &self,
        model: u32,
        worker: &str,
        mut publish: impl FnMut(&FileRef) -> Result<(), StoreError>,
    ) -> Result<FileRef, StoreError> {
        let stem = self.at_free_time(worker, |stem| publish(&FileRef { model, stem: stem.clone() }))?;
        Ok(FileRef { model, stem })
    }

    /// Publishes something under the name of the worker and the present time, or a later one when that is taken.
    pub(crate) fn at_free_time(
        &self,
        worker: &str,
        mut publish: impl FnMut(&Stem) -> Result<(), StoreError>,
    ) -> Result<Stem, StoreError> {
        loop {
            let stem = Stem::new(worker, self.store.now())?;
            match publish(&stem) {
                Err(StoreError::AlreadyExists { .. }) => {}
                done => return done.map(|()| stem),
            }
        }
    }
}
