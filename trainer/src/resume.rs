//! Where training continues.
//!
//! A generation ends with two publications, the checkpoint first and then the model, and the checkpoint says how far
//! its generation is. Whenever the process was killed, the newest checkpoint is one of these ([`Found`]):
//!
//! - inside the generation of the model that is wanted: training continues with the next batch. Where all batches are
//!   done and the model is not there, the weights are published without another step;
//! - before it, the last one of the generation whose model is the newest: training begins with its momentum;
//! - overtaken by others: training begins with the weights of the newest model, and with the momentum at rest.
//!
//! Where the next model has a larger network than the last (`train.grow`), it begins with the weights of that, grown,
//! and with the momentum at rest.
//!
//! No batch is trained on twice or omitted. Were the model published first, a kill between the two would leave a
//! model without its momentum, and the generation would have to be trained again to get it.

use std::collections::BTreeMap;
use std::time::Duration;

use bytes::Bytes;
use config::RunConfig;
use net::{NetError, Shape, TrainConfig, TrainDevice, Trainer, Weights};
use serde::{Deserialize, Serialize};
use store::{Checkpoint, Run, SourceKind};

use crate::TrainerError;

/// How often long training is saved, so that a kill costs no more.
pub(crate) const SAVE_EVERY: Duration = Duration::from_secs(600);
/// The file of the trainer's state.
pub(crate) const WEIGHTS: &str = "trainer.safetensors";
/// The file that only the checkpoint of a bootstrap has, and none of a generation.
pub(crate) const BOOTSTRAP: &str = "bootstrap.toml";
const PROGRESS: &str = "progress.toml";

/// How far a generation is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct GenerationProgress {
    /// The number of the model being trained.
    pub(crate) generation: u32,
    /// Batches of its shards that were trained on.
    pub(crate) batches: usize,
    /// Whether that was all of them.
    pub(crate) finished: bool,
}

/// A trainer, and how far it is.
pub(crate) struct Work {
    pub(crate) trainer: Trainer,
    pub(crate) progress: GenerationProgress,
}

/// What the newest checkpoint is to the model that is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Found {
    /// It is of the same generation.
    Inside,
    /// It is the last one of the generation before.
    Before,
    /// It is of another one.
    Overtaken,
}

impl Found {
    /// A checkpoint of so many steps, whose model has `model_step` steps. Shards that were sampled again may have fewer
    /// batches than were trained on by then: the generation ended at its last checkpoint, which calls itself unfinished
    /// and has the step of its model.
    fn of<E>(
        step: u64,
        progress: GenerationProgress,
        wanted: u32,
        model_step: impl FnOnce() -> Result<u64, E>,
    ) -> Result<Found, E> {
        if progress.generation == wanted {
            return Ok(Found::Inside);
        }
        let is_last = progress.generation + 1 == wanted && (progress.finished || model_step()? == step);
        Ok(if is_last { Found::Before } else { Found::Overtaken })
    }
}

/// Makes the trainers of a run.
pub(crate) struct Trainers<'a> {
    pub(crate) run: &'a Run,
    pub(crate) config: &'a RunConfig,
    pub(crate) train_config: TrainConfig,
    pub(crate) train_device: TrainDevice,
}

/// Finds the state from which model `generation` is to be trained, its predecessor being published.
pub(crate) fn resume(
    run: &Run,
    config: &RunConfig,
    train_device: TrainDevice,
    generation: u32,
) -> Result<Work, TrainerError> {
    let newest = run.checkpoints().newest()?;
    if generation == 1 && newest.as_ref().is_some_and(is_of_bootstrap) {
        return Err(TrainerError::Bootstrapping { run: run.name().clone() });
    }
    let train_config = TrainConfig { ema_warm_up: !began_with_weights(run)?, ..TrainConfig::new(config) };
    let trainers = Trainers { run, config, train_config, train_device };
    // One of a bootstrap that has ended in model 1 is of no more use.
    if let Some(checkpoint) = newest.filter(|newest| !is_of_bootstrap(newest))
        && let Some(work) = trainers.resume_from(&checkpoint, generation)?
    {
        return Ok(work);
    }
    Ok(Work { trainer: trainers.begin(generation)?, progress: GenerationProgress::begun(generation) })
}

impl GenerationProgress {
    fn begun(generation: u32) -> GenerationProgress {
        GenerationProgress { generation, batches: 0, finished: false }
    }
}

impl Trainers<'_> {
    /// The work that continues from the newest checkpoint; `None` of one that is overtaken.
    fn resume_from(&self, checkpoint: &Checkpoint, generation: u32) -> Result<Option<Work>, TrainerError> {
        let progress = read_progress(self.run, checkpoint)?;
        let model_step = || self.run.models().metadata(progress.generation).map(|metadata| metadata.step);
        let work = match Found::of(checkpoint.step, progress, generation, model_step)? {
            Found::Inside => Some(Work { trainer: self.restore(checkpoint, generation)?, progress }),
            Found::Before => self.after(checkpoint, progress)?,
            Found::Overtaken => None,
        };
        if work.is_none() {
            tracing::warn!(
                checkpoint = checkpoint.step,
                of_model = progress.generation,
                generation,
                "the newest checkpoint is of another model; training starts from the weights of the last one"
            );
        }
        Ok(work)
    }

    /// The next generation after the last checkpoint of one; `None` where the model that was published has other
    /// weights.
    fn after(&self, checkpoint: &Checkpoint, progress: GenerationProgress) -> Result<Option<Work>, TrainerError> {
        let (last, generation) = (progress.generation, progress.generation + 1);
        let failed = |source| TrainerError::Train { generation, source };
        let mut trainer = self.restore(checkpoint, last)?;
        let weights = published(self.run, last)?.uncalibrated();
        // An unfinished one has no averaged network to compare.
        if progress.finished && trainer.published().map_err(failed)? != weights {
            return Ok(None);
        }
        if self.config.network_of(generation) != self.config.network_of(last) {
            let grown = grown(&weights, self.config, generation).map_err(failed)?;
            trainer = self.start(&grown, trainer.steps()).map_err(failed)?;
        }
        Ok(Some(Work { trainer, progress: GenerationProgress::begun(generation) }))
    }

    /// The trainer of a model without a checkpoint: it begins with the weights of the model before, or with random
    /// ones.
    fn begin(&self, generation: u32) -> Result<Trainer, TrainerError> {
        let failed = |source| TrainerError::Train { generation, source };
        if generation == 1 {
            let shape = Shape::new(&self.config.game, &self.config.network_of(1));
            return self.start(&Weights::random(shape, self.config.seed), 0).map_err(failed);
        }
        let step = self.run.models().metadata(generation - 1)?.step;
        let weights = published(self.run, generation - 1)?;
        grown(&weights, self.config, generation).and_then(|weights| self.start(&weights, step)).map_err(failed)
    }

    /// A trainer of weights that have taken so many steps, with the momentum at rest.
    pub(crate) fn start(&self, weights: &Weights, step: u64) -> Result<Trainer, NetError> {
        Trainer::new(weights, step, self.train_config.clone(), self.train_device)
    }

    /// The trainer of a checkpoint that was saved while this model was trained, or thereafter.
    pub(crate) fn restore(&self, checkpoint: &Checkpoint, generation: u32) -> Result<Trainer, TrainerError> {
        let state = file(self.run, checkpoint, WEIGHTS)?;
        let shape = Shape::new(&self.config.game, &self.config.network_of(generation));
        let digest = self.config.digest();
        let restored = Trainer::restore(state, shape, &digest, self.train_config.clone(), self.train_device);
        restored.map_err(|error| match error {
            // It says nothing of the checkpoint, which another device can go on from.
            error if error.is_of_the_device() => TrainerError::Device(error),
            error => unusable(self.run, checkpoint, error.to_string()),
        })
    }
}

/// Whether a bootstrap saved this checkpoint.
pub(crate) fn is_of_bootstrap(checkpoint: &Checkpoint) -> bool {
    checkpoint.files.contains_key(BOOTSTRAP)
}

/// Whether the run began with the weights of a model or a file, as they were or trained on human games.
fn began_with_weights(run: &Run) -> Result<bool, TrainerError> {
    if !run.models().exists(1)? {
        return Ok(false);
    }
    let origin = run.models().metadata(1)?.origin;
    Ok(origin.iter().any(|source| matches!(source.kind, SourceKind::Model | SourceKind::Weights)))
}

/// Publishes everything needed to go on from here.
pub(crate) fn save(run: &Run, config: &RunConfig, work: &Work) -> Result<(), TrainerError> {
    let generation = work.progress.generation;
    let state = work.trainer.checkpoint(&config.digest());
    let state = state.map_err(|source| TrainerError::Train { generation, source })?;
    let progress = toml::to_string(&work.progress).expect("plain fields are TOML");
    let files =
        BTreeMap::from([(WEIGHTS.to_owned(), Bytes::from(state)), (PROGRESS.to_owned(), Bytes::from(progress))]);
    let step = work.trainer.steps();
    let published = run.checkpoints().publish(&Checkpoint { step, files });
    published.map_err(|error| TrainerError::of_publishing(run, || format!("the checkpoint of step {step}"), error))
}

fn read_progress(run: &Run, checkpoint: &Checkpoint) -> Result<GenerationProgress, TrainerError> {
    let text = String::from_utf8_lossy(file(run, checkpoint, PROGRESS)?);
    toml::from_str(&text).map_err(|e| unusable(run, checkpoint, format!("{PROGRESS}: {}", e.message())))
}

fn file<'a>(run: &Run, checkpoint: &'a Checkpoint, name: &str) -> Result<&'a [u8], TrainerError> {
    let found = checkpoint.files.get(name).map(|bytes| &bytes[..]);
    found.ok_or_else(|| unusable(run, checkpoint, format!("it has no {name}")))
}

pub(crate) fn unusable(run: &Run, checkpoint: &Checkpoint, problem: String) -> TrainerError {
    TrainerError::Checkpoint { run: run.name().clone(), step: checkpoint.step, problem }
}

/// The weights of the last model in the network of this one: the same, but where the run says that it grows.
fn grown(weights: &Weights, config: &RunConfig, generation: u32) -> Result<Weights, NetError> {
    if config.network_of(generation - 1) == config.network_of(generation) {
        return Ok(weights.clone());
    }
    let wanted = Shape::new(&config.game, &config.network_of(generation)).with_planes_like(weights.shape());
    let weights = weights.grown(wanted, config.seed)?;
    tracing::info!(generation, network = %weights.shape(), "network grown");
    Ok(weights)
}

/// The weights of a published model.
fn published(run: &Run, number: u32) -> Result<Weights, TrainerError> {
    let (_, weights) = run.models().get(number)?;
    Weights::from_bytes(&weights).map_err(|source| TrainerError::Parent { model: run.name().model(number), source })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checkpoint_is_of_the_generation_or_ends_the_one_before_or_is_overtaken() {
        let found = |generation: u32, finished: bool, model_step: Option<u64>| {
            let progress = GenerationProgress { generation, batches: 7, finished };
            Found::of(100, progress, 3, || model_step.ok_or("the step of the model is read")).unwrap()
        };
        assert_eq!([false, true].map(|finished| found(3, finished, None)), [Found::Inside; 2]);
        assert_eq!(found(2, true, None), Found::Before);
        assert_eq!(found(2, false, Some(100)), Found::Before, "shards that were sampled again had fewer batches");
        assert_eq!(found(2, false, Some(90)), Found::Overtaken);
        assert_eq!([1, 4].map(|generation| found(generation, true, None)), [Found::Overtaken; 2]);
    }
}
