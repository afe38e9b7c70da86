//! One model after the other.

use std::time::{Duration, Instant};

use cli::Stop;
use config::RunConfig;
use net::{Losses, NetError, Workshop};
use record::Example;
use store::{Backoff, Manifest, ModelCard, Run, StoreError};

use crate::Ahead;
use crate::checkup::Checkup;
use crate::feed::{self, Feed};
use crate::journal::{Journal, Set};
use crate::monitor;
use crate::resume::{Work, resume, save};
use crate::{Progress, Reference, TrainerError};

/// Steps whose mean is one line of the log.
const STEPS_PER_LINE: usize = 10;
/// Long generations are saved as often as this, so that a kill costs no more.
const SAVE_EVERY: Duration = Duration::from_secs(600);
/// How often the store is asked for shards.
const LOOK_EVERY: Duration = Duration::from_secs(2);
/// … at most, when it takes long.
const LOOK_LATE: Duration = Duration::from_secs(10);
/// Examples of the holdout that are measured for each model, at most: the newest ones. The standard error of an accuracy is
/// then about 1 %.
pub(crate) const HOLDOUT: usize = 16_384;
/// … and at least, where there are so many.
const LEAST_HOLDOUT: usize = 4_096;
/// Examples learned from for each that is measured between those bounds. A step goes three ways through the network where measuring goes one,
/// so between those bounds measuring is about a twelfth of the work.
const LEARNED_PER_MEASURED: usize = 4;
/// Examples that the batch norms of averaged weights are measured on.
pub(crate) const SETTLED_ON: usize = 4_096;
/// Examples that are seen through all symmetries.
const SPREAD: usize = 512;

/// Where models are trained, and what they are measured on: what belongs to the place.
#[derive(Clone, Copy, Debug)]
pub struct Setting<'a> {
    /// Where the network learns.
    pub workshop: Workshop,
    /// Games of people that every model is measured on.
    pub reference: Option<&'a Reference>,
}

impl From<Workshop> for Setting<'_> {
    fn from(workshop: Workshop) -> Self {
        Setting { workshop, reference: None }
    }
}

/// Trains and publishes the next model of a run: waits for its shards, learns from each of their examples once, in
/// their order, and measures the outcome on games that are never learned from.
///
/// `None` when `stop` was requested before the model was finished; what was learned is saved. What happens when the
/// process is killed is told in `resume`.
///
/// # Errors
/// The store refuses, a checkpoint or model is damaged, an example makes no sense, or the loss is no number.
pub fn train_next<'a>(
    run: &Run,
    config: &RunConfig,
    setting: impl Into<Setting<'a>>,
    stop: &Stop,
    watch: &mut dyn FnMut(Progress),
) -> Result<Option<ModelCard>, TrainerError> {
    let Setting { workshop, reference } = setting.into();
    let watch = &mut |progress| {
        monitor::note(&progress, &config.train);
        watch(progress);
    };
    let generation = run.models().newest()?.unwrap_or(0) + 1;
    let mut work = resume(run, config, workshop, generation)?;
    if !work.progress.finished {
        let Some(shards) = wait_for_shards(run, generation, stop, watch)? else { return Ok(None) };
        let learned = Losses::default();
        let mut course = Course { run, config, reference, shards: &shards, work: &mut work, watch, learned };
        course.learn(stop)?;
    }
    if work.progress.finished { publish(run, config, &work).map(Some) } else { Ok(None) }
}

/// Waits until the examples are there; `None` when asked to stop.
fn wait_for_shards(
    run: &Run,
    generation: u32,
    stop: &Stop,
    watch: &mut dyn FnMut(Progress),
) -> Result<Option<Manifest>, TrainerError> {
    let began = Instant::now();
    let mut pause = Backoff::new(LOOK_EVERY, LOOK_LATE);
    loop {
        let shards = run.shards().manifest(generation)?;
        if shards.is_some() || stop.requested() {
            return Ok(shards.filter(|_| !stop.requested()));
        }
        watch(Progress::Waiting { generation, time: began.elapsed() });
        stop.wait(pause.pause());
    }
}

fn publish(run: &Run, config: &RunConfig, work: &Work) -> Result<ModelCard, TrainerError> {
    let number = work.progress.generation;
    let weights = work.trainer.published().map_err(|source| TrainerError::Train { generation: number, source })?;
    let card = card(run, config, number, work.trainer.steps());
    let published = run.models().publish(&card, weights.to_bytes().into());
    published.map_err(|error| TrainerError::of_publishing(run, || format!("model {number}"), error))?;
    Ok(card)
}

/// What there is to know of a model of this run that has taken so many steps.
pub(crate) fn card(run: &Run, config: &RunConfig, number: u32, step: u64) -> ModelCard {
    ModelCard {
        run: run.name().clone(),
        number,
        parent: number.checked_sub(1).filter(|&parent| parent > 0),
        origin: Vec::new(),
        step,
        size: config.game.size,
        config_digest: config.digest(),
        network: config.network_of(number),
        search: config.search.at(number),
    }
}

/// The training of one model.
struct Course<'a> {
    run: &'a Run,
    config: &'a RunConfig,
    reference: Option<&'a Reference>,
    shards: &'a Manifest,
    work: &'a mut Work,
    watch: &'a mut dyn FnMut(Progress),
    /// What the last batches cost that were learned from.
    learned: Losses,
}

impl Course<'_> {
    /// Learns until all batches are done or `stop` is requested, and saves.
    fn learn(&mut self, stop: &Stop) -> Result<(), TrainerError> {
        let train = &self.config.train;
        let steps = self.steps()?;
        let feed = Feed::new(self.run, self.shards, self.work.progress.batches * train.batch).ahead(train.batch);
        while self.work.progress.batches < steps && !stop.requested() {
            let mut journal = Journal::new(self.shards.generation);
            let before = self.work.progress.batches;
            let saved = Instant::now();
            while self.work.progress.batches < steps && !stop.requested() && saved.elapsed() < SAVE_EVERY {
                let until = steps.min(self.work.progress.batches + STEPS_PER_LINE);
                self.line(&feed, &mut journal, until, steps, stop)?;
            }
            if self.work.progress.batches == steps {
                self.work.progress.finished = true;
                self.settle()?;
                self.measure(&mut journal)?;
                self.measure_reference(&mut journal)?;
            }
            if self.work.progress.batches > before {
                journal.publish(self.run)?;
                save(self.run, self.config, self.work)?;
            }
        }
        Ok(())
    }

    /// Whole batches there are to learn from, as many as the configuration asks for at most. The examples that are left
    /// over make no batch of their own: its statistics would be those of a few positions.
    fn steps(&self) -> Result<usize, TrainerError> {
        let examples = feed::examples(self.shards);
        if examples == 0 {
            return Err(TrainerError::NoExamples { generation: self.shards.generation });
        }
        Ok((examples / self.config.train.batch).clamp(1, self.config.train.steps))
    }

    /// Learns from the batches up to `until`, or fewer when asked to stop, and logs their mean.
    fn line(
        &mut self,
        feed: &Ahead<StoreError>,
        journal: &mut Journal,
        until: usize,
        steps: usize,
        stop: &Stop,
    ) -> Result<(), TrainerError> {
        let generation = self.shards.generation;
        let (began, rate) = (Instant::now(), self.work.trainer.rate());
        let (mut batches, mut read, mut waited) = (Vec::new(), 0, Duration::ZERO);
        while self.work.progress.batches < until && !stop.requested() {
            let asked = Instant::now();
            let examples = feed.next()?;
            waited += asked.elapsed();
            let losses = self.work.trainer.step(&examples).map_err(|source| failed(generation, source))?;
            self.work.progress.batches += 1;
            batches.push((Example::total_weight(&examples), losses));
            read += examples.len();
            let (done, step) = (self.work.progress.batches, self.work.trainer.steps());
            cli::metrics::LEARNING_RATE.set(rate);
            (self.watch)(Progress::Step { generation, done, steps, step, losses });
        }
        let Some(losses) = Losses::mean(&batches) else { return Ok(()) };
        let speed = read as f32 / began.elapsed().as_secs_f32();
        let others = [
            ("learning_rate", rate),
            ("gradient_norm", self.work.trainer.gradient_norm()),
            ("examples_per_second", speed),
            ("data_wait_share", waited.as_secs_f32() / began.elapsed().as_secs_f32()),
        ];
        self.learned = losses;
        journal.put(self.work.trainer.steps(), Set::Train, &losses, &others);
        Ok(())
    }

    /// Makes the network what is to be published.
    fn settle(&mut self) -> Result<(), TrainerError> {
        if self.config.train.average_decay == 0.0 {
            return Ok(());
        }
        let generation = self.shards.generation;
        let examples = Feed::new(self.run, self.shards, 0).next(SETTLED_ON)?;
        self.work.trainer.settle(&examples).map_err(|source| failed(generation, source))
    }

    /// Measures the model on the newest games that were set aside, if there are any.
    fn measure(&mut self, journal: &mut Journal) -> Result<(), TrainerError> {
        let generation = self.shards.generation;
        let learned = self.config.train.batch.saturating_mul(self.config.train.steps);
        let most = (learned / LEARNED_PER_MEASURED).clamp(LEAST_HOLDOUT, HOLDOUT);
        let examples = holdout(self.run, generation, most)?;
        if examples.is_empty() {
            return Ok(());
        }
        let measured = self.work.trainer.examine(&examples).map_err(|source| failed(generation, source))?;
        let losses = measured.losses;
        let drawn = &self.shards.drawn;
        let spread = self.work.trainer.symmetry_spread(&examples[..examples.len().min(SPREAD)]);
        let spread = spread.map_err(|source| failed(generation, source))?;
        let vitals = self.work.trainer.vitals().map_err(|source| failed(generation, source))?;
        let others = [
            ("examples", examples.len() as f32),
            ("samples_per_new_position", drawn.mean_per_new_position as f32),
            ("samples_per_position", drawn.mean_per_position as f32),
            ("symmetry_spread", spread),
            ("largest_update_ratio", vitals.iter().map(|vital| vital.update_ratio).fold(0.0, f32::max)),
        ];
        let step = self.work.trainer.steps();
        journal.put_measured(step, Set::Holdout, &measured, &others);
        let checkup =
            Checkup { train: &self.config.train, learned: &self.learned, holdout: &losses, spread, drawn, vitals };
        for alarm in checkup.alarms() {
            tracing::warn!(step, "{alarm}");
            journal.alarm(step, &alarm);
        }
        let calibration_error = measured.calibration.error() as f32;
        (self.watch)(Progress::Holdout { generation, examples: examples.len(), losses, calibration_error });
        Ok(())
    }
}

impl Course<'_> {
    /// Measures the model on games of people, if there are any.
    fn measure_reference(&mut self, journal: &mut Journal) -> Result<(), TrainerError> {
        let Some(Reference { examples, constant, .. }) = self.reference else { return Ok(()) };
        let generation = self.shards.generation;
        let measured = self.work.trainer.examine(examples).map_err(|source| failed(generation, source))?;
        let (examples, constant, losses) = (examples.len(), *constant, measured.losses);
        let others = [("examples", examples as f32), ("constant_value", constant)];
        journal.put_measured(self.work.trainer.steps(), Set::Human, &measured, &others);
        (self.watch)(Progress::Human { generation, examples, losses, constant });
        Ok(())
    }
}

fn failed(generation: u32, source: NetError) -> TrainerError {
    TrainerError::Train { generation, source }
}

/// The newest examples that are never learned from, at most `most`, of models before `generation`. Files that cannot be read
/// are passed over: nothing depends on any one of them.
pub(crate) fn holdout(run: &Run, generation: u32, most: usize) -> Result<Vec<Example>, StoreError> {
    let mut examples = Vec::new();
    for model in (0..generation).rev() {
        for file in run.games().holdout_files(model)?.into_iter().rev() {
            match run.holdout().read(&file) {
                Ok(rows) => examples.extend(rows.to_examples()),
                Err(error) if error.is_damage() => tracing::warn!("passing over a file of the holdout: {error}"),
                Err(error) => return Err(error),
            }
            if examples.len() >= most {
                examples.truncate(most);
                return Ok(examples);
            }
        }
    }
    Ok(examples)
}
