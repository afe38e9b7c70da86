//! The command line: what was typed, and what is played because of it.

use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use clap::Parser;
use cli::{Blame, Misconfigured, Pause, Stop, StoreUnreachable};
use config::{ModelId, ModelRef, QInit, RunConfig, RunName};
use net::{Backend, Device, Precision};
use store::{Run, Store, StoreError};

use crate::{Job, Model, SelfplayError, Threshold, Unfinished, play, rates};

/// How often a worker looks for a newer model and a newer resign threshold.
const LOOK: Duration = Duration::from_secs(10);
/// … at most, when there has long been nothing new.
const LOOK_LATE: Duration = Duration::from_secs(30);

/// Plays games with a model against itself and publishes them in the run's store, many to a file.
///
/// Killed or stopped, it goes on where it was when it is started again: games that are published are not played twice.
#[derive(Parser, Debug)]
#[command(version, max_term_width = 100, after_help = cli::EXIT_CODES)]
pub struct Args {
    /// The model: v15-330, or v15 for the newest of run v15, followed as it changes; or one of the built-in models
    /// uniform (flat prior, value 0) and random (fresh random output for every position)
    #[arg(long, env = "TENGEN_MODEL")]
    model: ModelRef,
    /// The run the games belong to [default: the model's]
    #[arg(long, env = "TENGEN_RUN", value_name = "NAME")]
    run: Option<RunName>,
    /// Stop when this worker has published so many games with the model, counting earlier ones [default: never]
    #[arg(long, value_name = "N")]
    games: Option<u64>,
    /// Name of this worker; workers of one run need different ones, and a restarted worker the same
    #[arg(long, env = "JOB_COMPLETION_INDEX", default_value = "0", value_name = "NAME")]
    worker: String,
    #[command(flatten)]
    config: cli::ConfigArgs,
    /// What a move is worth before its first visit: loss, parent, zero, or a penalty from 0 to 2 [default: the run's]
    #[arg(long, value_name = "RULE")]
    q_init: Option<QInit>,
    /// What becomes of the games it is playing when it is to stop: given up, or left for whichever worker of the run looks
    /// next. A worker that leaves games also goes on with such games
    #[arg(long, env = "TENGEN_UNFINISHED", value_enum, default_value_t = AtStop::GiveUp, value_name = "WHAT")]
    unfinished: AtStop,
    #[command(flatten)]
    place: cli::PlaceArgs,
    #[command(flatten)]
    times: cli::TimesArgs,
    #[command(flatten)]
    store: cli::StoreArgs,
    #[command(flatten)]
    service: cli::ServiceArgs,
    /// How to log.
    #[command(flatten)]
    pub log: cli::LogArgs,
}

/// What becomes of games in progress.
#[derive(clap::ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
enum AtStop {
    /// They are lost, and counted. A worker plays the same games whenever it is stopped
    GiveUp,
    /// They are in the store, and say that they were taken over
    Leave,
}

/// Plays what the arguments ask for.
///
/// # Errors
/// Arguments that do not fit the run, or whatever ended the work early.
pub fn run(args: &Args, stop: &Stop) -> anyhow::Result<()> {
    work(args, stop).map_err(blame)
}

/// Whose fault an error of the store is, and so the exit code.
fn blame(error: anyhow::Error) -> anyhow::Error {
    let of_play = error.downcast_ref::<SelfplayError>().and_then(SelfplayError::store);
    match error.downcast_ref::<StoreError>().or(of_play) {
        Some(StoreError::Unreachable { .. }) => StoreUnreachable::new(error).into(),
        Some(found) if found.is_misconfiguration() => Misconfigured::new(error).into(),
        _ => error,
    }
}

fn work(args: &Args, stop: &Stop) -> anyhow::Result<()> {
    let name = run_name(args)?;
    args.service.start("selfplay", Some(name.as_str()), stop)?;
    let device: Device = args.place.device.parse().misconfigured()?;
    let backend = Backend::open(device, Precision::Auto).misconfigured()?;
    backend.log(args.place.threads());
    cli::metrics::DEVICE.inform(&backend.labels());
    let run = Store::open(&args.store.store)?.run(&name);
    let mut config = configuration(args, &run)?;
    if let Some(q_init) = args.q_init {
        config.search.q_init = q_init;
    }
    let worker = Worker { args, run: &run, config: &config, device, stop };
    match &args.model {
        ModelRef::Exact(model) => worker.play(model, &mut Unfinished::default(), &mut || Ok(true)),
        ModelRef::Newest(name) => worker.follow(name),
    }
}

/// The run that the games belong to: the model's own, unless the model is built in.
fn run_name(args: &Args) -> anyhow::Result<RunName> {
    let own = match &args.model {
        ModelRef::Exact(ModelId::Trained { run, .. }) | ModelRef::Newest(run) => Some(run),
        ModelRef::Exact(_) => None,
    };
    match (own, &args.run) {
        (Some(own), Some(run)) if own != run => {
            let model = &args.model;
            Err(Misconfigured::new(anyhow::anyhow!("model {model} does not belong to run {run}")).into())
        }
        (Some(run), _) | (None, Some(run)) => Ok(run.clone()),
        (None, None) => {
            let model = &args.model;
            Err(Misconfigured::new(anyhow::anyhow!("model {model} belongs to no run; say which with --run NAME"))
                .into())
        }
    }
}

/// The configuration of the run, which begins with `--config` if it has none.
fn configuration(args: &Args, run: &Run) -> anyhow::Result<RunConfig> {
    if let Some(config) = args.config.read()? {
        run.create(&config)?;
    }
    let found = run.config()?;
    let missing =
        || anyhow::anyhow!("there is no run {} in {}; begin it with --config FILE", run.name(), args.store.store);
    Ok(found.ok_or_else(missing).map_err(Misconfigured::new)?)
}

struct Worker<'a> {
    args: &'a Args,
    run: &'a Run,
    config: &'a RunConfig,
    device: Device,
    stop: &'a Stop,
}

impl Worker<'_> {
    /// Plays with the newest model, and with the next when it appears, until the run has all its models; with `random`
    /// before there is any.
    fn follow(&self, name: &RunName) -> anyhow::Result<()> {
        let mut unfinished = Unfinished::default();
        while !self.stop.requested() {
            let number = self.run.newest_model()?;
            if number.is_some_and(|number| number >= self.config.cycle.models) {
                tracing::info!(models = self.config.cycle.models, "the run has all its models");
                return Ok(());
            }
            let model = number.map_or(ModelId::Random, |number| name.model(number));
            // One small object is asked for by thousands who wait: the card of the next model.
            let next = number.map_or(1, |number| number + 1);
            self.play(&model, &mut unfinished, &mut || Ok(!self.run.has_model(next)?))?;
            let mut pause = Pause::new(LOOK, LOOK_LATE);
            while !self.stop.requested() && !self.run.has_model(next)? {
                tracing::info!(%model, "all games are published; waiting for a newer model");
                cli::alive();
                self.stop.wait(pause.grow());
            }
        }
        Ok(())
    }

    /// Plays with one model as long as `current` says that it is the right one.
    fn play(
        &self,
        model: &ModelId,
        unfinished: &mut Unfinished,
        current: &mut dyn FnMut() -> anyhow::Result<bool>,
    ) -> anyhow::Result<()> {
        let follows = matches!(self.args.model, ModelRef::Newest(_));
        let job = Job {
            config: self.config.clone(),
            model: model.clone(),
            worker: self.args.worker.clone(),
            games: self.args.games.unwrap_or(u64::MAX),
            threads: self.args.place.threads(),
            cache: self.args.place.cache(),
            times: self.args.times.times.unwrap_or(true),
            // A built-in model alone plays so fast that nothing is worth keeping.
            hand_on: self.args.unfinished == AtStop::Leave && (follows || model.number() > 0),
            follows,
            threshold: Threshold::new(self.threshold(model)?),
        };
        let opened = Model::open(self.run, model, self.device, self.config.selfplay.batch)?;
        cli::ready();
        tracing::info!(%model, threshold = job.threshold.get(), threads = job.threads, "playing");
        let bar = cli::Progress::new(model.to_string(), self.args.games);
        let mut pause = Pause::new(LOOK, LOOK_LATE);
        let (mut looked, mut patience) = (Instant::now(), pause.grow());
        let mut failed = Ok(());
        let done = play(self.run, &job, &opened, unfinished, self.stop, &mut |progress| {
            bar.set(progress.games);
            bar.note(rates(&progress));
            if looked.elapsed() < patience {
                return ControlFlow::Continue(());
            }
            let mut look = || -> anyhow::Result<bool> {
                let threshold = self.threshold(model)?;
                if threshold != job.threshold.get() {
                    job.threshold.set(threshold);
                    pause.reset();
                }
                current()
            };
            let looks = look();
            (looked, patience) = (Instant::now(), pause.grow());
            match looks {
                Ok(true) => ControlFlow::Continue(()),
                Ok(false) => ControlFlow::Break(()),
                Err(error) => {
                    failed = Err(error);
                    ControlFlow::Break(())
                }
            }
        })?;
        bar.finish();
        tracing::info!(%model, games = done.finished, published = done.games, "{}", rates(&done));
        failed
    }

    /// Built-in models have values that mean nothing, so they play to the end.
    fn threshold(&self, model: &ModelId) -> anyhow::Result<Option<f32>> {
        match model {
            ModelId::Trained { .. } => Ok(self.run.resign_in_force()?.map(|resign| resign.threshold)),
            ModelId::Uniform | ModelId::Random => Ok(None),
        }
    }
}
