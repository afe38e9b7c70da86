//! The players of a machine, and the matches between two of them.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Instant;

use config::{PlayConfig, PlayerId, RunConfig};
use gtp::engines::{EngineSpecs, Identity};
use models::{EvaluationCacheOptions, Place};
use runtime::Stop;
use store::Stem;

use crate::match_runner::{self, MatchProgress, MatchRunner, Played};
use crate::player::{Player, PlayerSource};
use crate::{EvaluatorError, RatedRun};

mod duration_estimate;
mod scheduler;

pub(crate) use scheduler::Proposal;

use duration_estimate::DurationEstimate;

/// What this machine lends to the work.
#[derive(Clone, Debug)]
pub struct Resources {
    /// Where networks run.
    pub place: Place,
    /// Worker threads.
    pub threads: usize,
    /// Bytes for evaluations that are needed again, for each side in each thread.
    pub cache: usize,
    /// Whether games say when they were played.
    pub times: bool,
    /// The programs that may play here.
    pub engines: EngineSpecs,
    /// Where evaluations outlive the process, if they do.
    pub evaluations: Option<EvaluationCacheOptions>,
    /// Who writes the results; evaluators of one run have different names.
    pub worker: String,
}

/// A run whose players meet here.
pub struct Arena {
    pub(crate) rated: RatedRun,
    resources: Resources,
    /// The last two players that met; the next pair often has one of them.
    players: Vec<Player>,
    /// How long games take.
    duration_estimate: DurationEstimate,
    /// By pair, in order: the numbers of games that were void here as often as a game is begun.
    exhausted: BTreeMap<[PlayerId; 2], BTreeSet<u64>>,
    /// Pairs, in order, whose last match here had void games alone. They are not proposed: an engine may be broken.
    without_result: BTreeSet<[PlayerId; 2]>,
}

impl Arena {
    /// The arena of a run.
    ///
    /// # Errors
    /// The worker's name cannot be part of a file's name.
    pub fn open(rated: RatedRun, resources: Resources) -> Result<Arena, EvaluatorError> {
        // A name that cannot be written under is found out now, not when games have been played.
        Stem::now(&resources.worker)?;
        Ok(Arena {
            rated,
            resources,
            players: Vec::new(),
            duration_estimate: DurationEstimate::default(),
            exhausted: BTreeMap::new(),
            without_result: BTreeSet::new(),
        })
    }

    /// The run with its results.
    pub(crate) fn rated(&self) -> &RatedRun {
        &self.rated
    }

    fn config(&self) -> &RunConfig {
        self.rated.config()
    }

    /// Games of a pair that are played at a time.
    pub(crate) fn batch(&self) -> u64 {
        (self.config().evaluate.games_per_pair as u64).max(2 * self.resources.threads as u64).next_multiple_of(2)
    }

    /// The programs that may play.
    pub(crate) fn engines(&self) -> &EngineSpecs {
        &self.resources.engines
    }

    /// The numbers of the first `wanted` games of two players that were not played. They may be more than are wanted
    /// less those that were played, since these may be of a longer match that was interrupted, and have later openings.
    ///
    /// # Errors
    /// The store cannot be read.
    pub(crate) fn missing(&self, [one, other]: [&PlayerId; 2], wanted: u64) -> Result<Vec<u64>, EvaluatorError> {
        Ok(match_runner::missing(&self.rated.pool()?.played(one, other), wanted))
    }

    /// Lets two players play these games of their series. Points are those of `one`.
    fn play(
        &mut self,
        [one, other]: [&PlayerId; 2],
        games: Vec<u64>,
        stop: &Stop,
        watch: &mut dyn FnMut(MatchProgress),
    ) -> Result<MatchProgress, EvaluatorError> {
        // Either order of the two is one series of games.
        let (first, second) = (one.min(other), one.max(other));
        if games.is_empty() {
            return Ok(MatchProgress::default());
        }
        self.open_players([first, second])?;
        let player = |id: &PlayerId| self.players.iter().find(|player| player.id() == id).expect("both were opened");
        let Resources { ref place, threads, cache, times, ref worker, .. } = self.resources;
        let config = PlayConfig::from(self.config());
        let runner = MatchRunner {
            run: self.rated.run(),
            config: &config,
            first: player(first),
            second: player(second),
            games,
            has_results: self.rated.score([first, second])?.games > 0,
            threads,
            gpu: place.is_gpu(),
            cache,
            times,
            worker,
        };
        let seen_by_one = |progress: MatchProgress| if first == one { progress } else { progress.turned() };
        let began = Instant::now();
        let Played { progress, exhausted } = runner.play(stop, &mut |progress| watch(seen_by_one(progress)))?;
        self.duration_estimate.note([first, second], progress.finished, began.elapsed());
        let pair = [first.clone(), second.clone()];
        if progress.finished == 0 && !exhausted.is_empty() {
            self.without_result.insert(pair.clone());
        } else {
            self.without_result.remove(&pair);
        }
        self.exhausted.entry(pair).or_default().extend(exhausted);
        Ok(seen_by_one(progress))
    }

    /// Opens the players that are not open, and closes those that are not requested.
    fn open_players(&mut self, ids: [&PlayerId; 2]) -> Result<(), EvaluatorError> {
        self.players.retain(|player| ids.contains(&player.id()));
        for id in ids {
            if !self.players.iter().any(|player| player.id() == id) {
                let source = PlayerSource {
                    models: self.rated.models(),
                    config: self.config(),
                    engines: &self.resources.engines,
                    place: &self.resources.place,
                    batch: self.config().evaluate.batch,
                    evaluations: self.resources.evaluations.as_ref(),
                };
                let player = Player::open(&source, id)?;
                self.introduce(&player)?;
                self.players.push(player);
            }
        }
        Ok(())
    }

    /// Sees whether a program works, and that it is the one that has played under its name before.
    fn introduce(&self, player: &Player) -> Result<(), EvaluatorError> {
        let Some(engine) = player.engine() else { return Ok(()) };
        let Some(found) = engine.identify(self.config().game.board())? else { return Ok(()) };
        let known: Identity = self.rated.run().matches().remember_engine(engine.name(), &found)?;
        if known == found {
            return Ok(());
        }
        Err(EvaluatorError::OtherEngine { name: engine.name().clone(), known: Box::new(known), found: Box::new(found) })
    }
}

#[cfg(test)]
mod tests;

#[cfg(test)]
mod engine_tests;

#[cfg(test)]
mod simulation_tests;
