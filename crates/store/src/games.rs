//! Games of self-play, and their examples.
//!
//! A worker publishes many games at a time. The examples, the holdout examples and the readable games come first, under
//! the same stem, and the file of the games last: the games count from then on, and everything of another folder counts
//! only when the file of that stem is among the games.
//!
//! Files that have gone into an archive are listed and read as before (see `archive`).

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::str::FromStr;

use arrow_array::RecordBatch;
use bytes::Bytes;
use object_store::path::Path;
use record::{Example, ExampleRows, GameOutline, GameRecord, GameSummary, RecordError, UncheckedRows, examples, games};

use crate::names::{number_name, parse_number};
use crate::{Run, Stem, StoreError};

pub(crate) const GAMES: &str = "games";
pub(crate) const EXAMPLES: &str = "examples";
pub(crate) const HOLDOUT: &str = "holdout";
pub(crate) const SGF: &str = "sgf";
pub(crate) const PARQUET: &str = "parquet";

/// A published file of games.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FileRef {
    /// The number of the model that played; 0 is `random`. Files order by it first.
    pub model: u32,
    /// The name of the file.
    pub stem: Stem,
}

impl FileRef {
    /// The files among the names in one of the folders of games. Names that are no [`Stem`]s are not ours.
    pub(crate) fn all_in<'a>(folder: &str, names: &'a BTreeSet<String>) -> impl Iterator<Item = FileRef> + use<'a> {
        let model = parse_number(folder);
        let stems = names.iter().filter_map(|name| Stem::of_file(name, PARQUET));
        stems.filter_map(move |stem| Some(FileRef { model: model?, stem }))
    }
}

impl FromStr for FileRef {
    type Err = StoreError;

    fn from_str(text: &str) -> Result<FileRef, StoreError> {
        let bad = || StoreError::BadName(text.to_owned());
        let (model, stem) = text.split_once('/').ok_or_else(bad)?;
        Ok(FileRef { model: parse_number(model).ok_or_else(bad)?, stem: stem.parse()? })
    }
}

impl fmt::Display for FileRef {
    /// As in the store: `000330/w0-1700000000000`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", number_name(self.model), self.stem)
    }
}

impl Run {
    /// Publishes games of one model, number 0 for the built-in ones, under the name of the worker and the present time.
    /// The examples of games that are set aside go to the holdout folder, and only there.
    ///
    /// # Errors
    /// A game that could not be replayed: then nothing is published.
    pub fn publish_games(&self, model: u32, worker: &str, games: &[GameRecord]) -> Result<FileRef, StoreError> {
        self.publish_now(model, worker, |file| self.publish_new_games(file, games))
    }

    /// As [`Run::publish_games`], under a given name.
    ///
    /// # Errors
    /// [`StoreError::AlreadyExists`] when there are other games of this name; the same ones are no error.
    pub fn publish_games_as(&self, file: &FileRef, games: &[GameRecord]) -> Result<(), StoreError> {
        if self.archive_of(file)?.is_none() {
            return self.publish_new_games(file, games);
        }
        match self.holds(file, games)? {
            true => Ok(()),
            false => Err(StoreError::AlreadyExists { path: self.games_name(file) }),
        }
    }

    /// Whether a published file has these games, and their examples.
    fn holds(&self, file: &FileRef, games: &[GameRecord]) -> Result<bool, StoreError> {
        if self.read_games(file)? != games.iter().map(GameRecord::as_stored).collect::<Vec<_>>() {
            return Ok(false);
        }
        for (folder, rows) in self.examples_of(file, games)? {
            let same = match self.read(folder, file, None, ExampleRows::from_batch) {
                Err(StoreError::NotFound { .. }) => rows.is_empty(),
                found => found?.to_examples() == rows,
            };
            if !same {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn publish_new_games(&self, file: &FileRef, games: &[GameRecord]) -> Result<(), StoreError> {
        let rows_of = self.examples_of(file, games)?;
        // There are always readable games, so they come first: of two who take the same name, one stops here and leaves nothing.
        let sgf: String = games.iter().map(GameRecord::to_sgf).collect();
        self.store().publish(&self.file(SGF, file, SGF), Bytes::from(sgf))?;
        for (folder, rows) in rows_of {
            if !rows.is_empty() {
                self.store().publish_table(&self.file(folder, file, PARQUET), &examples::to_batch(&rows))?;
            }
        }
        self.store().publish_table(&self.file(GAMES, file, PARQUET), &games::to_batch(games))
    }

    /// The models that have games, ascending; 0 is `random`.
    ///
    /// # Errors
    /// A store that cannot be reached.
    pub fn game_models(&self) -> Result<Vec<u32>, StoreError> {
        let folders = self.store().folders(&self.path([GAMES]))?;
        let mut models: BTreeSet<u32> = folders.iter().filter_map(|name| parse_number(name)).collect();
        models.extend(self.archived_from(0)?.iter().map(|file| file.model));
        Ok(models.into_iter().collect())
    }

    /// The files of games of one model, oldest first. Files whose names are no [`Stem`]s are not ours and not listed.
    ///
    /// # Errors
    /// A store that cannot be reached.
    pub fn game_files(&self, model: u32) -> Result<Vec<FileRef>, StoreError> {
        let names = self.store().files(&self.numbered(GAMES, model))?;
        let mut files: BTreeSet<FileRef> = FileRef::all_in(&number_name(model), &names).collect();
        files.extend(self.archived_from(model)?.into_iter().take_while(|file| file.model == model));
        Ok(files.into_iter().collect())
    }

    /// The files of games of models from `first` on, oldest model and oldest file first. What this costs does not grow
    /// with the number of models before.
    ///
    /// # Errors
    /// A store that cannot be reached.
    pub fn game_files_since(&self, first: u32) -> Result<Vec<FileRef>, StoreError> {
        let before = first.checked_sub(1).map(number_name);
        let found: BTreeMap<String, BTreeSet<String>> = self.store().after(&self.path([GAMES]), before.as_deref())?;
        let mut files: BTreeSet<FileRef> =
            found.iter().flat_map(|(folder, names)| FileRef::all_in(folder, names)).collect();
        files.extend(self.archived_from(first)?);
        Ok(files.into_iter().collect())
    }

    /// The files in archives, of models from `first` on, in order.
    fn archived_from(&self, first: u32) -> Result<BTreeSet<FileRef>, StoreError> {
        let archives = self.archives()?;
        let files = archives.iter().flat_map(|archive| archive.sources.keys());
        Ok(files.filter(|file| file.model >= first).cloned().collect())
    }

    /// The newest file of games of the newest model that has any; `None` before there is one.
    ///
    /// # Errors
    /// A store that cannot be reached.
    pub fn newest_games(&self) -> Result<Option<FileRef>, StoreError> {
        Ok(self.newest_files()?.pop())
    }

    /// The files of games of the newest model that has any, oldest first. How many there are tells whether one has come, for one
    /// of a worker whose clock is behind is not the newest.
    ///
    /// # Errors
    /// A store that cannot be reached.
    pub fn newest_files(&self) -> Result<Vec<FileRef>, StoreError> {
        self.newest_player()?.map_or_else(|| Ok(Vec::new()), |model| self.game_files(model))
    }

    /// The newest model that has games; `None` before any.
    pub(crate) fn newest_player(&self) -> Result<Option<u32>, StoreError> {
        let newest = self.newest_name(GAMES, |name| Ok(parse_number(name).is_some()))?;
        let loose = newest.and_then(|name| parse_number(&name));
        let archives = self.archives()?;
        let archived = archives.iter().filter_map(|archive| Some(archive.sources.last_key_value()?.0.model));
        Ok(loose.into_iter().chain(archived).max())
    }

    /// The files of games of one model that have holdout examples, oldest first.
    ///
    /// # Errors
    /// A store that cannot be reached.
    pub fn holdout_files(&self, model: u32) -> Result<Vec<FileRef>, StoreError> {
        let files = self.store().files(&self.numbered(HOLDOUT, model))?;
        let mut counting = self.game_files(model)?;
        let archived = |file: &FileRef| {
            let archive = self.known_archive_of(file);
            archive.is_some_and(|archive| archive.sources[file].holdout.rows > 0)
        };
        counting.retain(|file| files.contains(&format!("{}.{PARQUET}", file.stem)) || archived(file));
        Ok(counting)
    }

    /// The numbers of the games that this worker has published for this model: what it need not play again.
    ///
    /// # Errors
    /// [`StoreError::Damaged`] for a file that this version cannot read. A damaged one is moved to quarantine; its games are
    /// played again.
    pub fn published_indices(&self, model: u32, worker: &str) -> Result<BTreeSet<u64>, StoreError> {
        // Of all names in the folder those of this worker are asked for, who may be one of thousands.
        let names = self.store().files_beginning(&self.numbered(GAMES, model), &format!("{worker}-"))?;
        let mut files: BTreeSet<FileRef> = FileRef::all_in(&number_name(model), &names).collect();
        files.extend(self.archived_from(model)?.into_iter().take_while(|file| file.model == model));
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
    pub fn read_games(&self, file: &FileRef) -> Result<Vec<GameRecord>, StoreError> {
        self.read(GAMES, file, None, games::from_batch)
    }

    /// The games of a file without their turns.
    ///
    /// # Errors
    /// [`StoreError::Damaged`] when they cannot be read.
    pub fn read_summaries(&self, file: &FileRef) -> Result<Vec<GameSummary>, StoreError> {
        self.read(GAMES, file, Some(&GameSummary::COLUMNS), GameSummary::from_batch)
    }

    /// The games of a file with their lengths, but without their turns.
    ///
    /// # Errors
    /// [`StoreError::Damaged`] when they cannot be read.
    pub fn read_outlines(&self, file: &FileRef) -> Result<Vec<GameOutline>, StoreError> {
        self.read(GAMES, file, Some(&GameOutline::COLUMNS), GameOutline::from_batch)
    }

    /// How long the games of a file are, and how many examples their first `turns` turns have.
    ///
    /// # Errors
    /// [`StoreError::Damaged`] when they cannot be read.
    pub fn read_spans(&self, file: &FileRef, turns: usize) -> Result<Vec<games::Span>, StoreError> {
        self.read(GAMES, file, Some(&games::Span::COLUMNS), |batch| games::Span::from_batch(batch, turns))
    }

    /// How far search and network disagreed about each example of a file.
    ///
    /// # Errors
    /// As [`Run::read_examples`].
    pub fn read_surprises(&self, file: &FileRef) -> Result<Vec<examples::Surprise>, StoreError> {
        self.read(EXAMPLES, file, Some(&examples::SURPRISE_COLUMNS), examples::surprises)
    }

    /// The examples of a file of games, those of its holdout games left out: game after game in order.
    ///
    /// # Errors
    /// [`StoreError::NotFound`] when there are none, [`StoreError::Damaged`] when they cannot be read.
    pub fn read_examples(&self, file: &FileRef) -> Result<ExampleRows, StoreError> {
        self.read(EXAMPLES, file, None, ExampleRows::from_batch)
    }

    /// As [`Run::read_examples`], for those who want a few rows: nothing is checked but the file's seal.
    ///
    /// # Errors
    /// As [`Run::read_examples`].
    pub fn open_examples(&self, file: &FileRef) -> Result<UncheckedRows, StoreError> {
        self.read(EXAMPLES, file, None, |batch| Ok(UncheckedRows::new(batch)))
    }

    /// The examples of the holdout games of a file.
    ///
    /// # Errors
    /// As [`Run::read_examples`].
    pub fn read_holdout(&self, file: &FileRef) -> Result<ExampleRows, StoreError> {
        self.read(HOLDOUT, file, None, ExampleRows::from_batch)
    }

    /// The full name of a file of games, for people.
    pub fn games_name(&self, file: &FileRef) -> String {
        self.name_of(GAMES, file)
    }

    /// The full name of a file of examples, for people.
    pub fn examples_name(&self, file: &FileRef) -> String {
        self.name_of(EXAMPLES, file)
    }

    /// The full name of a file of holdout examples, for people.
    pub fn holdout_name(&self, file: &FileRef) -> String {
        self.name_of(HOLDOUT, file)
    }

    /// Where a file is, as far as is known, and where it was before it went into an archive.
    fn name_of(&self, folder: &str, file: &FileRef) -> String {
        let archive = self.known_archive_of(file).and_then(|archive| archive.path(self, folder));
        match archive {
            Some(archive) => format!("{} ({file})", self.store().name(&archive)),
            None => self.store().name(&self.file(folder, file, PARQUET)),
        }
    }

    fn read<T>(
        &self,
        folder: &'static str,
        file: &FileRef,
        columns: Option<&[&str]>,
        from_batch: impl Fn(&RecordBatch) -> Result<T, RecordError>,
    ) -> Result<T, StoreError> {
        let table = self.read_wherever(folder, file, columns)?;
        from_batch(&table).map_err(|e| StoreError::Damaged { path: self.name_of(folder, file), reason: e.to_string() })
    }

    /// Reads a file from its folder, or from the archive that it has gone into, even if it went just now.
    fn read_wherever(
        &self,
        folder: &'static str,
        file: &FileRef,
        columns: Option<&[&str]>,
    ) -> Result<RecordBatch, StoreError> {
        let loose = || self.store().read_table(&self.file(folder, file, PARQUET), columns);
        if let Some(archive) = self.known_archive_of(file) {
            let archived = self.read_archived(&archive, folder, file, columns);
            // While the file is still there, an archive that is damaged does no harm.
            return archived.or_else(|error| if error.is_damage() { loose().map_err(|_| error) } else { Err(error) });
        }
        match loose() {
            Err(StoreError::NotFound { path }) => match self.archive_of(file)? {
                Some(archive) => self.read_archived(&archive, folder, file, columns),
                None => Err(StoreError::NotFound { path }),
            },
            read => read,
        }
    }

    /// The examples to learn from, and those of the games that are set aside, each with their folder.
    fn examples_of(
        &self,
        file: &FileRef,
        games: &[GameRecord],
    ) -> Result<[(&'static str, Vec<Example>); 2], StoreError> {
        let mut rows = [(EXAMPLES, Vec::new()), (HOLDOUT, Vec::new())];
        for game in games {
            let examples = game.examples();
            let path = || self.games_name(file);
            let examples = examples.map_err(|source| StoreError::Record { path: path(), source })?;
            rows[usize::from(game.holdout)].1.extend(examples);
        }
        Ok(rows)
    }

    pub(crate) fn file(&self, folder: &str, file: &FileRef, extension: &str) -> Path {
        self.numbered(folder, file.model).join(format!("{}.{extension}", file.stem))
    }
}
