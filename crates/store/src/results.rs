//! Results of matches, and the ratings fitted to them.

use std::collections::BTreeMap;

use bytes::Bytes;
use object_store::path::Path;
use record::{GameOutline, GameRecord, GameSummary, RatingRow, games, ratings};

use crate::names::{parse_time, time_name};
use crate::{Run, Stem, StoreError};

const MATCHES: &str = "matches";
const RATINGS: &str = "ratings";
const PARQUET: &str = "parquet";

impl Run {
    /// Publishes the games of a match, readable and as a table, under the name of the worker and the present time, or a later
    /// one: evaluators that nobody gave a number all have the same, and publish some in the same millisecond. They are no
    /// examples.
    ///
    /// # Errors
    /// A store that cannot be written.
    pub fn publish_results(&self, worker: &str, games: &[GameRecord]) -> Result<Stem, StoreError> {
        let sgf: Bytes = games.iter().map(GameRecord::to_sgf).collect::<String>().into();
        let table = games::to_batch(games);
        self.at_free_time(worker, |stem| {
            self.store().publish(&self.path(["sgf", MATCHES]).join(format!("{stem}.sgf")), sgf.clone())?;
            self.store().publish_table(&self.match_path(stem), &table)
        })
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

    /// All results, oldest first. Who asks again reads only what has come since.
    ///
    /// # Errors
    /// [`StoreError::Damaged`] when some cannot be read.
    pub fn results(&self) -> Result<Vec<GameSummary>, StoreError> {
        let mut all = Vec::new();
        for stem in self.result_files()? {
            let known = self.known_results().get(&stem).cloned();
            let games = match known {
                Some(games) => games,
                None => {
                    let games = self.read_results(&stem)?;
                    self.known_results().insert(stem, games.clone());
                    games
                }
            };
            all.extend(games);
        }
        Ok(all)
    }

    /// Publishes ratings fitted now. They are the newest, even where a process with a clock that was ahead has published before.
    ///
    /// # Errors
    /// A store that cannot be written.
    pub fn publish_ratings(&self, rows: &[RatingRow]) -> Result<(), StoreError> {
        let table = ratings::to_batch(rows);
        loop {
            let newest = self.newest_rating_time()?.map_or(0, |newest| newest + 1);
            match self.store().publish_table(&self.ratings_path(self.store().now().max(newest)), &table) {
                // Another evaluator was quicker in this millisecond; these are newer.
                Err(StoreError::AlreadyExists { .. }) => {}
                done => return done,
            }
        }
    }

    /// The newest ratings; `None` before any.
    ///
    /// # Errors
    /// [`StoreError::Damaged`] when they cannot be read.
    pub fn newest_ratings(&self) -> Result<Option<Vec<RatingRow>>, StoreError> {
        let Some(newest) = self.newest_rating_time()? else { return Ok(None) };
        self.store().read_records(&self.ratings_path(newest), None, ratings::from_batch).map(Some)
    }

    /// The time in the name of the newest ratings.
    fn newest_rating_time(&self) -> Result<Option<u64>, StoreError> {
        let time = |name: &str| parse_time(name.strip_suffix(".parquet")?);
        let newest = self.newest_name(RATINGS, |name| Ok(time(name).is_some()))?;
        Ok(newest.and_then(|name| time(&name)))
    }

    fn known_results(&self) -> std::sync::MutexGuard<'_, BTreeMap<Stem, Vec<GameSummary>>> {
        self.results.lock().expect("nobody panics while holding results")
    }

    fn match_path(&self, stem: &Stem) -> Path {
        self.path([MATCHES]).join(format!("{stem}.{PARQUET}"))
    }

    fn ratings_path(&self, time: u64) -> Path {
        self.path([RATINGS]).join(format!("{}.{PARQUET}", time_name(time)))
    }
}
