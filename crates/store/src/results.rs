//! Results of matches, and the ratings fitted to them.

use bytes::Bytes;
use object_store::path::Path;
use record::{GameOutline, GameRecord, GameSummary, RatingRow, games, ratings};

use crate::names::{now, parse_time, time_name};
use crate::{Run, Stem, StoreError};

const MATCHES: &str = "matches";
const RATINGS: &str = "ratings";
const PARQUET: &str = "parquet";

impl Run {
    /// Publishes the games of a match, readable and as a table, under the name of the worker and the present time. They
    /// are no examples.
    ///
    /// # Errors
    /// A store that cannot be written.
    pub fn publish_results(&self, worker: &str, games: &[GameRecord]) -> Result<Stem, StoreError> {
        let stem = Stem::now(worker)?;
        let sgf: String = games.iter().map(GameRecord::to_sgf).collect();
        self.store().publish(&self.path(["sgf", MATCHES]).join(format!("{stem}.sgf")), Bytes::from(sgf))?;
        self.store().publish_table(&self.match_path(&stem), &games::to_batch(games))?;
        Ok(stem)
    }

    /// The files of results, oldest first.
    ///
    /// # Errors
    /// A store that cannot be reached.
    pub fn result_files(&self) -> Result<Vec<Stem>, StoreError> {
        let files = self.store().files(&self.path([MATCHES]))?;
        let mut stems: Vec<Stem> = files.iter().filter_map(|name| Stem::of_file(name, PARQUET)).collect();
        stems.sort_unstable();
        Ok(stems)
    }

    /// The results in one file.
    ///
    /// # Errors
    /// [`StoreError::Damaged`] when they cannot be read.
    pub fn read_results(&self, stem: &Stem) -> Result<Vec<GameSummary>, StoreError> {
        let path = self.match_path(stem);
        self.store().read_records(&path, Some(&GameSummary::COLUMNS), GameSummary::from_batch)
    }

    /// The results in one file with the lengths of the games.
    ///
    /// # Errors
    /// [`StoreError::Damaged`] when they cannot be read.
    pub fn read_result_outlines(&self, stem: &Stem) -> Result<Vec<GameOutline>, StoreError> {
        let path = self.match_path(stem);
        self.store().read_records(&path, Some(&GameOutline::COLUMNS), GameOutline::from_batch)
    }

    /// The games of one file of results, with all their turns.
    ///
    /// # Errors
    /// [`StoreError::Damaged`] when they cannot be read.
    pub fn read_result_games(&self, stem: &Stem) -> Result<Vec<GameRecord>, StoreError> {
        self.store().read_records(&self.match_path(stem), None, games::from_batch)
    }

    /// The full name of a file of results, for people.
    pub fn results_name(&self, stem: &Stem) -> String {
        self.store().name(&self.match_path(stem))
    }

    /// All results, oldest first.
    ///
    /// # Errors
    /// [`StoreError::Damaged`] when some cannot be read.
    pub fn results(&self) -> Result<Vec<GameSummary>, StoreError> {
        let files = self.result_files()?;
        let read: Result<Vec<_>, _> = files.iter().map(|stem| self.read_results(stem)).collect();
        Ok(read?.into_iter().flatten().collect())
    }

    /// Publishes ratings fitted now.
    ///
    /// # Errors
    /// A store that cannot be written.
    pub fn publish_ratings(&self, rows: &[RatingRow]) -> Result<(), StoreError> {
        self.store().publish_table(&self.ratings_path(now()), &ratings::to_batch(rows))
    }

    /// The newest ratings; `None` before any.
    ///
    /// # Errors
    /// [`StoreError::Damaged`] when they cannot be read.
    pub fn newest_ratings(&self) -> Result<Option<Vec<RatingRow>>, StoreError> {
        let time = |name: &str| parse_time(name.strip_suffix(".parquet")?);
        let newest = self.newest_name(RATINGS, |name| Ok(time(name).is_some()))?;
        let Some(newest) = newest.and_then(|name| time(&name)) else { return Ok(None) };
        self.store().read_records(&self.ratings_path(newest), None, ratings::from_batch).map(Some)
    }

    fn match_path(&self, stem: &Stem) -> Path {
        self.path([MATCHES]).join(format!("{stem}.{PARQUET}"))
    }

    fn ratings_path(&self, time: u64) -> Path {
        self.path([RATINGS]).join(format!("{}.{PARQUET}", time_name(time)))
    }
}
