//! Supervised training of a first model on human games.
//!
//! Each epoch has every position once, in random order; targets are the move played and the winner. The state is a checkpoint
//! of the run with `bootstrap.toml`. An interrupted bootstrap resumes from it, and a trainer does not mistake it for a
//! checkpoint of generation 1. Bootstrapping is complete with model 1; training then continues with zero momentum.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use bytes::Bytes;
use config::RunConfig;
use net::{Losses, NetError, Shape, TrainDevice, Trainer, Weights};
use record::Example;
use runtime::Stop;
use serde::{Deserialize, Serialize};
use store::{Checkpoint, ModelMetadata, Run, Source};

use crate::dataset::{CALIBRATION_POSITIONS, RECALIBRATION_POSITIONS};
use crate::init::{publish_first, refuse_models};
use crate::journal::{Journal, Set};
use crate::resume::{BOOTSTRAP, WEIGHTS, restore, train_config, unusable};
use crate::supervised::{Order, squared_error};
use crate::{HumanGames, InitialWeights, TrainerError};

/// How often it is saved, so that a kill costs no more.
const SAVE_EVERY: Duration = Duration::from_secs(600);
/// Held-out positions of an evaluation. The standard error of an accuracy is then below 1 %.
const UNSEEN: usize = 4096;

/// How long a bootstrap takes, and how often it is measured.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BootstrapOptions {
    /// Steps at most.
    pub steps: u64,
    /// Time at most, all processes that worked on it together.
    pub time: Duration,
    /// Steps between evaluations on held-out games.
    pub eval_interval: u64,
}

/// What a bootstrap is doing.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum BootstrapEvent {
    /// It has trained on a batch.
    Step {
        /// Steps so far.
        step: u64,
        /// What the batch cost.
        losses: Losses,
    },
    /// It has been measured on games that it does not train on.
    Look {
        /// Steps so far.
        step: u64,
        /// Time so far.
        time: Duration,
        /// Positions.
        examples: usize,
        /// What they cost. `accuracy` is how often the most probable move is the one that was played.
        losses: Losses,
        /// The squared error of the best value without the board.
        constant: f32,
    },
}

#[derive(Serialize, Deserialize)]
struct State {
    seconds: f64,
    origin: Vec<Source>,
}

/// A bootstrap under way.
struct Bootstrap<'a> {
    run: &'a Run,
    config: &'a RunConfig,
    options: BootstrapOptions,
    origin: Vec<Source>,
    trainer: Trainer,
    order: Order<'a>,
    unseen: Vec<Example>,
    constant: f32,
    /// Time that earlier processes took.
    before: Duration,
    began: Instant,
    /// Losses since the last line of the journal.
    batches: Vec<(f64, Losses)>,
    /// The step of the last evaluation.
    looked: Option<u64>,
    watch: &'a mut dyn FnMut(BootstrapEvent),
}

/// Trains on human games, beginning with some weights or with random ones, and publishes the outcome as model 1 of
/// a run. `None` when `stop` was requested before; the state is saved.
///
/// # Errors
/// A run that has models, or is training its first; weights of another shape; a bootstrap under way from other games; or
/// what training may meet.
pub fn bootstrap(
    run: &Run,
    config: &RunConfig,
    (beginning, people): (Option<&InitialWeights>, &HumanGames),
    options: BootstrapOptions,
    train_device: TrainDevice,
    stop: &Stop,
    watch: &mut dyn FnMut(BootstrapEvent),
) -> Result<Option<ModelMetadata>, TrainerError> {
    refuse_models(run)?;
    let origin: Vec<Source> =
        beginning.map(|b| b.source.clone()).into_iter().chain(people.sources().iter().cloned()).collect();
    let (trainer, before) = match run.checkpoints().newest()? {
        Some(checkpoint) => resume(&checkpoint, config, &origin, train_device)?,
        None => (begin(config, beginning, train_device)?, Duration::ZERO),
    };
    let unseen = people.unseen(UNSEEN)?;
    let constant = squared_error(people.mean_outcome(), &unseen);
    let order = Order::new(people, config.seed);
    let (began, batches, looked) = (Instant::now(), Vec::new(), None);
    Bootstrap { run, config, options, origin, trainer, order, unseen, constant, before, began, batches, looked, watch }
        .go(stop)
}

impl Bootstrap<'_> {
    fn go(mut self, stop: &Stop) -> Result<Option<ModelMetadata>, TrainerError> {
        let mut journal = Journal::new(1);
        let mut saved = Instant::now();
        self.look(&mut journal)?;
        while !self.is_done() && !stop.requested() {
            self.step()?;
            if self.trainer.steps().is_multiple_of(self.options.eval_interval) {
                self.look(&mut journal)?;
            }
            if saved.elapsed() >= SAVE_EVERY {
                std::mem::replace(&mut journal, Journal::new(1)).publish(self.run)?;
                self.save()?;
                saved = Instant::now();
            }
        }
        if self.is_done() {
            if self.looked != Some(self.trainer.steps()) {
                self.look(&mut journal)?;
            }
            journal.publish(self.run)?;
            let examples = self.order.batch(self.trainer.steps(), CALIBRATION_POSITIONS)?;
            let weights = self.trainer.published().and_then(|weights| weights.calibrated(&examples)).map_err(failed)?;
            return publish_first(self.run, self.config, &weights, self.trainer.steps(), self.origin).map(Some);
        }
        if !self.batches.is_empty() {
            self.line(&mut journal);
            journal.publish(self.run)?;
        }
        self.save()?;
        Ok(None)
    }

    fn is_done(&self) -> bool {
        self.trainer.steps() >= self.options.steps || self.time() >= self.options.time
    }

    fn time(&self) -> Duration {
        self.before + self.began.elapsed()
    }

    fn step(&mut self) -> Result<(), TrainerError> {
        let batch = self.order.batch(self.trainer.steps(), self.config.train.batch)?;
        let losses = self.trainer.step(&batch).map_err(failed)?;
        self.batches.push((Example::total_weight(&batch), losses));
        (self.watch)(BootstrapEvent::Step { step: self.trainer.steps(), losses });
        Ok(())
    }

    /// Measures it on unseen games, if there are any, and writes that down.
    fn look(&mut self, journal: &mut Journal) -> Result<(), TrainerError> {
        self.line(journal);
        self.looked = Some(self.trainer.steps());
        if self.config.train.ema_decay > 0.0 {
            let examples = self.order.batch(self.trainer.steps(), RECALIBRATION_POSITIONS)?;
            self.trainer.recalibrate_batch_norm(&examples).map_err(failed)?;
        }
        if self.unseen.is_empty() {
            return Ok(());
        }
        let measured = self.trainer.examine(&self.unseen).map_err(failed)?;
        let losses = measured.losses;
        let (step, time, examples, constant) = (self.trainer.steps(), self.time(), self.unseen.len(), self.constant);
        let others = [("examples", examples as f32), ("constant_value", constant)];
        journal.put_measured(step, Set::Holdout, &measured, &others);
        (self.watch)(BootstrapEvent::Look { step, time, examples, losses, constant });
        Ok(())
    }

    /// Writes down what the batches since the last line have cost.
    fn line(&mut self, journal: &mut Journal) {
        if let Some(losses) = Losses::mean(&self.batches) {
            journal.put(self.trainer.steps(), Set::Train, &losses, &[("learning_rate", self.trainer.rate())]);
        }
        self.batches.clear();
    }

    fn save(&self) -> Result<(), TrainerError> {
        let weights = self.trainer.checkpoint(&self.config.digest()).map_err(failed)?;
        let state = State { seconds: self.time().as_secs_f64(), origin: self.origin.clone() };
        let state = toml::to_string(&state).expect("plain fields are TOML");
        let files =
            BTreeMap::from([(WEIGHTS.to_owned(), Bytes::from(weights)), (BOOTSTRAP.to_owned(), Bytes::from(state))]);
        let checkpoint = Checkpoint { step: self.trainer.steps(), files };
        // Stopped before its first step, a process has trained nothing that is not saved.
        if self.run.checkpoints().get(checkpoint.step)?.is_some() {
            Ok(())
        } else {
            Ok(self.run.checkpoints().publish(&checkpoint)?)
        }
    }
}

fn begin(
    config: &RunConfig,
    beginning: Option<&InitialWeights>,
    train_device: TrainDevice,
) -> Result<Trainer, TrainerError> {
    let weights = match beginning {
        Some(beginning) => {
            beginning.check(config)?;
            beginning.weights.clone()
        }
        None => Weights::random(Shape::new(&config.game, &config.network).map_err(failed)?, config.seed),
    };
    Trainer::new(&weights, 0, train_config(config), train_device).map_err(failed)
}

/// Resumes from a checkpoint of the same bootstrap; returns how long it took so far, too.
fn resume(
    checkpoint: &Checkpoint,
    config: &RunConfig,
    origin: &[Source],
    train_device: TrainDevice,
) -> Result<(Trainer, Duration), TrainerError> {
    let fail = |problem: String| unusable(checkpoint, problem);
    let text = checkpoint
        .files
        .get(BOOTSTRAP)
        .ok_or_else(|| fail("model 1 is being trained on games of the run".to_owned()))?;
    let state: State =
        toml::from_str(&String::from_utf8_lossy(text)).map_err(|e| fail(format!("{BOOTSTRAP}: {}", e.message())))?;
    if state.origin != origin {
        let names = state.origin.iter().map(|source| source.name.as_str()).collect::<Vec<_>>().join(", ");
        return Err(fail(format!("it belongs to a bootstrap from {names}, whose contents may have changed since")));
    }
    let time = Duration::try_from_secs_f64(state.seconds).map_err(|e| fail(format!("{BOOTSTRAP}: seconds: {e}")))?;
    Ok((restore(checkpoint, config, train_device, 1)?, time))
}

fn failed(source: NetError) -> TrainerError {
    TrainerError::Train { generation: 1, source }
}
