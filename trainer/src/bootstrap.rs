//! Supervised training of a first model on human games.
//!
//! Each epoch has every position once, in random order; targets are the move played and the winner. The state is a
//! checkpoint of the run with `bootstrap.toml`. An interrupted bootstrap resumes from it, and a trainer does not
//! mistake it for a checkpoint of generation 1. Bootstrapping is complete with model 1; training then continues with
//! zero momentum.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use bytes::Bytes;
use config::RunConfig;
use net::{Losses, NetError, Shape, TrainConfig, TrainDevice, Trainer, Weights};
use record::Example;
use runtime::{Driver, Reporter, Step};
use serde::{Deserialize, Serialize};
use store::{Backoff, Checkpoint, Run, Source};

use crate::dataset::{CALIBRATION_POSITIONS, RECALIBRATION_POSITIONS};
use crate::init::{publish_first, refuse_models};
use crate::journal::{Journal, Set};
use crate::resume::{BOOTSTRAP, SAVE_EVERY, Trainers, WEIGHTS, unusable};
use crate::supervised::{Order, squared_error};
use crate::{HumanGames, InitialWeights, TrainerError, TrainerEvent, reference};

/// How long a bootstrap takes, and how often it is measured.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BootstrapOptions {
    /// Steps at most.
    pub steps: Option<u64>,
    /// Time after which no further step is taken, all processes that worked on it together.
    pub time: Duration,
    /// Steps between evaluations on held-out games.
    pub eval_interval: u64,
}

#[derive(Serialize, Deserialize)]
struct State {
    seconds: f64,
    origin: Vec<Source>,
}

/// A bootstrap: trains on human games, beginning with some weights or with random ones, and publishes the outcome as
/// model 1 of a run. When the process is to stop, the state is saved.
pub struct Bootstrap<'a> {
    run: &'a Run,
    config: &'a RunConfig,
    options: BootstrapOptions,
    origin: Vec<Source>,
    trainer: Trainer,
    order: Order<'a>,
    holdout: Vec<Example>,
    constant: f32,
    /// Time that earlier processes took.
    before: Duration,
    began: Instant,
    saved: Instant,
    /// The step of its newest checkpoint.
    saved_step: Option<u64>,
    journal: Journal,
    /// Losses since the last line of the journal.
    batches: Vec<(f64, Losses)>,
    /// The step of the last evaluation.
    measured: Option<u64>,
    reporter: Box<dyn Reporter<TrainerEvent> + 'a>,
}

impl<'a> Bootstrap<'a> {
    /// A new bootstrap, or the one that is under way in this run.
    ///
    /// # Errors
    /// A run that has models, or is training its first; weights of another shape; or a bootstrap under way from other
    /// games.
    pub fn new(
        run: &'a Run,
        config: &'a RunConfig,
        beginning: Option<&InitialWeights>,
        human_games: &'a HumanGames,
        options: BootstrapOptions,
        train_device: TrainDevice,
        reporter: impl Reporter<TrainerEvent> + 'a,
    ) -> Result<Bootstrap<'a>, TrainerError> {
        refuse_models(run)?;
        let origin: Vec<Source> =
            beginning.map(|b| b.source.clone()).into_iter().chain(human_games.sources.iter().cloned()).collect();
        let train_config = TrainConfig { ema_warm_up: beginning.is_none(), ..TrainConfig::new(config) };
        let trainers = Trainers { run, config, train_config, train_device };
        let newest = run.checkpoints().newest()?;
        let saved_step = newest.as_ref().map(|checkpoint| checkpoint.step);
        let (trainer, before) = match newest {
            Some(checkpoint) => resume(&trainers, &checkpoint, &origin)?,
            None => (begin(&trainers, beginning)?, Duration::ZERO),
        };
        let holdout = human_games.holdout(reference::POSITIONS)?;
        let now = Instant::now();
        Ok(Bootstrap {
            run,
            config,
            options,
            origin,
            trainer,
            order: Order::new(human_games, config.seed),
            constant: squared_error(human_games.mean_outcome(), &holdout),
            holdout,
            before,
            began: now,
            saved: now,
            saved_step,
            journal: Journal::new(1),
            batches: Vec::new(),
            measured: None,
            reporter: Box::new(reporter),
        })
    }

    /// Whether its limits are reached. A model has one step at least, however long the first measurement took.
    fn is_done(&self) -> bool {
        let steps = self.trainer.steps();
        steps >= self.options.steps.unwrap_or(u64::MAX) || steps > 0 && self.time() >= self.options.time
    }

    fn time(&self) -> Duration {
        self.before + self.began.elapsed()
    }

    /// Trains on one batch.
    fn train(&mut self) -> Result<(), TrainerError> {
        let rate = self.trainer.rate();
        let batch = self.order.batch(self.trainer.steps(), self.config.train.batch)?;
        let losses = self.trainer.step(&batch).map_err(failed)?;
        self.batches.push((Example::total_weight(&batch), losses));
        let (step, steps) = (self.trainer.steps(), self.options.steps);
        self.reporter.report(TrainerEvent::Step { generation: 1, done: step, steps, step, rate, losses });
        Ok(())
    }

    /// Measures it on holdout games, if there are any, and writes that down. What a resumed process measures first is
    /// not written down: the process before may have measured the same step.
    fn measure(&mut self) -> Result<(), TrainerError> {
        self.put_mean();
        let step = self.trainer.steps();
        let is_resumed = self.measured.replace(step).is_none() && step > 0;
        if self.config.train.ema_decay > 0.0 {
            let examples = self.order.recent(step, self.config.train.batch, RECALIBRATION_POSITIONS)?;
            self.trainer.recalibrate_batch_norm(&examples).map_err(failed)?;
        }
        if self.holdout.is_empty() {
            return Ok(());
        }
        let measured = self.trainer.examine(&self.holdout).map_err(failed)?;
        let (losses, examples, constant) = (measured.losses, self.holdout.len(), self.constant);
        let others = [("examples", examples as f32), ("constant_value", constant)];
        if !is_resumed {
            self.journal.put_measured(step, Set::Human, &measured, &others);
        }
        self.reporter.report(TrainerEvent::Human { generation: 1, step, examples, losses, constant });
        Ok(())
    }

    /// Logs the losses of the batches since the last line.
    fn put_mean(&mut self) {
        if let Some(losses) = Losses::mean(&self.config.train, &self.batches) {
            let step = self.trainer.steps();
            let rate = net::learning_rate(&self.config.train, step - self.batches.len() as u64);
            let others = [("learning_rate", rate), ("gradient_norm", self.trainer.gradient_norm())];
            self.journal.put(step, Set::Train, &losses, &others);
        }
        self.batches.clear();
    }

    fn publish_journal(&mut self) -> Result<(), TrainerError> {
        Ok(std::mem::replace(&mut self.journal, Journal::new(1)).publish(self.run)?)
    }

    fn save(&mut self) -> Result<(), TrainerError> {
        self.saved = Instant::now();
        let step = self.trainer.steps();
        // Stopped before its first step, a process has trained nothing that is not saved.
        if self.saved_step == Some(step) {
            return Ok(());
        }
        let weights = self.trainer.checkpoint(&self.config.digest()).map_err(failed)?;
        let state = State { seconds: self.time().as_secs_f64(), origin: self.origin.clone() };
        let state = toml::to_string(&state).expect("plain fields are TOML");
        let files =
            BTreeMap::from([(WEIGHTS.to_owned(), Bytes::from(weights)), (BOOTSTRAP.to_owned(), Bytes::from(state))]);
        self.run.checkpoints().publish(&Checkpoint { step, files })?;
        self.saved_step = Some(step);
        Ok(())
    }

    fn publish(&mut self) -> Result<(), TrainerError> {
        let step = self.trainer.steps();
        let examples = self.order.recent(step, self.config.train.batch, CALIBRATION_POSITIONS)?;
        let weights = self.trainer.published_with_scales(&examples).map_err(failed)?;
        refuse_models(self.run)?;
        publish_first(self.run, self.config, &weights, step, self.origin.clone())?;
        self.reporter.report(TrainerEvent::Published { generation: 1, step });
        Ok(())
    }
}

impl Driver for Bootstrap<'_> {
    type Error = TrainerError;

    fn step(&mut self) -> Result<Step, TrainerError> {
        if self.measured.is_none() {
            self.measure()?;
        }
        if !self.is_done() {
            self.train()?;
        }
        let (step, is_done) = (self.trainer.steps(), self.is_done());
        if self.measured != Some(step) && (is_done || step.is_multiple_of(self.options.eval_interval)) {
            self.measure()?;
        }
        if is_done {
            self.publish()?;
            self.publish_journal()?;
            return Ok(Step::Finished);
        }
        if self.saved.elapsed() >= SAVE_EVERY {
            self.save()?;
            self.publish_journal()?;
        }
        Ok(Step::Worked)
    }

    /// It never waits.
    fn pause(&self) -> Backoff {
        Backoff::new(Duration::ZERO, Duration::ZERO)
    }

    fn shut_down(&mut self) -> Result<(), TrainerError> {
        self.save()?;
        self.put_mean();
        if !self.journal.is_empty() {
            self.publish_journal()?;
        }
        Ok(())
    }
}

fn begin(trainers: &Trainers<'_>, beginning: Option<&InitialWeights>) -> Result<Trainer, TrainerError> {
    let config = trainers.config;
    let weights = match beginning {
        Some(beginning) => {
            beginning.check(config)?;
            beginning.weights.clone()
        }
        None => Weights::random(Shape::new(&config.game, &config.network), config.seed),
    };
    trainers.start(&weights, 0).map_err(failed)
}

/// Resumes from a checkpoint of the same bootstrap; returns how long it took so far, too.
fn resume(
    trainers: &Trainers<'_>,
    checkpoint: &Checkpoint,
    origin: &[Source],
) -> Result<(Trainer, Duration), TrainerError> {
    let run = trainers.run;
    let fail = |problem: String| unusable(run, checkpoint, problem);
    let text = checkpoint.files.get(BOOTSTRAP).ok_or_else(|| TrainerError::in_training(run, checkpoint))?;
    let state: State =
        toml::from_str(&String::from_utf8_lossy(text)).map_err(|e| fail(format!("{BOOTSTRAP}: {}", e.message())))?;
    if state.origin != origin {
        let names = state.origin.iter().map(|source| source.name.as_str()).collect::<Vec<_>>().join(", ");
        return Err(TrainerError::OtherBootstrap { run: run.name().clone(), names });
    }
    let time = Duration::try_from_secs_f64(state.seconds).map_err(|e| fail(format!("{BOOTSTRAP}: seconds: {e}")))?;
    Ok((trainers.restore(checkpoint, 1)?, time))
}

fn failed(source: NetError) -> TrainerError {
    TrainerError::Train { generation: 1, source }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering};

    use config::Preset;
    use net::{Device, Precision};
    use runtime::Silent;
    use store::Store;
    use testing::with_guard;

    use super::*;

    fn run() -> (Run, RunConfig, HumanGames) {
        let config = Preset::Tiny.with(&["train.batch=16", "selfplay.holdout_fraction=0.0"]).unwrap();
        let run = Store::in_memory().unwrap().run(&"r".parse().unwrap());
        run.create(&config).unwrap();
        let game = b"(;SZ[5]KM[0.5]RE[B+R];B[cc];W[bb];B[dd])".to_vec();
        let human_games = HumanGames::read(&config, &[("games.sgf".to_owned(), game)]).unwrap();
        (run, config, human_games)
    }

    fn bootstrap<'a>(run: &'a Run, config: &'a RunConfig, human_games: &'a HumanGames) -> Bootstrap<'a> {
        let options = BootstrapOptions { steps: Some(9), time: Duration::MAX, eval_interval: 10 };
        let train_device = TrainDevice { device: Device::Cpu, precision: Precision::F32, threads: 1 };
        Bootstrap::new(run, config, None, human_games, options, train_device, Silent).unwrap()
    }

    #[test]
    fn resumed_bootstrap_that_stops_at_once_reads_no_checkpoint_again() {
        let (run, config, human_games) = run();
        let mut first = bootstrap(&run, &config, &human_games);
        assert_eq!(first.step().unwrap(), Step::Worked);
        first.shut_down().unwrap();
        let closed = Arc::new(AtomicBool::new(false));
        let is_closed = closed.clone();
        let run = with_guard(run.store(), move |_| !is_closed.load(Ordering::SeqCst)).run(run.name());
        let mut resumed = bootstrap(&run, &config, &human_games);
        closed.store(true, Ordering::SeqCst);
        resumed.shut_down().unwrap();
    }

    #[test]
    fn long_bootstrap_is_saved_after_ten_minutes() {
        let (run, config, human_games) = run();
        let mut bootstrap = bootstrap(&run, &config, &human_games);
        assert_eq!(bootstrap.step().unwrap(), Step::Worked);
        assert!(run.checkpoints().steps().unwrap().is_empty());
        bootstrap.saved -= Duration::from_secs(600);
        assert_eq!(bootstrap.step().unwrap(), Step::Worked);
        assert_eq!(run.checkpoints().steps().unwrap(), [2]);
    }
}
