//! Hand-off of games in progress between processes.
//!
//! A worker that stops hands off its games in progress through the store, if its job says so. A worker that starts
//! resumes such games before it begins any. Its model continues them, and they count for the original worker and model.

use std::collections::{BTreeMap, BTreeSet};

use config::ModelId;
use play::Selfplay;
use record::{GameId, GameRecord};
use store::{AcquiredGames, FileRef, Run, StoreError};

use crate::job::{Follow, Job, OnShutdown};
use crate::{SelfplayError, series};

/// Games in progress that a job hands off to the next one.
#[derive(Debug, Default)]
pub struct InProgressGames {
    /// For each worker thread.
    pub(crate) games: Vec<Vec<Selfplay>>,
    /// Where those come from that other processes began.
    pub(crate) acquired: AcquiredFiles,
    /// The indices of acquired games that cannot be resumed, with their files.
    refused: Vec<(FileRef, BTreeSet<u64>)>,
}

/// The files of games that this process has acquired, each with those that are not published yet.
#[derive(Debug, Default)]
pub(crate) struct AcquiredFiles(Vec<(FileRef, BTreeSet<GameId>)>);

impl InProgressGames {
    /// Begins a job: acquires handed-off games, if it may, file by file, until as many games are in progress as have
    /// slots. Returns how many it acquired.
    pub(crate) fn begin(&mut self, run: &Run, job: &Job) -> Result<u64, SelfplayError> {
        self.games.resize_with(job.threads, Vec::new);
        if job.on_shutdown == OnShutdown::Discard {
            return Ok(0);
        }
        // A worker of one model has nothing to do with games of another.
        let wanted = |number: u32| job.follow == Follow::Newest || number == job.model.number();
        let slots = job.threads * job.config.selfplay_slots();
        let mut resumed = 0;
        while self.count() < slots as u64 {
            let held: Vec<&FileRef> = self.acquired.0.iter().map(|(file, _)| file).collect();
            match run.unfinished().acquire(&job.worker, &held, wanted) {
                Err(error @ StoreError::Damaged { .. }) => {
                    tracing::warn!(%error, "handed-off games are damaged");
                    break;
                }
                acquired => match acquired? {
                    Some(acquired) => resumed += self.resume(run, job, acquired)?,
                    None => break,
                },
            }
        }
        Ok(resumed)
    }

    /// Resumes acquired games, and returns how many. Those that cannot be resumed are played anew. A file without any
    /// other is moved to quarantine, since it would be the first to be acquired again and again.
    fn resume(&mut self, run: &Run, job: &Job, acquired: AcquiredGames) -> Result<u64, SelfplayError> {
        let AcquiredGames { file, games } = acquired;
        let (model, name) = (job.model.to_string(), run.unfinished().name(&file));
        let (mut ids, mut refused) = (BTreeSet::new(), BTreeSet::new());
        for game in games {
            let (id, index) = (game.id, game.index);
            match Selfplay::resume(&job.config, game, &model) {
                Ok(game) => {
                    let thread = self.games.iter_mut().min_by_key(|games| games.len());
                    thread.expect("a job has a thread").push(game.timed(job.times));
                    ids.insert(id);
                }
                Err(why) => {
                    tracing::warn!(game = %id, index, file = name, error = why, "cannot resume a game in progress");
                    refused.insert(index);
                }
            }
        }
        if ids.is_empty() {
            run.unfinished().quarantine(&file)?;
            run.unfinished().release(&job.worker, &file)?;
            return Ok(0);
        }
        let resumed = ids.len();
        tracing::info!(games = resumed, begun = %file, "resumed games in progress");
        self.refused.push((file.clone(), refused));
        self.acquired.0.push((file, ids));
        Ok(resumed as u64)
    }

    /// Hands off or discards games in progress at shutdown, and returns the number of each.
    pub(crate) fn stop(
        &mut self,
        run: &Run,
        worker: &str,
        on_shutdown: OnShutdown,
    ) -> Result<(u64, u64), SelfplayError> {
        let games = self.count();
        let handed_off = match on_shutdown {
            OnShutdown::Discard => 0,
            OnShutdown::Handoff => self.hand_off(run, worker)?,
        };
        // A driver calls this again when it shuts down.
        self.games.iter_mut().for_each(Vec::clear);
        if handed_off > 0 {
            tracing::info!(games = handed_off, "handed off games in progress");
        } else if games > 0 {
            tracing::info!(games, "discarded games in progress");
        }
        Ok((handed_off, games - handed_off))
    }

    /// Hands off all games in progress; returns how many those were.
    fn hand_off(&mut self, run: &Run, worker: &str) -> Result<u64, SelfplayError> {
        let mut groups: BTreeMap<(u32, String), Vec<GameRecord>> = BTreeMap::new();
        for game in self.games.iter().flatten().map(Selfplay::record) {
            groups.entry((number(&game), game.worker.clone())).or_default().push(game);
        }
        let mut handed_off = BTreeSet::new();
        for ((number, series), mut games) in groups {
            games.sort_by_key(|game| game.index);
            run.unfinished().hand_off(number, &series, &games)?;
            handed_off.extend(games.iter().map(|game| game.id));
        }
        // Unpublished resumed games are in a file of their own again, but for those that were finished and could not be
        // published: another worker resumes these.
        while let Some((file, ids)) = self.acquired.0.first() {
            if ids.is_subset(&handed_off) {
                run.unfinished().complete(worker, file)?;
            } else {
                run.unfinished().release(worker, file)?;
            }
            // One of which this fails is tried again when the driver shuts down.
            self.acquired.0.remove(0);
        }
        Ok(handed_off.len() as u64)
    }

    /// Games in progress.
    pub(crate) fn count(&self) -> u64 {
        self.games.iter().map(|games| games.len() as u64).sum()
    }

    /// Whether no game is in progress, and no file of others is held for games that could not be published.
    pub(crate) fn is_empty(&self) -> bool {
        self.count() == 0 && self.acquired.0.is_empty()
    }
}

impl AcquiredFiles {
    /// These games are published now. A file of which all are is of no use any more.
    pub(crate) fn note(&mut self, run: &Run, worker: &str, published: &[GameRecord]) -> Result<(), StoreError> {
        for (_, ids) in &mut self.0 {
            ids.retain(|id| published.iter().all(|game| game.id != *id));
        }
        while let Some(place) = self.0.iter().position(|(_, ids)| ids.is_empty()) {
            run.unfinished().complete(worker, &self.0[place].0)?;
            self.0.remove(place);
        }
        Ok(())
    }
}

/// The number of the model that began a game.
pub(crate) fn number(game: &GameRecord) -> u32 {
    let model: ModelId = game.black.parse().expect("games are begun by models, and resumed ones were parsed");
    model.number()
}

/// The games of this job's series that must not begin: published ones, handed-off ones, whichever process resumes them,
/// unless they cannot be resumed, and those in progress here. Also the last of these alone.
pub(crate) fn begun(
    run: &Run,
    job: &Job,
    in_progress: &InProgressGames,
) -> Result<(BTreeSet<u64>, BTreeSet<u64>), SelfplayError> {
    let (number, series) = series::of(&job.model, &job.worker);
    let mut handed_off = BTreeSet::new();
    if job.on_shutdown == OnShutdown::Handoff {
        handed_off = run.unfinished().indices(number, series.as_str())?;
        let of_series = |file: &FileRef| file.model == number && file.stem.worker() == series.as_str();
        for (_, refused) in in_progress.refused.iter().filter(|(file, _)| of_series(file)) {
            handed_off.retain(|index| !refused.contains(index));
        }
    }
    let published = run.games().indices(number, series.as_str())?;
    let name = job.model.to_string();
    let games = in_progress.games.iter().flatten().filter(|game| game.is_of(&name, series.as_str()));
    let here: BTreeSet<u64> = games.map(Selfplay::index).collect();
    // Those here are in no file when an earlier job of this process has begun them.
    let begun = published.into_iter().chain(handed_off).chain(here.iter().copied());
    Ok((begun.collect(), here))
}
