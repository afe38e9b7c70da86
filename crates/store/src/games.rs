//! Games of self-play, and their examples.
//!
//! A worker publishes many games at a time. The examples, the holdout examples and the readable games come first, under
//! the same stem, and the file of the games last: the games count from then on, and everything of another folder counts
//! only when the file of that stem is among the games.

use std::collections::BTreeSet;
use std::fmt;

use bytes::Bytes;
use object_store::path::Path;
use record::{Example, ExampleRows, GameOutline, GameRecord, GameSummary, RecordError, examples, games};

use crate::names::{number_name, parse_number};
use crate::{Run, Stem, StoreError};

const GAMES: &str = "games";
const EXAMPLES: &str = "examples";
const HOLDOUT: &str = "holdout";
const SGF: &str = "sgf";
const PARQUET: &str = "parquet";

/// A published file of games.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FileRef {
    /// The number of the model that played; 0 is `random`. Files order by it first.
    pub model: u32,
    /// The name of the file.
    pub stem: Stem,
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
        let file = FileRef { model, stem: Stem::now(worker)? };
        self.publish_games_as(&file, games)?;
        Ok(file)
    }

    /// As [`Run::publish_games`], under a given name.
    ///
    /// # Errors
    /// [`StoreError::AlreadyExists`] when there are other games of this name; the same ones are no error.
    pub fn publish_games_as(&self, file: &FileRef, games: &[GameRecord]) -> Result<(), StoreError> {
        let (holdout, training): (Vec<&GameRecord>, Vec<&GameRecord>) = games.iter().partition(|game| game.holdout);
        let training = self.examples_of(file, &training)?;
        let holdout = self.examples_of(file, &holdout)?;
        for (folder, rows) in [(EXAMPLES, training), (HOLDOUT, holdout)] {
            if !rows.is_empty() {
                self.store().publish_table(&self.file(folder, file, PARQUET), &examples::to_batch(&rows))?;
            }
        }
        let sgf: String = games.iter().map(GameRecord::to_sgf).collect();
        self.store().publish(&self.file(SGF, file, SGF), Bytes::from(sgf))?;
        self.store().publish_table(&self.file(GAMES, file, PARQUET), &games::to_batch(games))
    }

    /// The models that have games, ascending; 0 is `random`.
    ///
    /// # Errors
    /// A store that cannot be reached.
    pub fn game_models(&self) -> Result<Vec<u32>, StoreError> {
        let folders = self.store().folders(&self.path([GAMES]))?;
        let mut models: Vec<u32> = folders.iter().filter_map(|name| parse_number(name)).collect();
        models.sort_unstable();
        Ok(models)
    }

    /// The files of games of one model, oldest first. Files whose names are no [`Stem`]s are not ours and not listed.
    ///
    /// # Errors
    /// A store that cannot be reached.
    pub fn game_files(&self, model: u32) -> Result<Vec<FileRef>, StoreError> {
        let files = self.store().files(&self.numbered(GAMES, model))?;
        let stems: BTreeSet<Stem> = files.iter().filter_map(|name| Stem::of_file(name, PARQUET)).collect();
        Ok(stems.into_iter().map(|stem| FileRef { model, stem }).collect())
    }

    /// The files of games of models from `first` on, oldest model and oldest file first. What this costs does not grow
    /// with the number of models before.
    ///
    /// # Errors
    /// A store that cannot be reached.
    pub fn game_files_since(&self, first: u32) -> Result<Vec<FileRef>, StoreError> {
        let before = first.checked_sub(1).map(number_name);
        let found = self.store().after(&self.path([GAMES]), before.as_deref())?;
        let mut files = Vec::new();
        for (folder, names) in &found {
            let Some(model) = parse_number(folder) else { continue };
            let stems = names.iter().filter_map(|name| Stem::of_file(name, PARQUET));
            files.extend(stems.map(|stem| FileRef { model, stem }));
        }
        files.sort_unstable();
        Ok(files)
    }

    /// The newest file of games of the newest model that has any; `None` before there is one.
    ///
    /// # Errors
    /// A store that cannot be reached.
    pub fn newest_games(&self) -> Result<Option<FileRef>, StoreError> {
        let newest = self.newest_player()?.map(|model| self.game_files(model));
        Ok(newest.transpose()?.and_then(|mut files| files.pop()))
    }

    /// The newest model that has games; `None` before any.
    pub(crate) fn newest_player(&self) -> Result<Option<u32>, StoreError> {
        let newest = self.newest_name(GAMES, |name| Ok(parse_number(name).is_some()))?;
        Ok(newest.and_then(|name| parse_number(&name)))
    }

    /// The files of games of one model that have holdout examples, oldest first.
    ///
    /// # Errors
    /// A store that cannot be reached.
    pub fn holdout_files(&self, model: u32) -> Result<Vec<FileRef>, StoreError> {
        let files = self.store().files(&self.numbered(HOLDOUT, model))?;
        let mut counting = self.game_files(model)?;
        counting.retain(|file| files.contains(&format!("{}.{PARQUET}", file.stem)));
        Ok(counting)
    }

    /// The numbers of the games that this worker has published for this model: what it need not play again.
    ///
    /// # Errors
    /// [`StoreError::Damaged`] for a file that cannot be read: which games it has is not known. Once it is deleted, they
    /// are played again.
    pub fn published_indices(&self, model: u32, worker: &str) -> Result<BTreeSet<u64>, StoreError> {
        let mut indices = BTreeSet::new();
        for file in self.game_files(model)?.iter().filter(|file| file.stem.worker() == worker) {
            indices.extend(self.read_summaries(file)?.iter().map(|game| game.index));
        }
        Ok(indices)
    }

    /// The games of a file.
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

    /// The examples of a file of games, those of its holdout games left out: game after game in order.
    ///
    /// # Errors
    /// [`StoreError::NotFound`] when there are none, [`StoreError::Damaged`] when they cannot be read.
    pub fn read_examples(&self, file: &FileRef) -> Result<ExampleRows, StoreError> {
        self.read(EXAMPLES, file, None, ExampleRows::from_batch)
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
        self.store().name(&self.file(GAMES, file, PARQUET))
    }

    /// The full name of a file of examples, for people.
    pub fn examples_name(&self, file: &FileRef) -> String {
        self.store().name(&self.file(EXAMPLES, file, PARQUET))
    }

    /// The full name of a file of holdout examples, for people.
    pub fn holdout_name(&self, file: &FileRef) -> String {
        self.store().name(&self.file(HOLDOUT, file, PARQUET))
    }

    fn read<T>(
        &self,
        folder: &str,
        file: &FileRef,
        columns: Option<&[&str]>,
        from_batch: impl Fn(&arrow_array::RecordBatch) -> Result<T, RecordError>,
    ) -> Result<T, StoreError> {
        let path = self.file(folder, file, PARQUET);
        self.store().read_records(&path, columns, from_batch)
    }

    fn examples_of(&self, file: &FileRef, games: &[&GameRecord]) -> Result<Vec<Example>, StoreError> {
        let mut rows = Vec::new();
        for game in games {
            let examples = game.examples();
            let path = || self.games_name(file);
            rows.extend(examples.map_err(|source| StoreError::Record { path: path(), source })?);
        }
        Ok(rows)
    }

    fn file(&self, folder: &str, file: &FileRef, extension: &str) -> Path {
        self.numbered(folder, file.model).join(format!("{}.{extension}", file.stem))
    }
}
