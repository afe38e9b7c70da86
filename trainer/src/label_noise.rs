//! What wrong results of games do to a network: the same training with the outcomes of some games flipped (Minigo,
//! issue 483).
//!
//! A game is flipped as a whole, by its name, and those of a smaller share are among those of a larger one. Only its
//! result is wrong then: moves and values of the searches stay, and its score and its owners, which would tell the truth, are
//! not trained on.

use std::collections::VecDeque;
use std::time::Duration;

use config::RunConfig;
use net::{Losses, NetError, Shape, TrainDevice, Trainer, Weights};
use record::{Example, GameId, Outcome};
use runtime::{Driver, Reporter, Step, Stop};
use serde::Serialize;
use store::{Backoff, Manifest, Run};

use crate::TrainerError;
use crate::dataset::{Dataset, RECALIBRATION_POSITIONS};
use crate::holdout::{HOLDOUT, holdout};
use crate::resume::train_config;

/// Trains on the shards of a run once for each share of wrong results, and measures the outcome. A step is one training. Nothing is
/// published.
pub struct LabelNoise<'a> {
    run: &'a Run,
    config: &'a RunConfig,
    train_device: TrainDevice,
    shards: Manifest,
    /// Positions with their true results.
    holdout: Vec<Example>,
    /// Shares of the games that are still to be tried.
    shares: VecDeque<f64>,
    steps: usize,
    stop: Stop,
    reporter: Box<dyn Reporter<TrialEvent> + 'a>,
}

/// What [`LabelNoise`] is doing.
#[derive(Clone, Debug, PartialEq)]
pub enum TrialEvent {
    /// It has trained on a batch.
    Step {
        /// The share of the games that is flipped.
        share: f64,
        /// Batches of this share that are done.
        done: u64,
        /// Batches of each share.
        steps: u64,
        /// The losses of the batch.
        losses: Losses,
    },
    /// It has measured the outcome of one share.
    Measured(Trial),
}

/// Which trainings there are.
#[derive(Clone, Debug, PartialEq)]
pub struct LabelNoiseOptions {
    /// Shares of the games to flip, one training for each.
    pub shares: Vec<f64>,
    /// Steps of each, or one pass over the shards.
    pub steps: Option<usize>,
}

/// Evaluation of training with a share of the outcomes inverted, on held-out games with true outcomes.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Trial {
    /// The share of the games that was requested.
    pub share: f64,
    /// The share of the positions that were trained on whose game was flipped; draws stay what they are.
    pub flipped_positions: f64,
    /// Steps that were taken.
    pub steps: usize,
    /// Positions that were measured.
    pub examples: usize,
    /// Mean of (v − z)² against the results, 0 to 4.
    pub value_error: f64,
    /// Mean of |v|: how sure the network is of the winner.
    pub confidence: f64,
    /// Expected calibration error, 0 to 1.
    pub calibration_error: f64,
    /// Share of the positions whose most probable move is the search's.
    pub accuracy: f64,
}

impl<'a> LabelNoise<'a> {
    /// Prepares the newest shards and the validation set of a run.
    ///
    /// # Errors
    /// A run without shards or validation set, or a store that cannot be read.
    pub fn new(
        run: &'a Run,
        config: &'a RunConfig,
        options: LabelNoiseOptions,
        train_device: TrainDevice,
        stop: &Stop,
        reporter: impl Reporter<TrialEvent> + 'a,
    ) -> Result<LabelNoise<'a>, TrainerError> {
        let newest = run.models().newest()?.unwrap_or(0) + 1;
        let mut shards = None;
        for generation in (1..=newest).rev() {
            shards = run.shards().manifest(generation)?;
            if shards.is_some() {
                break;
            }
        }
        let shards = shards.ok_or_else(|| nothing(run, "shards to train on"))?;
        if crate::dataset::examples(&shards) == 0 {
            return Err(TrainerError::NoExamples { generation: shards.generation });
        }
        let holdout = holdout(run, shards.generation, HOLDOUT)?;
        if holdout.is_empty() {
            return Err(nothing(run, "validation games"));
        }
        let steps = options.steps.unwrap_or_else(|| batches(&shards, config));
        let (generation, seed) = (shards.generation, config.seed);
        tracing::info!(generation, steps, seed, "training with inverted outcomes; nothing is published");
        let (shares, stop, reporter) = (options.shares.into(), stop.clone(), Box::new(reporter));
        Ok(LabelNoise { run, config, train_device, shards, holdout, shares, steps, stop, reporter })
    }

    /// Trains the run's network from random weights, the same for every share, and measures it. Shards that hold fewer batches
    /// are trained on again. `None` when the process is to stop before the end.
    fn trial(&mut self, share: f64) -> Result<Option<Trial>, TrainerError> {
        let steps = self.steps;
        let generation = self.shards.generation;
        let failed = |source: NetError| TrainerError::Train { generation, source };
        let shape = Shape::new(&self.config.game, &self.config.network_of(generation)).map_err(failed)?;
        let weights = Weights::random(shape, self.config.seed);
        let mut trainer = Trainer::new(&weights, 0, train_config(self.config), self.train_device).map_err(failed)?;
        let (mut feed, mut seen, mut wrong) = (Dataset::new(self.run, &self.shards, 0), 0, 0);
        for step in 0..steps {
            if self.stop.requested() {
                return Ok(None);
            }
            if step > 0 && step % batches(&self.shards, self.config) == 0 {
                feed = Dataset::new(self.run, &self.shards, 0);
            }
            let mut batch = feed.next(self.config.train.batch)?;
            wrong += flip(&mut batch, share);
            seen += batch.len();
            let losses = trainer.step(&batch).map_err(failed)?;
            let (done, steps) = (step as u64 + 1, steps as u64);
            self.reporter.report(TrialEvent::Step { share, done, steps, losses });
        }
        if self.config.train.ema_decay > 0.0 {
            let examples = Dataset::new(self.run, &self.shards, 0).next(RECALIBRATION_POSITIONS)?;
            trainer.recalibrate_batch_norm(&examples).map_err(failed)?;
        }
        let measured = trainer.examine(&self.holdout).map_err(failed)?;
        Ok(Some(Trial {
            share,
            flipped_positions: wrong as f64 / seen.max(1) as f64,
            steps,
            examples: self.holdout.len(),
            value_error: measured.calibration.outcome_error,
            confidence: measured.losses.value_confidence.into(),
            calibration_error: measured.calibration.error(),
            accuracy: measured.losses.accuracy.into(),
        }))
    }
}

impl Driver for LabelNoise<'_> {
    type Error = TrainerError;

    fn step(&mut self) -> Result<Step, TrainerError> {
        let Some(&share) = self.shares.front() else { return Ok(Step::Finished) };
        if let Some(trial) = self.trial(share)? {
            self.shares.pop_front();
            self.reporter.report(TrialEvent::Measured(trial));
        }
        Ok(Step::Worked)
    }

    /// It never waits.
    fn pause(&self) -> Backoff {
        Backoff::new(Duration::ZERO, Duration::ZERO)
    }
}

/// Batches that the shards hold.
fn batches(shards: &Manifest, config: &RunConfig) -> usize {
    (crate::dataset::examples(shards) / config.train.batch).max(1)
}

fn nothing(run: &Run, what: &str) -> TrainerError {
    TrainerError::Lacks { run: run.name().clone(), what: what.to_owned() }
}

/// Turns round the outcomes of a share of the games; returns in how many examples.
fn flip(examples: &mut [Example], share: f64) -> usize {
    let mut count = 0;
    for example in examples.iter_mut().filter(|example| place(example.game) < share) {
        let other = match example.outcome {
            Outcome::Black => Outcome::White,
            Outcome::White => Outcome::Black,
            Outcome::Draw => continue,
        };
        (example.outcome, example.score, example.area) = (other, None, None);
        count += 1;
    }
    count
}

/// A number in [0, 1), spread evenly over the games. It is independent of the choice of the validation set
/// ([`GameId::share`]), since games of training have only the upper part of those: it comes from the other end of
/// the name.
fn place(game: GameId) -> f64 {
    let name = game.to_string();
    let digits = u64::from_str_radix(&name[name.len() - 13..], 16).expect("a name is hexadecimal digits");
    digits as f64 / (1_u64 << 52) as f64
}

#[cfg(test)]
mod tests {
    use go::Size;
    use record::synthetic;

    use super::*;

    fn examples() -> Vec<Example> {
        let size = Size::new(5).unwrap();
        (0..400).flat_map(|index| synthetic::game("a-1", "w", index, size, 4).examples().unwrap()).collect()
    }

    /// The games that a share turns round, each wholly.
    fn turned(share: f64) -> Vec<GameId> {
        let (before, mut after) = (examples(), examples());
        let count = flip(&mut after, share);
        let mut games: Vec<GameId> = Vec::new();
        let mut others = Vec::new();
        for (old, new) in before.iter().zip(&after) {
            if old == new {
                others.push(old.game);
            } else {
                assert_eq!(new.outcome.as_i8(), -old.outcome.as_i8());
                assert_eq!((new.score, &new.area, new.root_value), (None, &None, old.root_value));
                games.push(old.game);
            }
        }
        assert_eq!(games.len(), count);
        games.dedup();
        assert!(games.iter().all(|game| !others.contains(game)), "a game is flipped as a whole");
        games
    }

    #[test]
    fn whole_games_are_turned_round_and_a_larger_share_holds_the_smaller() {
        assert_eq!(turned(0.0), []);
        let (few, more) = (turned(0.05), turned(0.2));
        // Of 400 games 20 and 80; standard deviations 4.4 and 8.
        assert!((5..40).contains(&few.len()) && (50..110).contains(&more.len()), "{} {}", few.len(), more.len());
        assert!(few.iter().all(|game| more.contains(game)));
        let decided = examples().into_iter().filter(|example| example.outcome != Outcome::Draw);
        assert_eq!(flip(&mut examples(), 1.0), decided.count());
    }

    #[test]
    fn outcomes_of_training_games_are_inverted_as_often_as_others() {
        let mut games: Vec<GameId> = examples().iter().map(|example| example.game).collect();
        games.dedup();
        games.retain(|game| game.share() >= 0.5);
        let low = games.iter().filter(|&&game| place(game) < 0.5).count();
        // Of about 200 half; standard deviation 7.
        assert!(low.abs_diff(games.len() / 2) < 30, "{low} of {}", games.len());
    }
}
