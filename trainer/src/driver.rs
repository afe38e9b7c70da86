//! The driver of the trainer: one model after the other, each on the shards of its generation.

use std::time::{Duration, Instant};

use config::RunConfig;
use net::TrainDevice;
use runtime::{Reporter, Step, Stop, Waiting};
use store::{Backoff, ModelMetadata, Run};

use crate::dataset::{CALIBRATION_POSITIONS, Dataset};
use crate::generation::GenerationTrainer;
use crate::resume::{SAVE_EVERY, Work, resume};
use crate::{References, TrainerError, TrainerEvent};

/// The interval between two polls for shards.
const LOOK_EVERY: Duration = Duration::from_secs(2);
/// The longest interval, after a long wait.
const LOOK_LATE: Duration = Duration::from_secs(10);

/// Trains and publishes the models of a run: trains on each of the examples of a generation once, in their order, and
/// measures the outcome on games that are never trained on. When the process is to stop, the state is saved; `resume`
/// describes the effect of SIGKILL.
pub struct Driver<'a> {
    run: Run,
    config: RunConfig,
    train_device: TrainDevice,
    references: &'a References,
    once: bool,
    /// How often long training is saved.
    save_every: Duration,
    stop: Stop,
    reporter: Box<dyn Reporter<TrainerEvent> + 'a>,
    /// The model that is being trained.
    work: Option<Work>,
    /// Since when its shards are waited for.
    waiting: Option<Instant>,
}

impl<'a> Driver<'a> {
    /// A driver of the trainer of a run that has this configuration. Every model is measured on the references, too.
    pub fn new(
        run: &Run,
        config: &RunConfig,
        train_device: TrainDevice,
        references: &'a References,
        stop: &Stop,
        reporter: impl Reporter<TrainerEvent> + 'a,
    ) -> Driver<'a> {
        Driver {
            run: run.clone(),
            config: config.clone(),
            train_device,
            references,
            once: false,
            save_every: SAVE_EVERY,
            stop: stop.clone(),
            reporter: Box::new(reporter),
            work: None,
            waiting: None,
        }
    }

    /// Finishes when one model is published.
    pub fn once(self) -> Driver<'a> {
        Driver { once: true, ..self }
    }

    fn publish(&mut self, work: &Work) -> Result<(), TrainerError> {
        let generation = work.progress.generation;
        let failed = |source| TrainerError::Train { generation, source };
        let examples = match self.run.shards().manifest(generation)? {
            Some(shards) => Dataset::new(&self.run, &shards, 0).next(CALIBRATION_POSITIONS)?,
            None => Vec::new(),
        };
        let weights = work.trainer.published_with_scales(&examples).map_err(failed)?;
        let step = work.trainer.steps();
        let metadata = ModelMetadata::new(self.run.name(), generation, step, &self.config);
        let published = self.run.models().publish(&metadata, weights.to_bytes().into());
        published.map_err(|error| TrainerError::of_publishing(&self.run, || format!("model {generation}"), error))?;
        tracing::info!(model = %metadata.id(), step, "published");
        self.reporter.report(TrainerEvent::Published { generation, step });
        Ok(())
    }
}

impl runtime::Driver for Driver<'_> {
    type Error = TrainerError;

    fn step(&mut self) -> Result<Step, TrainerError> {
        let work = match &mut self.work {
            Some(work) => work,
            none => {
                let generation = self.run.models().newest()?.unwrap_or(0) + 1;
                none.insert(resume(&self.run, &self.config, self.train_device, generation)?)
            }
        };
        let mut unpublished = None;
        if !work.progress.finished {
            let generation = work.progress.generation;
            let Some(shards) = self.run.shards().manifest(generation)? else {
                let time = self.waiting.get_or_insert_with(Instant::now).elapsed();
                self.reporter.report(TrainerEvent::Waiting { generation, time });
                return Ok(Step::Waiting(Waiting::new(format!("the shards of generation {generation}"))));
            };
            self.waiting = None;
            let reporter = &mut *self.reporter;
            unpublished = GenerationTrainer::new(&self.run, &self.config, self.references, &shards, work, reporter)
                .train(self.save_every, &self.stop)?;
        }
        let Some(work) = self.work.take_if(|work| work.progress.finished) else { return Ok(Step::Worked) };
        self.publish(&work)?;
        if let Some(journal) = unpublished {
            journal.publish(&self.run)?;
        }
        Ok(if self.once { Step::Finished } else { Step::Worked })
    }

    fn pause(&self) -> Backoff {
        Backoff::new(LOOK_EVERY, LOOK_LATE)
    }
}

#[cfg(test)]
mod tests {
    use config::Preset;
    use go::Size;
    use net::{Device, Precision};
    use record::{Example, ExampleRows, synthetic};
    use runtime::{Silent, drive};
    use store::{Manifest, Store};

    use super::*;

    #[test]
    fn long_training_is_saved_after_lines_of_the_log() {
        let config = Preset::Tiny.with(&["train.batch=16", "train.steps=30"]).unwrap();
        let run = Store::in_memory().unwrap().run(&"r".parse().unwrap());
        run.create(&config).unwrap();
        let size = Size::new(5).unwrap();
        let games = (0..).map(|index| synthetic::game("made-1", "w", index, size, 20));
        let examples: Vec<Example> = games.flat_map(|game| game.examples().unwrap()).take(30 * 16).collect();
        let manifest = Manifest { generation: 1, ..Manifest::default() };
        run.shards().publish([ExampleRows::from_examples(&examples)], manifest).unwrap();
        let train_device = TrainDevice { device: Device::Cpu, precision: Precision::F32, threads: 1 };
        let (references, stop) = (References::default(), Stop::never());
        let driver = Driver::new(&run, &config, train_device, &references, &stop, Silent).once();
        drive(&mut Driver { save_every: Duration::ZERO, ..driver }, &stop).unwrap();
        // The newest two are kept.
        assert_eq!(run.checkpoints().steps().unwrap(), [20, 30]);
    }
}
