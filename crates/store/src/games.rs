//! Games of self-play, and their examples.
//!
//! A worker publishes many games at a time. The examples, the holdout examples and the readable games come first, under
//! the same stem, and the file of the games last: the games count from then on, and everything of another folder counts
//! only when the file of that stem is among the games.
//!
//! Files in archives are listed and read like all others (see `archive`).

use std::collections::{BTreeMap, BTreeSet};

use arrow_array::RecordBatch;
use bytes::Bytes;
use record::{Example, ExampleRows, GameOutline, GameRecord, GameSummary, examples, games};

use crate::archives::Archives;
use crate::error::StoreError;
use crate::files::{EXAMPLES, FileRef, GAMES, HOLDOUT, PARQUET, SGF};
use crate::folder::RunFolder;
use crate::names::{number_name, parse_number};
use crate::newest::NewestName;
use crate::quarantine::Quarantine;

/// The games of self-play of a run.
#[derive(Clone, Debug)]
pub struct Games {
    pub(crate) at: RunFolder,
    pub(crate) archives: Archives,
    quarantine: Quarantine,
    newest_folder: NewestName,
}

impl Games {
    pub(crate) fn new(at: RunFolder, archives: Archives) -> Games {
        let (quarantine, newest_folder) = (Quarantine { at: at.clone() }, NewestName::new(at.clone(), GAMES));
        Games { at, archives, quarantine, newest_folder }
    }

    /// Publishes games of one model, number 0 for the built-in ones, under the name of the worker and the present time.
    /// The examples of the validation set are only in the holdout folder.
    ///
    /// # Errors
    /// A game that could not be replayed: then nothing is published.
    pub fn publish(&self, model: u32, worker: &str, games: &[GameRecord]) -> Result<FileRef, StoreError> {
        self.publish_noting(model, worker, games, &mut None)
    }

    /// As [`Games::publish`]. `tried` notes the name for a call that repeats this one with the same games: where a try
    /// fails, the file may be there, as when only the response was lost.
    ///
    /// # Errors
    /// As [`Games::publish`].
    pub fn publish_noting(
        &self,
        model: u32,
        worker: &str,
        games: &[GameRecord],
        tried: &mut Option<FileRef>,
    ) -> Result<FileRef, StoreError> {
        if let Some(file) = tried {
            match self.publish_as(file, games) {
                // Another process took this name before the try.
                Err(StoreError::AlreadyExists { .. }) => {}
                done => return done.map(|()| file.clone()),
            }
        }
        self.at.publish_now(model, worker, |file| {
            *tried = Some(file.clone());
            self.publish_new(file, games)
        })
    }

    /// As [`Games::publish`], under a given name.
    ///
    /// # Errors
    /// [`StoreError::AlreadyExists`] when there are other games of this name; the same ones are no error.
    pub fn publish_as(&self, file: &FileRef, games: &[GameRecord]) -> Result<(), StoreError> {
        if self.archives.holding(file)?.is_none() {
            return self.publish_new(file, games);
        }
        match self.holds(file, games)? {
            true => Ok(()),
            false => Err(StoreError::AlreadyExists { path: self.name(file) }),
        }
    }

    /// Whether a published file has these games, and their examples.
    fn holds(&self, file: &FileRef, games: &[GameRecord]) -> Result<bool, StoreError> {
        if self.read(file)? != games.iter().map(GameRecord::as_stored).collect::<Vec<_>>() {
            return Ok(false);
        }
        for (folder, rows) in self.examples_of(file, games)? {
            let same = match self.archives.read(folder, file, None, ExampleRows::from_batch) {
                Err(StoreError::NotFound { .. }) => rows.is_empty(),
                found => found?.to_examples() == rows,
            };
            if !same {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn publish_new(&self, file: &FileRef, games: &[GameRecord]) -> Result<(), StoreError> {
        let rows_of = self.examples_of(file, games)?;
        // There are always readable games, so they come first: of two who take the same name, one stops here and leaves
        // nothing.
        let sgf: String = games.iter().map(GameRecord::to_sgf).collect();
        self.at.store.publish(&self.at.file(SGF, file, SGF), Bytes::from(sgf))?;
        for (folder, rows) in rows_of {
            if !rows.is_empty() {
                self.at.store.publish_table(&self.at.file(folder, file, PARQUET), &examples::to_batch(&rows))?;
            }
        }
        self.at.store.publish_table(&self.at.file(GAMES, file, PARQUET), &games::to_batch(games))
    }

    /// The models that have games, ascending; 0 is `random`.
    ///
    /// # Errors
    /// A store that cannot be reached.
    pub fn models(&self) -> Result<Vec<u32>, StoreError> {
        let folders = self.at.store.folders(&self.at.path([GAMES]))?;
        let mut models: BTreeSet<u32> = folders.iter().filter_map(|name| parse_number(name)).collect();
        models.extend(self.archives.files_from(0)?.iter().map(|file| file.model));
        Ok(models.into_iter().collect())
    }

    /// The files of games of one model, oldest first. Files whose names are no `Stem`s are not ours and not listed.
    ///
    /// # Errors
    /// A store that cannot be reached.
    pub fn files(&self, model: u32) -> Result<Vec<FileRef>, StoreError> {
        let names = self.at.store.files(&self.at.numbered(GAMES, model))?;
        let mut files: BTreeSet<FileRef> = FileRef::all_in(&number_name(model), &names).collect();
        files.extend(self.archives.files_from(model)?.into_iter().take_while(|file| file.model == model));
        Ok(files.into_iter().collect())
    }

    /// The files of games of models from `first` on, oldest model and oldest file first. What this costs does not grow
    /// with the number of models before.
    ///
    /// # Errors
    /// A store that cannot be reached.
    pub fn files_since(&self, first: u32) -> Result<Vec<FileRef>, StoreError> {
        let before = first.checked_sub(1).map(number_name);
        let found: BTreeMap<String, BTreeSet<String>> =
            self.at.store.after(&self.at.path([GAMES]), before.as_deref())?;
        let mut files: BTreeSet<FileRef> =
            found.iter().flat_map(|(folder, names)| FileRef::all_in(folder, names)).collect();
        files.extend(self.archives.files_from(first)?);
        Ok(files.into_iter().collect())
    }

    /// The files of games of the newest model that has any, oldest first. Their number shows whether one has come, for
    /// one of a worker whose clock is behind is not the newest.
    ///
    /// # Errors
    /// A store that cannot be reached.
    pub fn newest_files(&self) -> Result<Vec<FileRef>, StoreError> {
        self.newest_model()?.map_or_else(|| Ok(Vec::new()), |model| self.files(model))
    }

    /// The newest model that has games; `None` before any.
    ///
    /// # Errors
    /// A store that cannot be reached.
    pub fn newest_model(&self) -> Result<Option<u32>, StoreError> {
        let newest = self.newest_folder.find(|name| parse_number(name).is_some())?;
        let loose = newest.and_then(|name| parse_number(&name));
        let archives = self.archives.list()?;
        let archived = archives.iter().filter_map(|archive| Some(archive.sources.last_key_value()?.0.model));
        Ok(loose.into_iter().chain(archived).max())
    }

    /// The files of games of one model that have holdout examples, oldest first.
    ///
    /// # Errors
    /// A store that cannot be reached.
    pub fn holdout_files(&self, model: u32) -> Result<Vec<FileRef>, StoreError> {
        let files = self.at.store.files(&self.at.numbered(HOLDOUT, model))?;
        let mut counting = self.files(model)?;
        let archived = |file: &FileRef| {
            let archive = self.archives.known_holding(file);
            archive.is_some_and(|archive| archive.sources[file].holdout.rows > 0)
        };
        counting.retain(|file| files.contains(&format!("{}.{PARQUET}", file.stem)) || archived(file));
        Ok(counting)
    }

    /// The numbers of the games that this worker has published for this model: what it need not play again.
    ///
    /// # Errors
    /// [`StoreError::OtherVersion`] for a file of another version. A damaged one is moved to quarantine; its games are
    /// played again.
    pub fn indices(&self, model: u32, worker: &str) -> Result<BTreeSet<u64>, StoreError> {
        // Lists only the names of this worker, which may be one of thousands.
        let names = self.at.store.files_beginning(&self.at.numbered(GAMES, model), &format!("{worker}-"))?;
        let mut files: BTreeSet<FileRef> = FileRef::all_in(&number_name(model), &names).collect();
        files.extend(self.archives.files_from(model)?.into_iter().take_while(|file| file.model == model));
        let mut indices = BTreeSet::new();
        for file in files.iter().filter(|file| file.stem.worker() == worker) {
            indices.extend(self.summaries_or_quarantine(file)?.iter().flatten().map(|game| game.index));
        }
        Ok(indices)
    }

    /// The games of a file, [as they are stored](GameRecord::as_stored).
    ///
    /// # Errors
    /// [`StoreError::Damaged`] when they cannot be read.
    pub fn read(&self, file: &FileRef) -> Result<Vec<GameRecord>, StoreError> {
        self.archives.read(GAMES, file, None, games::from_batch)
    }

    /// The games of a file without their turns.
    ///
    /// # Errors
    /// [`StoreError::Damaged`] when they cannot be read.
    pub fn summaries(&self, file: &FileRef) -> Result<Vec<GameSummary>, StoreError> {
        self.archives.read(GAMES, file, Some(&GameSummary::COLUMNS), GameSummary::from_batch)
    }

    /// The games of a file with their lengths and how they began, but without the rest of their turns.
    ///
    /// # Errors
    /// [`StoreError::Damaged`] when they cannot be read.
    pub fn outlines(&self, file: &FileRef) -> Result<Vec<GameOutline>, StoreError> {
        self.archives.read(GAMES, file, Some(&GameOutline::COLUMNS), GameOutline::from_batch)
    }

    /// Some columns of a file of games, one row a game. Columns that the file does not have are left out.
    ///
    /// # Errors
    /// [`StoreError::Damaged`] when they cannot be read.
    pub fn columns(&self, file: &FileRef, columns: &[&str]) -> Result<RecordBatch, StoreError> {
        let checked = |table: &RecordBatch| games::check_version(table).map(|()| table.clone());
        self.archives.read(GAMES, file, Some(columns), checked)
    }

    /// The number of games of a file, from its footer or its archive.
    ///
    /// # Errors
    /// [`StoreError::Damaged`] when the footer cannot be read.
    pub fn count(&self, file: &FileRef) -> Result<usize, StoreError> {
        if let Some(archive) = self.archives.known_holding(file) {
            return Ok(archive.sources[file].games.rows);
        }
        match self.at.store.open_table(&self.at.file(GAMES, file, PARQUET)) {
            Ok(table) => Ok(table.rows()),
            // It went into an archive just now.
            Err(StoreError::NotFound { path }) => match self.archives.holding(file)? {
                Some(archive) => Ok(archive.sources[file].games.rows),
                None => Err(StoreError::NotFound { path }),
            },
            Err(error) => Err(error),
        }
    }

    /// The full name of a file of games, for messages.
    pub fn name(&self, file: &FileRef) -> String {
        self.archives.name_of(GAMES, file)
    }

    /// Moves a set of files of games to quarantine; returns how many files moved. Those of an archive stay where they
    /// are.
    ///
    /// # Errors
    /// A store that cannot be reached, or that refuses writes.
    pub fn quarantine(&self, file: &FileRef) -> Result<usize, StoreError> {
        self.quarantine.put(
            [(GAMES, PARQUET), (EXAMPLES, PARQUET), (HOLDOUT, PARQUET), (SGF, SGF)]
                .map(|(folder, extension)| self.at.file(folder, file, extension)),
        )
    }

    /// Whether bytes of a set of files of games are not those that were published. Files of another version are not
    /// altered.
    ///
    /// # Errors
    /// A store that cannot be reached.
    pub fn is_altered(&self, file: &FileRef) -> Result<bool, StoreError> {
        for folder in [GAMES, EXAMPLES, HOLDOUT] {
            if self.quarantine.is_altered(&self.at.file(folder, file, PARQUET))? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The games of a file without their turns. A file whose bytes are damaged is moved to quarantine, and a damaged
    /// source of an archive is passed over: `None`.
    ///
    /// # Errors
    /// [`StoreError::OtherVersion`] for a file of another version.
    pub fn summaries_or_quarantine(&self, file: &FileRef) -> Result<Option<Vec<GameSummary>>, StoreError> {
        let read = self.summaries(file);
        if let Err(error @ StoreError::Damaged { .. }) = &read
            && self.archives.known_holding(file).is_some()
        {
            tracing::warn!(%error, "skipped a damaged source of an archive");
            return Ok(None);
        }
        let again = || self.summaries(file);
        self.quarantine.read_or_move(read, again, &self.at.file(GAMES, file, PARQUET), || self.quarantine(file))
    }

    /// The training examples and those of the validation set, each with their folder.
    fn examples_of(
        &self,
        file: &FileRef,
        games: &[GameRecord],
    ) -> Result<[(&'static str, Vec<Example>); 2], StoreError> {
        let mut rows = [(EXAMPLES, Vec::new()), (HOLDOUT, Vec::new())];
        for game in games {
            let examples = game.examples();
            let path = || self.name(file);
            let examples = examples.map_err(|source| StoreError::Record { path: path(), source })?;
            rows[usize::from(game.holdout)].1.extend(examples);
        }
        Ok(rows)
    }
}
