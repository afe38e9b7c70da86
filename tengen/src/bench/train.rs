//! Training as the stage does it, beside forward, backward and step alone.

use std::fmt;
use std::time::{Duration, Instant};

use net::{Device, NetError, Precision, PreparedBatch, TrainBench, TrainConfig, TrainDevice, Trainer};
use record::{Example, ExampleRows, synthetic};
use runtime::{Classify, DeviceArgs};
use serde::Serialize;
use trainer::Prefetch;

use super::Bench;
use super::clock::Rate;
use super::subject::{Subject, SubjectArgs, Tower};

/// Number of turns in which compared cases are measured, so that a disturbance hits all of them.
const ROUNDS: u32 = 5;

/// Steps of the bare training between two waits for the device.
const STRETCH: usize = 4;

/// Made-up games that examples come from.
const GAMES: u64 = 400;

/// Arguments of `tengen bench train`.
#[derive(clap::Args, Debug)]
pub(super) struct Args {
    #[command(flatten)]
    subject: SubjectArgs,
    /// Precision of activations: auto, f32 or bf16
    #[arg(long, default_value = "auto", value_name = "PRECISION")]
    precision: Precision,
    #[command(flatten)]
    devices: DeviceArgs,
}

/// One case.
#[derive(Serialize)]
#[serde(tag = "bench", rename = "train")]
struct Case {
    #[serde(flatten)]
    tower: Tower,
    batch: usize,
    threads: usize,
    optimizer: String,
    examples_per_s: f64,
    /// Share of the time in which it waited for a prepared batch.
    waited_share: f64,
    /// Of forward, backward and step on a batch that is on the device already.
    bare_examples_per_s: f64,
    share: f64,
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Case { tower, batch, threads, optimizer, .. } = self;
        write!(f, "train {tower}, batches of {batch}, {optimizer}, {threads} threads: ")?;
        write!(f, "{:.0} examples/s, ", self.examples_per_s)?;
        write!(f, "{:.1} % of the time waiting for batches, ", 100.0 * self.waited_share)?;
        write!(
            f,
            "{:.1} % of the {:.0} of forward, backward and step alone",
            100.0 * self.share,
            self.bare_examples_per_s
        )
    }
}

pub(super) fn run(bench: &Bench<'_>, args: &Args) -> anyhow::Result<()> {
    for subject in args.subject.subjects(bench.store)? {
        if !bench.stop.requested() {
            bench.report(&measure(bench, args, &subject)?)?;
        }
    }
    Ok(())
}

fn measure(bench: &Bench<'_>, args: &Args, subject: &Subject) -> anyhow::Result<Case> {
    let (rows, batch) = (rows(subject)?, subject.config.train.batch);
    let trainer = || trainer(subject, &args.devices, args.precision);
    let mut bare_steps = TrainBench::new(trainer()?, &rows.take(&numbers(&rows, 0, batch)).to_examples())?;
    let mut learn = Steps::new(trainer()?, rows, batch);
    // What a GPU has left to do after the last step would be counted as the time of the other case.
    let mut alone = || -> anyhow::Result<f64> { Ok(bare_steps.steps(STRETCH).map(|()| (STRETCH * batch) as f64)?) };
    // libtorch prepares its kernels in the first steps.
    learn.step()?;
    learn.waited = Duration::ZERO;
    alone()?;
    let (mut all, mut bare) = (Rate::default(), Rate::default());
    for _ in 0..ROUNDS {
        all += Rate::measure(bench.time / ROUNDS, bench.stop, || learn.step())?;
        bare += Rate::measure(bench.time / ROUNDS, bench.stop, &mut alone)?;
    }
    Ok(Case {
        tower: subject.tower(),
        batch,
        threads: args.devices.threads(),
        optimizer: format!("{:?}", subject.config.train.optimizer).to_lowercase(),
        examples_per_s: all.per_second(),
        waited_share: learn.waited.div_duration_f64(all.spent.wall),
        bare_examples_per_s: bare.per_second(),
        share: all.per_second() / bare.per_second(),
    })
}

/// Examples a second of training as the stage does it.
pub(super) fn examples_per_s(bench: &Bench<'_>, devices: &DeviceArgs, subject: &Subject) -> anyhow::Result<f64> {
    let trainer = trainer(subject, devices, Precision::Auto)?;
    let mut learn = Steps::new(trainer, rows(subject)?, subject.config.train.batch);
    learn.step()?;
    Ok(Rate::measure(bench.time, bench.stop, || learn.step())?.per_second())
}

/// A training of the network that has taken no step.
fn trainer(subject: &Subject, devices: &DeviceArgs, precision: Precision) -> anyhow::Result<Trainer> {
    let device: Device = devices.device.parse().misconfigured()?;
    let train_device = TrainDevice { device, precision, threads: devices.threads() };
    Ok(Trainer::new(&subject.weights, 0, TrainConfig::new(&subject.config), train_device)?)
}

/// Training whose batches another thread prepares.
struct Steps {
    trainer: Trainer,
    ahead: Prefetch<PreparedBatch, NetError>,
    /// Time in which no prepared batch was there. While the bare training has its turn some are prepared, so that the
    /// first steps of a round wait for none.
    waited: Duration,
}

impl Steps {
    fn new(trainer: Trainer, rows: ExampleRows, batch: usize) -> Steps {
        let (preparation, mut step) = (trainer.preparation(), trainer.steps());
        let ahead = Prefetch::new(move || -> Result<_, NetError> {
            let examples = rows.take(&numbers(&rows, (step as usize + 1) * batch, batch)).to_examples();
            step += 1;
            Ok(Some(preparation.prepare(step - 1, examples)?))
        });
        Steps { trainer, ahead, waited: Duration::ZERO }
    }

    /// Takes a step, and returns the number of its examples.
    fn step(&mut self) -> anyhow::Result<f64> {
        let began = Instant::now();
        let prepared = self.ahead.next()?.ok_or(NetError::NoExamples)?;
        self.waited += began.elapsed();
        self.trainer.step_prepared(&prepared)?;
        Ok(prepared.examples.len() as f64)
    }
}

/// At least a batch of made-up examples.
fn rows(subject: &Subject) -> anyhow::Result<ExampleRows> {
    let (size, batch) = (subject.weights.shape().size, subject.config.train.batch);
    let mut examples: Vec<Example> = Vec::new();
    // A game has an example at least.
    for index in 0..GAMES.max(batch as u64) {
        examples.extend(synthetic::game("made-up", "0", index, size, 30).examples()?);
    }
    Ok(ExampleRows::from_examples(&examples))
}

/// The rows of a batch: far from each other, for rows of a game follow each other. All rows have their turn, unless
/// their number is a multiple of 7919.
fn numbers(rows: &ExampleRows, from: usize, batch: usize) -> Vec<u32> {
    (from..from + batch).map(|row| (row * 7919 % rows.len()) as u32).collect()
}
