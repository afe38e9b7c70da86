//! Reading a run step by step.

use std::collections::{BTreeMap, BTreeSet, HashSet, VecDeque};
use std::sync::Arc;

use config::{RunConfig, RunName};
use record::{GameId, GameOutline};
use store::{FileRef, LogName, ModelMetadata, RatingRow, ResignThreshold, Run, Stem, StoreError};

use crate::counts::Counts;
use crate::curves::Curves;
use crate::pool::Pool;
use crate::unread::Unread;

/// Models whose games are known by name, the newest. A file of an older one makes the reader read all games of that
/// model again.
const WITH_NAMES: usize = 3;
/// Every so many listings all logs, thresholds and games are listed: an old model may have new ones.
const WHOLE_LISTING: u64 = 100;

/// What is known of a run. Cloning is cheap.
#[derive(Clone, Debug)]
pub struct Facts {
    /// Its name.
    pub run: RunName,
    /// Its configuration.
    pub config: Arc<RunConfig>,
    /// The newest model.
    pub newest_model: Option<u32>,
    /// Metadata of models.
    pub models: Arc<BTreeMap<u32, ModelMetadata>>,
    /// Models that are retired.
    pub retired: Arc<BTreeSet<u32>>,
    /// The newest ratings, strongest first.
    pub ratings: Arc<Vec<RatingRow>>,
    /// Self-play by model; model 0 is `random`. Imported games are beside those of model 0.
    pub games: Arc<BTreeMap<u32, ModelGames>>,
    /// Matches.
    pub pool: Arc<Pool>,
    /// Resign thresholds, oldest first, each with its time in milliseconds since 1970.
    pub thresholds: Arc<BTreeMap<String, (u64, ResignThreshold)>>,
    /// Logs of training.
    pub curves: Arc<Curves>,
    /// Processes that published files, by stage and name.
    pub workers: Arc<BTreeMap<(&'static str, String), Worker>>,
    /// The newest generation whose shards are all there.
    pub shards: Option<u32>,
    /// Files that were found and not read yet.
    pub unread: usize,
    /// Why files cannot be read, the newest of them.
    pub damaged: Arc<VecDeque<String>>,
    /// How many files cannot be read.
    pub unreadable: usize,
}

/// Self-play of one model.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ModelGames {
    /// The games; one that was published twice counts once.
    pub counts: Counts,
    /// Games that were imported, which are not among them: no search played them.
    pub imported: u64,
    /// Time in the name of the first file that is not of imported games, in milliseconds since 1970.
    pub first: Option<u64>,
}

/// A process, as its files show it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Worker {
    /// Time in the name of its newest file, in milliseconds since 1970; of shards when they were published.
    pub newest: u64,
    /// Its files, without those that went into archives before the reader began. Shards of a model count as one.
    pub files: u64,
    /// The model of the newest file, if it is a file of games or a log of training; the model that shards are for.
    pub model: Option<u32>,
}

/// Reads a run step by step.
pub struct Reader {
    run: Run,
    facts: Facts,
    unread: Unread,
    /// Files that were found.
    logs: BTreeSet<String>,
    thresholds: BTreeSet<String>,
    matches: BTreeSet<Stem>,
    games: BTreeMap<u32, BTreeSet<FileRef>>,
    ratings: Option<u64>,
    /// The games that were counted, of the newest models.
    names: BTreeMap<u32, HashSet<GameId>>,
    /// The errors of files that cannot be read. Files of an old model may be read several times, and count once.
    errors: HashSet<String>,
    listings: u64,
}

/// Damaged files that are remembered.
const MOST_DAMAGED: usize = 20;

impl Reader {
    /// A reader that has read nothing but the configuration.
    ///
    /// # Errors
    /// There is no such run, or its store cannot be read.
    pub fn open(run: Run) -> Result<Reader, StoreError> {
        let config = run.config()?.ok_or_else(|| StoreError::NotFound { path: format!("{}/run.toml", run.name()) })?;
        let facts = Facts {
            run: run.name().clone(),
            config: Arc::new(config),
            newest_model: None,
            models: Arc::default(),
            retired: Arc::default(),
            ratings: Arc::default(),
            games: Arc::default(),
            pool: Arc::default(),
            thresholds: Arc::default(),
            curves: Arc::default(),
            workers: Arc::default(),
            shards: None,
            unread: 0,
            damaged: Arc::default(),
            unreadable: 0,
        };
        Ok(Reader {
            run,
            facts,
            unread: Unread::default(),
            logs: BTreeSet::new(),
            thresholds: BTreeSet::new(),
            matches: BTreeSet::new(),
            games: BTreeMap::new(),
            ratings: None,
            names: BTreeMap::new(),
            errors: HashSet::new(),
            listings: 0,
        })
    }

    /// What is known so far.
    pub fn facts(&self) -> Facts {
        Facts { unread: self.unread.files(), ..self.facts.clone() }
    }

    /// Whether all files that were found are read.
    pub fn is_done(&self) -> bool {
        self.unread.is_empty()
    }

    /// Reads what takes few requests in a run of any age: the newest model and the ratings. Returns whether they are
    /// new.
    ///
    /// # Errors
    /// A store that cannot be read.
    pub fn refresh(&mut self) -> Result<bool, StoreError> {
        let newest = self.run.models().newest()?;
        let time = self.run.ratings().newest_time()?;
        let is_new = newest != self.facts.newest_model || time != self.ratings;
        if time != self.ratings {
            let read = self.run.ratings().newest();
            // Until the next ones are published there are none.
            let rows = self.unless_damaged(read)?.flatten().unwrap_or_default();
            (self.facts.ratings, self.ratings) = (Arc::new(rows), time);
        }
        if newest != self.facts.newest_model {
            let from = self.facts.newest_model.map_or(1, |known| known + 1);
            self.unread.models.extend(from..=newest.unwrap_or_default());
            self.facts.newest_model = newest;
        }
        Ok(is_new)
    }

    /// Lists what is new in the run. Returns whether there is something new.
    ///
    /// # Errors
    /// A store that cannot be read.
    pub fn list(&mut self) -> Result<bool, StoreError> {
        let before = self.unread.files();
        let is_whole = self.listings.is_multiple_of(WHOLE_LISTING);
        self.listings += 1;
        // Names begin with numbers that grow; a log or threshold of an old number is found by the next whole listing.
        let logs = match self.logs.last().filter(|_| !is_whole) {
            Some(newest) => self.run.logs().list_after(newest)?,
            None => self.run.logs().list()?,
        };
        for name in logs.into_iter().filter(|name| name.ends_with(".jsonl")) {
            if self.logs.insert(name.clone()) {
                if let Ok(LogName { generation, time }) = name.parse() {
                    self.note("trainer", "trainer", time, Some(generation));
                }
                self.unread.logs.insert(name);
            }
        }
        let thresholds = match self.thresholds.last().filter(|_| !is_whole) {
            Some(newest) => self.run.resign().list_after(newest)?,
            None => self.run.resign().list()?,
        };
        for name in thresholds {
            if self.thresholds.insert(name.clone()) {
                self.unread.thresholds.insert(name);
            }
        }
        for stem in self.run.matches().files()? {
            if self.matches.insert(stem.clone()) {
                self.note("evaluator", stem.worker(), stem.time(), None);
                self.unread.matches.insert(stem);
            }
        }
        self.list_games(is_whole)?;
        let has_shards = self.list_shards()?;
        let retired = self.run.retirements().retired()?;
        let has_retired = *self.facts.retired != retired;
        if has_retired {
            self.facts.retired = Arc::new(retired);
        }
        Ok(has_shards || has_retired || self.unread.files() > before)
    }

    /// Finds the newest whole shards, and the time at which they became whole: those of the newest generation, or of
    /// the one before it, while parts of the newest are published.
    fn list_shards(&mut self) -> Result<bool, StoreError> {
        let generations = self.run.shards().generations()?;
        for generation in generations.into_iter().rev().take(2) {
            if self.facts.shards == Some(generation) {
                return Ok(false);
            }
            if let Some(time) = self.run.shards().published_at(generation)? {
                let newest = u64::try_from(time).unwrap_or_default();
                // Old shards are deleted, and each model had its own.
                let shuffler = Worker { newest, files: generation.into(), model: Some(generation) };
                Arc::make_mut(&mut self.facts.workers).insert(("shuffler", "shuffler".to_owned()), shuffler);
                self.facts.shards = Some(generation);
                return Ok(true);
            }
        }
        Ok(self.facts.shards.take().is_some())
    }

    fn list_games(&mut self, is_whole: bool) -> Result<(), StoreError> {
        let newest = self.games.last_key_value().map_or(0, |(&model, _)| model);
        // Workers may still publish games of the model before.
        let first = if is_whole { 0 } else { newest.saturating_sub(1) };
        for file in self.run.games().files_since(first)? {
            if self.games.entry(file.model).or_default().insert(file.clone()) {
                self.note("selfplay", file.stem.worker(), file.stem.time(), Some(file.model));
                self.unread.games.entry(file.model).or_default().insert(file);
            }
        }
        Ok(())
    }

    fn note(&mut self, stage: &'static str, name: &str, time: u64, model: Option<u32>) {
        let workers = Arc::make_mut(&mut self.facts.workers);
        let worker = workers.entry((stage, name.to_owned())).or_insert(Worker { newest: 0, files: 0, model: None });
        worker.files += 1;
        if time >= worker.newest {
            (worker.newest, worker.model) = (time, model);
        }
    }

    /// Reads about so many files of those that were listed, small ones of all kinds first.
    ///
    /// # Errors
    /// A store that cannot be reached. Damaged files are passed over.
    pub fn read(&mut self, most: usize) -> Result<(), StoreError> {
        let before = self.unread.files();
        let read = |reader: &Reader| before.saturating_sub(reader.unread.files()) < most;
        self.read_thresholds(most)?;
        if read(self) {
            self.read_logs(most)?;
        }
        if read(self) {
            self.read_models(most)?;
        }
        if read(self) {
            self.read_matches(most)?;
        }
        while read(self) && !self.unread.games.is_empty() {
            self.read_games()?;
        }
        Ok(())
    }

    fn read_thresholds(&mut self, most: usize) -> Result<(), StoreError> {
        let names = last(&self.unread.thresholds, most);
        let found = self.run.store().each(&names, |name| self.run.resign().get(name));
        self.settle(
            names,
            found,
            |unread| &mut unread.thresholds,
            |facts, name, threshold| {
                Arc::make_mut(&mut facts.thresholds).insert(name.clone(), threshold);
            },
        )
    }

    /// Oldest first: a step that was made again counts as it was made last.
    fn read_logs(&mut self, most: usize) -> Result<(), StoreError> {
        let names: Vec<String> = self.unread.logs.iter().take(most).cloned().collect();
        let found = self.run.store().each(&names, |name| self.run.logs().read(name));
        self.settle(
            names,
            found,
            |unread| &mut unread.logs,
            |facts, _, log| {
                Arc::make_mut(&mut facts.curves).read(&String::from_utf8_lossy(&log));
            },
        )
    }

    fn read_models(&mut self, most: usize) -> Result<(), StoreError> {
        let numbers = last(&self.unread.models, most);
        let found = self.run.store().each(&numbers, |&number| self.run.models().metadata(number));
        self.settle(
            numbers,
            found,
            |unread| &mut unread.models,
            |facts, &number, metadata| {
                Arc::make_mut(&mut facts.models).insert(number, metadata);
            },
        )
    }

    fn read_matches(&mut self, most: usize) -> Result<(), StoreError> {
        let stems = last(&self.unread.matches, most);
        let found = self.run.store().each(&stems, |stem| self.run.matches().outlines(stem));
        self.settle(
            stems,
            found,
            |unread| &mut unread.matches,
            |facts, _, games| {
                Arc::make_mut(&mut facts.pool).add(&games);
            },
        )
    }

    /// Adds what was read to the facts, and takes it from what is unread. What could not be reached stays unread.
    fn settle<K: Ord, T>(
        &mut self,
        keys: Vec<K>,
        found: Vec<Result<T, StoreError>>,
        unread: impl Fn(&mut Unread) -> &mut BTreeSet<K>,
        mut put: impl FnMut(&mut Facts, &K, T),
    ) -> Result<(), StoreError> {
        for (key, read) in keys.iter().zip(found) {
            let read = self.unless_damaged(read)?;
            unread(&mut self.unread).remove(key);
            if let Some(read) = read {
                put(&mut self.facts, key, read);
            }
        }
        Ok(())
    }

    /// Reads the unread games of the newest model that has any.
    fn read_games(&mut self) -> Result<(), StoreError> {
        let Some((&model, files)) = self.unread.games.last_key_value() else { return Ok(()) };
        let mut files = files.clone();
        if self.facts.games.contains_key(&model) && !self.names.contains_key(&model) {
            // Which games were counted is forgotten, so that they are counted again.
            files.clone_from(&self.games[&model]);
            self.unread.games.insert(model, files.clone());
            Arc::make_mut(&mut self.facts.games).remove(&model);
        }
        let files: Vec<FileRef> = files.into_iter().collect();
        let found = self.run.games().read_each(&files, |file| self.run.games().outlines(file));
        for (file, games) in files.iter().zip(found) {
            let games = self.unless_damaged(games)?;
            if let Some(unread) = self.unread.games.get_mut(&model) {
                unread.remove(file);
            }
            if let Some(games) = games {
                self.count(file, &games);
            }
        }
        self.unread.games.remove(&model);
        let oldest_with_names = self.games.keys().rev().nth(WITH_NAMES - 1).copied().unwrap_or_default();
        self.names.retain(|&model, _| model >= oldest_with_names);
        Ok(())
    }

    fn count(&mut self, file: &FileRef, games: &[GameOutline]) {
        let model = Arc::make_mut(&mut self.facts.games).entry(file.model).or_default();
        let time = file.stem.time();
        if !games.iter().all(|game| game.summary.is_imported()) {
            model.first = Some(model.first.map_or(time, |first| first.min(time)));
        }
        let names = self.names.entry(file.model).or_default();
        for game in games.iter().filter(|game| names.insert(game.summary.id)) {
            if game.summary.is_imported() {
                model.imported += 1;
            } else {
                model.counts.add(game);
            }
        }
    }

    /// The result; `None` when only this object is unusable or gone.
    fn unless_damaged<T>(&mut self, read: Result<T, StoreError>) -> Result<Option<T>, StoreError> {
        match read {
            Ok(read) => Ok(Some(read)),
            Err(error) if error.is_of_one_object() => {
                let error = error.to_string();
                if self.errors.insert(error.clone()) {
                    self.facts.unreadable = self.errors.len();
                    let damaged = Arc::make_mut(&mut self.facts.damaged);
                    damaged.push_back(error);
                    if damaged.len() > MOST_DAMAGED {
                        damaged.pop_front();
                    }
                }
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }
}

/// The last so many.
fn last<T: Ord + Clone>(set: &BTreeSet<T>, most: usize) -> Vec<T> {
    set.iter().rev().take(most).cloned().collect()
}

#[cfg(test)]
mod tests;
