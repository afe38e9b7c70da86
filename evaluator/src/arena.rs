//! A run, and what is done to measure it.

use cli::Stop;
use config::{ModelId, ModelRef, RunConfig, RunName};
use net::Device;
use play::{Seed, game_seed};
use rand::SeedableRng;
use ratings::pairing::{self, InFlight, Question, Reason, Rule};
use ratings::{RatingError, Ratings, Tally};
use store::{Run, Stem, Store};

use crate::meeting::{self, Meeting, Progress};
use crate::pool::{self, Pool};
use crate::table::Table;
use crate::{EvaluatorError, Player};

mod comparison;

pub use comparison::Comparison;

/// What this machine lends to the work.
#[derive(Clone, Debug)]
pub struct Place {
    /// Where networks run.
    pub device: Device,
    /// Worker threads.
    pub threads: usize,
    /// Bytes for evaluations that are needed again, for each side in each thread.
    pub cache: usize,
    /// Who writes the results; evaluators of one run have different names.
    pub worker: String,
}

/// A run whose models are measured.
pub struct Arena {
    store: Store,
    run: Run,
    config: RunConfig,
    place: Place,
    /// The last two players that met; the next pair often has one of them.
    players: Vec<Player>,
}

/// How one player has done against another.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Score {
    /// Games between them.
    pub games: u64,
    /// Points that the first of them made; a draw is half a point.
    pub points: f64,
}

/// Two players who should meet, and why.
#[derive(Clone, Debug, PartialEq)]
pub struct Proposal {
    /// One of them.
    pub first: ModelId,
    /// The other.
    pub second: ModelId,
    /// Why these two.
    pub reason: Reason,
}

impl Arena {
    /// The arena of a run in a store.
    ///
    /// # Errors
    /// The run does not exist, the store cannot be read, or the worker's name cannot be part of a file's name.
    pub fn open(store: &Store, name: &RunName, place: Place) -> Result<Arena, EvaluatorError> {
        // A name that cannot be written under is found out now, not when games have been played.
        Stem::now(&place.worker)?;
        let run = store.run(name);
        let no_run = || EvaluatorError::NoRun { run: name.clone(), store: store.root().to_owned() };
        let config = run.config()?.ok_or_else(no_run)?;
        Ok(Arena { store: store.clone(), run, config, place, players: Vec::new() })
    }

    /// The configuration of the run.
    pub fn config(&self) -> &RunConfig {
        &self.config
    }

    /// The model that a person means: the one they name, or the newest of the run they name.
    ///
    /// # Errors
    /// The run has no model yet, or the store cannot be read.
    pub fn resolve(&self, model: &ModelRef) -> Result<ModelId, EvaluatorError> {
        match model {
            ModelRef::Exact(id) => Ok(id.clone()),
            ModelRef::Newest(run) => {
                let newest = self.store.run(run).newest_model()?;
                newest.map(|number| run.model(number)).ok_or_else(|| EvaluatorError::NoModel(run.clone()))
            }
        }
    }

    /// Everything that was played in the run.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn pool(&self) -> Result<Pool, EvaluatorError> {
        Ok(Pool::new(self.run.results()?))
    }

    /// Lets two models meet until they have played `wanted` games against each other, those of earlier meetings
    /// included, so that a meeting that was interrupted can be repeated. Points are those of `one`.
    ///
    /// # Errors
    /// A model cannot be opened or fails, or the store refuses the results. Results that were published stay.
    pub fn meet(
        &mut self,
        [one, other]: [&ModelId; 2],
        wanted: u64,
        stop: &Stop,
        watch: &mut dyn FnMut(Progress),
    ) -> Result<Progress, EvaluatorError> {
        if one == other {
            return Err(EvaluatorError::Itself(one.clone()));
        }
        // Either order of the two is one series of games.
        let (first, second) = (one.min(other), one.max(other));
        let games = meeting::missing(&self.pool()?.played(first, second), wanted);
        if games.is_empty() {
            return Ok(Progress::default());
        }
        self.seat([first, second])?;
        let player = |id: &ModelId| self.players.iter().find(|player| player.id() == id).expect("both were seated");
        let Place { threads, cache, ref worker, .. } = self.place;
        let config = &self.config;
        let meeting = Meeting {
            run: &self.run,
            config,
            first: player(first),
            second: player(second),
            games,
            threads,
            cache,
            worker,
        };
        let seen_by_one = |progress: Progress| if first == one { progress } else { progress.turned() };
        meeting.play(stop, &mut |progress| watch(seen_by_one(progress))).map(seen_by_one)
    }

    /// How two models have done against each other so far.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn score(&self, [one, other]: [&ModelId; 2]) -> Result<Score, EvaluatorError> {
        let tally = self.pool()?.tally([one.clone(), other.clone()]);
        let place = |id: &ModelId| tally.place(&id.to_string()).expect("both are in the tally");
        let (games, points) = tally.between(place(one), place(other));
        Ok(Score { games: games.into(), points })
    }

    /// The pair that a rule chooses among the run's models, `random`, and everybody who has played; `None` when there
    /// are not two.
    ///
    /// # Errors
    /// The store cannot be read, or the results cannot be rated.
    pub fn propose(&self, rule: Rule) -> Result<Option<Proposal>, EvaluatorError> {
        let pool = self.pool()?;
        let models = self.models()?.into_iter();
        let tally = pool.tally(models.chain([ModelId::Random]));
        let (ratings, _) = Ratings::of_runs(&tally, |prior| prior).map_err(|source| self.unrated(source))?;
        let ages = self.ages(&tally);
        // The games so far are part of the seed, so that the same question gets another answer when something is new;
        // so is the worker, so that several at once share near-ties among them.
        let mut rng = Seed::seed_from_u64(game_seed(self.config.seed, &self.place.worker, "pair", pool.games() as u64));
        let games = u32::try_from(self.config.evaluate.games_per_pair).unwrap_or(u32::MAX);
        let in_flight = InFlight::default();
        let question = Question { ratings: &ratings, ages: &ages, in_flight: &in_flight, games, cost: &|_, _| 1.0 };
        let id = |player: usize| tally.players()[player].parse().ok();
        Ok(pairing::pairs(&question, rule, 1, &mut rng).first().and_then(|choice| {
            Some(Proposal { first: id(choice.first)?, second: id(choice.second)?, reason: choice.reason })
        }))
    }

    /// The models of the run, oldest first.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn models(&self) -> Result<Vec<ModelId>, EvaluatorError> {
        Ok(self.run.models()?.into_iter().map(|number| self.run.name().model(number)).collect())
    }

    /// The models that a new one meets: those at Fibonacci's distances before it that exist, and `random` where the
    /// run is not so old.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn ancestors(&self, model: &ModelId) -> Result<Vec<ModelId>, EvaluatorError> {
        let ModelId::Trained { run, number } = model else { return Ok(Vec::new()) };
        let older = self.store.run(run).models()?;
        let at = |distance: u32| {
            number.checked_sub(distance).map(|at| if at == 0 { ModelId::Random } else { run.model(at) })
        };
        let known = |id: &ModelId| match id {
            ModelId::Trained { number, .. } => older.contains(number),
            ModelId::Uniform | ModelId::Random => true,
        };
        Ok(pairing::fibonacci().map_while(at).filter(known).collect())
    }

    /// By player of a tally: the number of a model of the run.
    fn ages(&self, tally: &Tally) -> Vec<Option<u32>> {
        tally.players().iter().map(|player| pool::age(self.run.name(), player)).collect()
    }

    /// Rates everybody who has played, publishes the ratings if they are new, and returns them as a table.
    ///
    /// # Errors
    /// The store cannot be used, or the results cannot be rated.
    pub fn rate(&self) -> Result<Table, EvaluatorError> {
        let tally = self.pool()?.tally([]);
        let (ratings, step) = Ratings::of_runs(&tally, |prior| prior).map_err(|source| self.unrated(source))?;
        tracing::debug!(players = tally.players().len(), step, "rated");
        let table = Table::new(&tally, &ratings, &self.ages(&tally));
        let rows = table.rows();
        if !rows.is_empty() && self.run.newest_ratings()?.as_ref() != Some(&rows) {
            self.run.publish_ratings(&rows)?;
        }
        Ok(table)
    }

    fn unrated(&self, source: RatingError) -> EvaluatorError {
        EvaluatorError::Rating { run: self.run.name().clone(), source }
    }

    /// Opens the players that are not open, and closes those that are not asked for.
    fn seat(&mut self, ids: [&ModelId; 2]) -> Result<(), EvaluatorError> {
        self.players.retain(|player| ids.contains(&player.id()));
        for id in ids {
            if !self.players.iter().any(|player| player.id() == id) {
                let batch = meeting::batch(&self.config);
                self.players.push(Player::open(&self.store, &self.config, id, self.place.device, batch)?);
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
