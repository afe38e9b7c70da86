//! The training of one model.

use std::time::{Duration, Instant};

use config::RunConfig;
use net::{Losses, NetError, TensorDiagnostics};
use record::{Example, Stage};
use runtime::{Reporter, Stop};
use store::{Manifest, Run};

use crate::dataset::{self, Dataset, Feed, RECALIBRATION_POSITIONS};
use crate::example_stats::{Scored, SearchGain, errors_by_stage};
use crate::health_checks::{HealthChecks, Validation, largest_update};
use crate::holdout::{MOST_HOLDOUT_POSITIONS, holdout};
use crate::journal::{Journal, Set};
use crate::resume::{Work, save};
use crate::supervised::distance;
use crate::{Reference, References, TrainerError, TrainerEvent};

/// Steps whose mean is one line of the log.
const STEPS_PER_LINE: usize = 10;
/// Examples of the holdout that are measured for each model, at least, where there are so many.
const LEAST_HOLDOUT_POSITIONS: usize = 4_096;
/// Examples trained on for each that is measured between those bounds. A step goes three ways through the network where
/// measuring goes one, so between those bounds the validation set takes about a 24th of the time of the steps.
const TRAINED_PER_MEASURED: usize = 8;
/// Examples that are evaluated under all symmetries, at most: a quarter as many evaluations as
/// `LEAST_HOLDOUT_POSITIONS`.
const SPREAD_EXAMPLES: usize = 128;
/// What the log calls the value errors of deep searches by stage of the game.
const STAGE_ERRORS: [&str; Stage::ALL.len()] = ["value_error_early", "value_error_middle", "value_error_late"];

/// The training of one model.
pub(crate) struct GenerationTrainer<'a> {
    run: &'a Run,
    config: &'a RunConfig,
    references: &'a References,
    shards: &'a Manifest,
    work: &'a mut Work,
    reporter: &'a mut dyn Reporter<TrainerEvent>,
    /// Losses of the last batches; `None` before any.
    training_losses: Option<Losses>,
    /// The examples that this process trained on.
    scored: Scored,
}

impl<'a> GenerationTrainer<'a> {
    pub(crate) fn new(
        run: &'a Run,
        config: &'a RunConfig,
        references: &'a References,
        shards: &'a Manifest,
        work: &'a mut Work,
        reporter: &'a mut dyn Reporter<TrainerEvent>,
    ) -> GenerationTrainer<'a> {
        let (training_losses, scored) = (None, Scored::default());
        GenerationTrainer { run, config, references, shards, work, reporter, training_losses, scored }
    }

    /// Trains until all batches are done or `stop` is requested, and saves; in between after a line of the log, if
    /// `save_every` has passed. What is measured without training on a batch, so that no checkpoint is published, is
    /// returned: it is to be published after the model.
    pub(crate) fn train(&mut self, save_every: Duration, stop: &Stop) -> Result<Option<Journal>, TrainerError> {
        let train = &self.config.train;
        let steps = self.batches_in_generation()?;
        let trainer = &self.work.trainer;
        let feed = Dataset::new(self.run, self.shards, self.work.progress.batches * train.batch);
        let feed = feed.ahead(train.batch, trainer.preparation(), trainer.steps());
        while !self.work.progress.finished && !stop.requested() {
            let mut journal = Journal::new(self.shards.generation);
            let before = self.work.progress.batches;
            let saved = Instant::now();
            while self.work.progress.batches < steps && !stop.requested() {
                let until = steps.min(self.work.progress.batches + STEPS_PER_LINE);
                self.train_stretch(&feed, &mut journal, until, steps, stop)?;
                if saved.elapsed() >= save_every {
                    break;
                }
            }
            // Shards that were sampled again may have fewer batches than were trained on.
            if self.work.progress.batches >= steps {
                self.work.progress.finished = true;
                self.recalibrate_batch_norm()?;
                self.measure(&mut journal)?;
                self.measure_references(&mut journal)?;
            }
            if self.work.progress.batches > before {
                save(self.run, self.config, self.work)?;
                journal.publish(self.run)?;
            } else if self.work.progress.finished && !journal.is_empty() {
                return Ok(Some(journal));
            }
        }
        Ok(None)
    }

    /// Whole batches there are for training, at most as many as the configuration has. The examples that are left
    /// over make no batch of their own: its statistics would be those of a few positions.
    fn batches_in_generation(&self) -> Result<usize, TrainerError> {
        let examples = dataset::examples(self.shards);
        if examples == 0 {
            let (run, generation) = (self.run.name().clone(), self.shards.generation);
            return Err(TrainerError::NoExamples { run, generation });
        }
        Ok((examples / self.config.train.batch).clamp(1, self.config.train.steps))
    }

    /// Trains on the batches up to `until`, or fewer after a request to stop, and logs their mean.
    fn train_stretch(
        &mut self,
        feed: &Feed,
        journal: &mut Journal,
        until: usize,
        steps: usize,
        stop: &Stop,
    ) -> Result<(), TrainerError> {
        let generation = self.shards.generation;
        let (began, first_rate) = (Instant::now(), self.work.trainer.rate());
        let (mut batches, mut read, mut waited) = (Vec::new(), 0, Duration::ZERO);
        while self.work.progress.batches < until && !stop.requested() {
            let asked = Instant::now();
            let batch = feed.next()?;
            waited += asked.elapsed();
            let rate = self.work.trainer.rate();
            let step = |batch| self.work.trainer.step_prepared(batch);
            let losses = batch.as_ref().map_or(Err(NetError::NoExamples), step);
            let losses = losses.map_err(|source| failed(generation, source))?;
            self.work.progress.batches += 1;
            let examples = batch.map(|batch| batch.examples).unwrap_or_default();
            self.scored.add(&examples);
            batches.push((Example::total_weight(&examples), losses));
            read += examples.len();
            let (done, steps) = (self.work.progress.batches as u64, Some(steps as u64));
            let step = self.work.trainer.steps();
            self.reporter.report(TrainerEvent::Step { generation, done, steps, step, rate, losses });
        }
        let Some(losses) = Losses::mean(&self.config.train, &batches) else { return Ok(()) };
        let speed = read as f32 / began.elapsed().as_secs_f32();
        let others = [
            ("learning_rate", first_rate),
            ("gradient_norm", self.work.trainer.gradient_norm()),
            ("examples_per_second", speed),
            ("data_wait_share", waited.as_secs_f32() / began.elapsed().as_secs_f32()),
        ];
        self.training_losses = Some(losses);
        journal.put(self.work.trainer.steps(), Set::Train, &losses, &others);
        Ok(())
    }

    /// Sets the network to the weights that are published.
    fn recalibrate_batch_norm(&mut self) -> Result<(), TrainerError> {
        if self.config.train.ema_decay == 0.0 {
            return Ok(());
        }
        let generation = self.shards.generation;
        let examples = Dataset::new(self.run, self.shards, 0).next(RECALIBRATION_POSITIONS)?;
        self.work.trainer.recalibrate_batch_norm(&examples).map_err(|source| failed(generation, source))
    }

    /// Evaluates the model on the newest games of the validation set, if there are any, and raises the alarms.
    fn measure(&mut self, journal: &mut Journal) -> Result<(), TrainerError> {
        let generation = self.shards.generation;
        let diagnostics = self.work.trainer.diagnostics().map_err(|source| failed(generation, source))?;
        let examples = self.validation_set()?;
        let validation = (!examples.is_empty()).then(|| self.validate(&examples, &diagnostics, journal)).transpose()?;
        let health = HealthChecks {
            train: &self.config.train,
            training: self.training_losses.as_ref(),
            validation,
            sampled: &self.shards.sampled,
            diagnostics,
            scored: self.scored.share().filter(|_| trains_scores(self.config)),
            rates: self.rates(),
        };
        let step = self.work.trainer.steps();
        for alarm in health.alarms() {
            tracing::warn!(step, %alarm, "health check");
            journal.alarm(step, &alarm);
        }
        Ok(())
    }

    /// The newest positions of the validation set; none without one.
    fn validation_set(&self) -> Result<Vec<Example>, TrainerError> {
        // The folders of all models would be searched in vain.
        if self.config.selfplay.holdout_fraction == 0.0 {
            return Ok(Vec::new());
        }
        let trained = self.config.train.batch.saturating_mul(self.config.train.steps);
        let most = (trained / TRAINED_PER_MEASURED).clamp(LEAST_HOLDOUT_POSITIONS, MOST_HOLDOUT_POSITIONS);
        Ok(holdout(self.run, self.shards.generation, most)?)
    }

    /// Evaluates the model on positions of the validation set, and writes that down.
    fn validate(
        &mut self,
        examples: &[Example],
        diagnostics: &[TensorDiagnostics],
        journal: &mut Journal,
    ) -> Result<Validation, TrainerError> {
        let generation = self.shards.generation;
        let measured = self.work.trainer.examine(examples).map_err(|source| failed(generation, source))?;
        let losses = measured.losses;
        let sampled = &self.shards.sampled;
        let spread = self.work.trainer.symmetry_spread(&spread_evenly(examples));
        let spread = spread.map_err(|source| failed(generation, source))?;
        let others = [
            ("examples", examples.len() as f32),
            ("reuse", sampled.reuse as f32),
            ("samples_per_position", sampled.mean_per_position as f32),
            ("symmetry_spread", spread),
            ("largest_update_ratio", largest_update(&self.config.train, diagnostics)),
        ];
        let step = self.work.trainer.steps();
        journal.put_measured(step, Set::Holdout, &measured, &others);
        let calibration_error = measured.calibration.error() as f32;
        self.reporter.report(TrainerEvent::Holdout { generation, examples: examples.len(), losses, calibration_error });
        Ok(Validation { losses, spread, searches: SearchGain::of(examples) })
    }

    /// The learning rates of the steps of this model, from the one before the first on; none where the network has
    /// grown, which may want a higher rate.
    fn rates(&self) -> Vec<f32> {
        let generation = self.shards.generation;
        if self.config.network_of(generation) != self.config.network_of(generation.saturating_sub(1)) {
            return Vec::new();
        }
        let step = self.work.trainer.steps();
        let first = step.saturating_sub(self.work.progress.batches as u64 + 1);
        (first..step).map(|step| net::learning_rate(&self.config.train, step)).collect()
    }

    /// Measures the model on human games and on positions with results of deep searches, if there are any.
    fn measure_references(&mut self, journal: &mut Journal) -> Result<(), TrainerError> {
        let References { human, deep } = self.references;
        if let Some(human) = human {
            self.measure_human(human, journal)?;
        }
        if let Some(deep) = deep {
            let generation = self.shards.generation;
            let measured =
                self.work.trainer.measure_against_searches(deep).map_err(|source| failed(generation, source))?;
            let (step, examples, losses) = (self.work.trainer.steps(), deep.len(), measured.losses);
            let by_stage = errors_by_stage(deep, &measured.values);
            let mut others = vec![("examples", examples as f32)];
            others.extend(STAGE_ERRORS.into_iter().zip(by_stage).filter_map(|(name, error)| Some((name, error?))));
            journal.put(step, Set::Deep, &losses, &others);
            self.reporter.report(TrainerEvent::Deep { generation, step, examples, losses, by_stage });
        }
        Ok(())
    }

    fn measure_human(&mut self, human: &Reference, journal: &mut Journal) -> Result<(), TrainerError> {
        let Reference { examples, constant, .. } = human;
        let generation = self.shards.generation;
        let measured = self.work.trainer.examine(examples).map_err(|source| failed(generation, source))?;
        let (examples, constant, losses) = (examples.len(), *constant, measured.losses);
        let others = [("examples", examples as f32), ("constant_value", constant)];
        let step = self.work.trainer.steps();
        journal.put_measured(step, Set::Human, &measured, &others);
        self.reporter.report(TrainerEvent::Human { generation, step, examples, losses, constant });
        Ok(())
    }
}

/// The examples that are evaluated under all symmetries: from all games, since those of one are alike.
fn spread_evenly(examples: &[Example]) -> Vec<Example> {
    examples.iter().step_by(distance(examples.len(), SPREAD_EXAMPLES)).cloned().collect()
}

/// Whether a head of ownership or score is trained.
fn trains_scores(config: &RunConfig) -> bool {
    let RunConfig { network, train, .. } = config;
    network.ownership && train.ownership_weight > 0.0 || network.score && train.score_weight > 0.0
}

fn failed(generation: u32, source: NetError) -> TrainerError {
    TrainerError::Train { generation, source }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use go::{Color, Size};
    use record::synthetic;

    use super::*;

    #[test]
    fn symmetry_spread_is_measured_on_all_games_and_both_sides() {
        let size = Size::new(5).unwrap();
        let examples = |games: u64| -> Vec<Example> {
            (0..games).flat_map(|index| synthetic::game("r-1", "w", index, size, 20).examples().unwrap()).collect()
        };
        let few = examples(3);
        assert_eq!(spread_evenly(&few), few);
        let many = spread_evenly(&examples(40));
        assert!((SPREAD_EXAMPLES / 2..=SPREAD_EXAMPLES).contains(&many.len()), "{}", many.len());
        assert_eq!(many.iter().map(|example| example.game).collect::<BTreeSet<_>>().len(), 40);
        let black = many.iter().filter(|example| example.to_move == Color::Black).count();
        assert!((many.len() / 4..=many.len() * 3 / 4).contains(&black), "{black} of {}", many.len());
    }
}
