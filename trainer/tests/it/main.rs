//! The trainer on a store, from shards to models.

#![allow(clippy::unwrap_used, reason = "a test stops at what it did not expect, in its helpers too")]

mod beginnings;
mod generations;
mod growing;
mod logs;
mod references;
mod resuming;

use config::{Preset, RunConfig};
use net::{Device, Precision, Shape, TrainDevice};
use record::{Example, ExampleRows, GameRecord, synthetic};
use runtime::{Stop, drive};
use store::{Manifest, ModelMetadata, Run, SampleSummary, Store};
use trainer::{Driver, References, TrainerError, TrainerEvent};

const TRAIN_DEVICE: TrainDevice = TrainDevice { device: Device::Cpu, precision: Precision::F32, threads: 1 };

/// 5x5 with a network that takes no time: 6 steps of 16 examples for each model.
fn config() -> RunConfig {
    let overrides = ["train.batch=16", "train.steps=6", "train.momentum=0.9", "train.l2=1e-3", "seed=3"];
    Preset::Tiny.with(&overrides).unwrap()
}

fn run() -> Run {
    let run = Store::in_memory().unwrap().run(&"r".parse().unwrap());
    run.create(&config()).unwrap();
    run
}

/// Made-up games of a worker.
fn games(worker: &str) -> impl Iterator<Item = GameRecord> {
    let size = Shape::new(&config().game, &config().network).size;
    (0..).map(move |index| synthetic::game("made-1", worker, index, size, 20))
}

/// Publishes four games that are held out for validation, and returns them.
fn hold_out(run: &Run) -> Vec<GameRecord> {
    let held: Vec<GameRecord> = games("w").map(|game| GameRecord { holdout: true, ..game }).take(4).collect();
    run.games().publish(0, "w", &held).unwrap();
    held
}

/// Made-up examples, others for each generation.
fn examples(generation: u32, count: usize) -> Vec<Example> {
    games(&format!("w{generation}")).flat_map(|game| game.examples().unwrap()).take(count).collect()
}

/// Publishes examples as the shards of a generation, so many in each part.
fn publish(run: &Run, generation: u32, examples: &[Example], part: usize) {
    let sampled = SampleSummary { mean_per_position: 1.0, reuse: 2.5, ..SampleSummary::default() };
    let manifest = Manifest { generation, sampled, ..Manifest::default() };
    run.shards().publish(examples.chunks(part).map(ExampleRows::from_examples), manifest).unwrap();
}

/// Publishes shards that are just enough for two models.
fn publish_two(run: &Run) {
    for generation in [1, 2] {
        publish(run, generation, &examples(generation, 6 * 16), 40);
    }
}

/// Trains the next model; `None` when it is stopped before.
fn train_next(
    run: &Run,
    config: &RunConfig,
    train_device: TrainDevice,
    stop: &Stop,
    watch: &mut dyn FnMut(TrainerEvent),
) -> Result<Option<ModelMetadata>, TrainerError> {
    train_measured(run, config, (train_device, &References::default()), stop, watch)
}

/// The same; the model is measured on the references, too.
fn train_measured(
    run: &Run,
    config: &RunConfig,
    (train_device, references): (TrainDevice, &References),
    stop: &Stop,
    watch: &mut dyn FnMut(TrainerEvent),
) -> Result<Option<ModelMetadata>, TrainerError> {
    let mut published = None;
    let reporter = |progress| match progress {
        TrainerEvent::Published { generation, .. } => published = Some(generation),
        progress => watch(progress),
    };
    drive(&mut Driver::new(run, config, train_device, references, stop, reporter).once(), stop)?;
    Ok(published.map(|number| run.models().metadata(number).unwrap()))
}

/// Trains the next model to the end.
fn train(run: &Run) -> Result<ModelMetadata, TrainerError> {
    Ok(train_next(run, &config(), TRAIN_DEVICE, &Stop::never(), &mut |_| ())?.expect("it is not stopped"))
}

/// Trains until so many batches are trained on, or the model is published.
fn train_some(run: &Run, batches: usize) -> Option<ModelMetadata> {
    let (stop, mut trained) = (Stop::never(), 0);
    let mut watch = |progress| {
        if let TrainerEvent::Step { .. } = progress {
            trained += 1;
            if trained == batches {
                stop.request();
            }
        }
    };
    train_next(run, &config(), TRAIN_DEVICE, &stop, &mut watch).unwrap()
}
