//! Where training continues.
//!
//! A generation ends with two publications, the checkpoint first and then the model, and the checkpoint says how far
//! its generation is. So there are three states to be found in, whenever the process was killed:
//!
//! - the checkpoint is in the midst of the generation that is wanted: continue with its next batch;
//! - the checkpoint has finished it, and the model is not there: publish the weights, without another step;
//! - the checkpoint has finished the generation before, and its model is there: begin.
//!
//! A generation whose shards were sampled again, with fewer batches than were trained on by then, ends at its last
//! checkpoint. That one calls itself unfinished, and has the step of its model.
//!
//! No batch is trained on twice or omitted. Were the model published first, a kill between the two would leave a
//! model without its momentum, and the generation would have to be trained again to get it.
//!
//! Where the next model has a larger network than the last (`train.grow`), it begins with the weights of that, grown, and with the
//! momentum at rest.
//!
//! A checkpoint that fits none of these belongs to a past that others have overtaken: the weights of the newest model
//! are what counts then, and training continues from them with the momentum at rest.

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

/// Finds the state from which model `generation` is to be trained, its predecessor being published.
pub(crate) fn resume(
    run: &Run,
    config: &RunConfig,
    train_device: TrainDevice,
    generation: u32,
) -> Result<Work, TrainerError> {
    let begun = GenerationProgress { generation, batches: 0, finished: false };
    let train_config = TrainConfig { ema_warm_up: !began_with_weights(run)?, ..TrainConfig::new(config) };
    let newest = run.checkpoints().newest()?;
    if generation == 1 && newest.as_ref().is_some_and(is_of_bootstrap) {
        return Err(TrainerError::Bootstrapping { run: run.name().clone() });
    }
    // One of a bootstrap that has ended in model 1 is of no more use.
    if let Some(checkpoint) = newest.filter(|newest| !is_of_bootstrap(newest)) {
        let progress = read_progress(run, &checkpoint)?;
        if progress.generation == generation {
            let trainer = restore(run, &checkpoint, config, (train_config, train_device), generation)?;
            return Ok(Work { trainer, progress });
        }
        if progress.generation + 1 == generation && ended(run, &checkpoint, progress)? {
            let trainer = restore(run, &checkpoint, config, (train_config.clone(), train_device), progress.generation)?;
            let failed = |source| TrainerError::Train { generation, source };
            let weights = published(run, progress.generation)?.uncalibrated();
            // An unfinished one has no averaged network to compare.
            if !progress.finished || trainer.published().map_err(failed)? == weights {
                if config.network_of(generation) == config.network_of(progress.generation) {
                    return Ok(Work { trainer, progress: begun });
                }
                let grown = grown(&weights, config, generation).map_err(failed)?;
                let trainer = Trainer::new(&grown, trainer.steps(), train_config, train_device).map_err(failed)?;
                return Ok(Work { trainer, progress: begun });
            }
        }
        tracing::warn!(
            checkpoint = checkpoint.step,
            of_model = progress.generation,
            generation,
            "the newest checkpoint is of another model; training starts from the weights of the last one"
        );
    }
    let trainer = match generation.checked_sub(1).filter(|&parent| parent > 0) {
        None => {
            let shape = Shape::new(&config.game, &config.network_of(generation));
            let weights = shape.map(|shape| Weights::random(shape, config.seed)).map_err(NetError::from);
            weights.and_then(|weights| Trainer::new(&weights, 0, train_config, train_device))
        }
        Some(parent) => {
            let step = run.models().metadata(parent)?.step;
            let grown = grown(&published(run, parent)?, config, generation);
            grown.and_then(|weights| Trainer::new(&weights, step, train_config, train_device))
        }
    };
    Ok(Work { trainer: trainer.map_err(|source| TrainerError::Train { generation, source })?, progress: begun })
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

/// Whether this checkpoint is the last one of its generation, whose model is there.
fn ended(run: &Run, checkpoint: &Checkpoint, progress: GenerationProgress) -> Result<bool, TrainerError> {
    Ok(progress.finished || run.models().metadata(progress.generation)?.step == checkpoint.step)
}

fn read_progress(run: &Run, checkpoint: &Checkpoint) -> Result<GenerationProgress, TrainerError> {
    let text = String::from_utf8_lossy(file(run, checkpoint, PROGRESS)?);
    toml::from_str(&text).map_err(|e| unusable(run, checkpoint, format!("{PROGRESS}: {}", e.message())))
}

/// The trainer of a checkpoint that was saved while this model was trained, or thereafter.
pub(crate) fn restore(
    run: &Run,
    checkpoint: &Checkpoint,
    config: &RunConfig,
    (train_config, train_device): (TrainConfig, TrainDevice),
    generation: u32,
) -> Result<Trainer, TrainerError> {
    let state = file(run, checkpoint, WEIGHTS)?;
    let shape = Shape::new(&config.game, &config.network_of(generation));
    let restore = |shape| Trainer::restore(state, shape, &config.digest(), train_config, train_device);
    shape.map_err(NetError::from).and_then(restore).map_err(|error| match error {
        // It says nothing of the checkpoint, which another device can go on from.
        error if error.is_of_the_device() => TrainerError::Device(error),
        error => unusable(run, checkpoint, error.to_string()),
    })
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
    let wanted = Shape::new(&config.game, &config.network_of(generation))?.with_planes_like(weights.shape());
    let weights = weights.grown(wanted, config.seed)?;
    tracing::info!(generation, network = %weights.shape(), "network grown");
    Ok(weights)
}

/// The weights of a published model.
fn published(run: &Run, number: u32) -> Result<Weights, TrainerError> {
    let (_, weights) = run.models().get(number)?;
    Weights::from_bytes(&weights).map_err(|source| TrainerError::Parent { model: run.name().model(number), source })
}
