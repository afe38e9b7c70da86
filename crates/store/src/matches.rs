//! Results of matches, and the other programs that played them.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use arrow_array::RecordBatch;
use bytes::Bytes;
use config::EngineName;
use object_store::path::Path;
use record::{GameOutline, GameRecord, GameSummary, games};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::error::StoreError;
use crate::files::{PARQUET, SGF};
use crate::folder::RunFolder;
use crate::names::Stem;
use crate::parallel::STRETCH;
use crate::quarantine::Quarantine;

pub(crate) const MATCHES: &str = "matches";
const ENGINES: &str = "engines";

/// The results of the matches of a run.
#[derive(Debug)]
pub struct Matches {
    at: RunFolder,
    quarantine: Quarantine,
    /// The results that were read.
    seen: Mutex<BTreeMap<Stem, Vec<GameSummary>>>,
}

impl Matches {
    pub(crate) fn new(at: RunFolder) -> Matches {
        Matches { quarantine: Quarantine { at: at.clone() }, seen: Mutex::default(), at }
    }

    /// Publishes the games of a match, readable and as a table, under the name of the worker and the present time, or a
    /// later one: evaluators without a name share one, and may publish in the same millisecond. They are no examples.
    ///
    /// # Errors
    /// A store that cannot be written.
    pub fn publish(&self, worker: &str, games: &[GameRecord]) -> Result<Stem, StoreError> {
        let sgf: Bytes = games.iter().map(GameRecord::to_sgf).collect::<String>().into();
        let table = games::to_batch(games);
        self.at.at_free_time(worker, |stem| {
            self.at.store.publish(&self.sgf(stem), sgf.clone())?;
            self.at.store.publish_table(&self.file(stem), &table)
        })
    }

    /// Stores the description of another program that plays matches under this name, unless there is one; returns the
    /// stored one.
    ///
    /// # Errors
    /// A store that cannot be used, or [`StoreError::Damaged`].
    pub fn remember_engine<T: Serialize + DeserializeOwned>(
        &self,
        name: &EngineName,
        found: &T,
    ) -> Result<T, StoreError> {
        self.at.store.remember(&self.at.path([ENGINES]).join(format!("{name}.toml")), found)
    }

    /// The files of results, oldest first.
    ///
    /// # Errors
    /// A store that cannot be reached.
    pub fn files(&self) -> Result<Vec<Stem>, StoreError> {
        let files = self.at.store.files(&self.at.path([MATCHES]))?;
        let mut stems: Vec<Stem> = files.iter().filter_map(|name| Stem::of_file(name, PARQUET)).collect();
        stems.sort_unstable();
        Ok(stems)
    }

    /// The results in one file.
    ///
    /// # Errors
    /// [`StoreError::Damaged`] when they cannot be read.
    pub fn summaries(&self, stem: &Stem) -> Result<Vec<GameSummary>, StoreError> {
        let path = self.file(stem);
        self.at.store.read_records(&path, Some(&GameSummary::COLUMNS), GameSummary::from_batch)
    }

    /// The results in one file with the lengths of the games, and how they began.
    ///
    /// # Errors
    /// [`StoreError::Damaged`] when they cannot be read.
    pub fn outlines(&self, stem: &Stem) -> Result<Vec<GameOutline>, StoreError> {
        let path = self.file(stem);
        self.at.store.read_records(&path, Some(&GameOutline::COLUMNS), GameOutline::from_batch)
    }

    /// Some columns of a file of results, one row a game. Columns that the file does not have are left out.
    ///
    /// # Errors
    /// [`StoreError::Damaged`] when they cannot be read.
    pub fn columns(&self, stem: &Stem, columns: &[&str]) -> Result<RecordBatch, StoreError> {
        let checked = |table: &RecordBatch| games::check_version(table).map(|()| table.clone());
        self.at.store.read_records(&self.file(stem), Some(columns), checked)
    }

    /// The games of one file of results, with all their turns.
    ///
    /// # Errors
    /// [`StoreError::Damaged`] when they cannot be read.
    pub fn read(&self, stem: &Stem) -> Result<Vec<GameRecord>, StoreError> {
        self.at.store.read_records(&self.file(stem), None, games::from_batch)
    }

    /// The full name of a file of results, for messages.
    pub fn name(&self, stem: &Stem) -> String {
        self.at.store.name(&self.file(stem))
    }

    /// All results, oldest first. A second call reads only what is new. Files are read several at once: a run has tens
    /// of thousands of them, and a process that has just started reads them all.
    ///
    /// # Errors
    /// [`StoreError::OtherVersion`] for a file of another version. A damaged one is moved to quarantine; its games are
    /// played again where they are wanted.
    pub fn all(&self) -> Result<Vec<GameSummary>, StoreError> {
        self.all_noting(&|| ())
    }

    /// As [`Matches::all`]; `note` is called whenever some files were read.
    ///
    /// # Errors
    /// As [`Matches::all`].
    pub fn all_noting(&self, note: &dyn Fn()) -> Result<Vec<GameSummary>, StoreError> {
        let files = self.files()?;
        let new: Vec<Stem> = {
            let known = self.known();
            files.iter().filter(|stem| !known.contains_key(*stem)).cloned().collect()
        };
        for some in new.chunks(STRETCH) {
            for (stem, read) in some.iter().zip(self.at.store.each(some, |stem| self.summaries(stem))) {
                let again = || self.summaries(stem);
                let read = self.quarantine.read_or_move(read, again, &self.file(stem), || self.quarantine(stem))?;
                if let Some(games) = read {
                    self.known().insert(stem.clone(), games);
                }
            }
            note();
        }
        let known = self.known();
        Ok(files.iter().filter_map(|stem| known.get(stem)).flatten().cloned().collect())
    }

    /// Whether the bytes of a file of results are not those that were published. A file of another version is not
    /// altered.
    ///
    /// # Errors
    /// A store that cannot be reached.
    pub fn is_altered(&self, stem: &Stem) -> Result<bool, StoreError> {
        self.quarantine.is_altered(&self.file(stem))
    }

    /// Moves a file of results to quarantine, with its readable games; returns how many files moved.
    ///
    /// # Errors
    /// A store that cannot be reached, or that refuses writes.
    pub fn quarantine(&self, stem: &Stem) -> Result<usize, StoreError> {
        self.quarantine.put([self.file(stem), self.sgf(stem)])
    }

    fn known(&self) -> MutexGuard<'_, BTreeMap<Stem, Vec<GameSummary>>> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn file(&self, stem: &Stem) -> Path {
        self.at.path([MATCHES]).join(format!("{stem}.{PARQUET}"))
    }

    fn sgf(&self, stem: &Stem) -> Path {
        self.at.path([SGF, MATCHES]).join(format!("{stem}.{SGF}"))
    }
}
