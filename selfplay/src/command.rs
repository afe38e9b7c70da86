//! The command line: what was typed, and what is played because of it.

use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use clap::Parser;
use cli::{Blame, Misconfigured, Stop, StoreRefuses, StoreUnreachable, within};
use config::{ModelId, ModelRef, QInit, RunConfig, RunName};
use net::{Backend, Device, Precision};
use store::{Backoff, LeaseName, Run, Store, StoreError};

use crate::bound::Bound;
use crate::{Job, Model, SelfplayError, Threshold, Unfinished, play, put_down, rates};

/// How often a worker looks for a newer model and a newer resign threshold.
const LOOK: Duration = Duration::from_secs(10);
/// … at most, when there has long been nothing new.
const LOOK_LATE: Duration = Duration::from_secs(30);
/// Shards that are not there so long after all games are: something is wrong with the games, or there is no shuffler.
const OVERDUE: Duration = Duration::from_secs(300);

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
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = within(1..=1_000_000_000_u64))]
    games: Option<u64>,
    /// Games of one model, of all workers, after which a worker that follows a run waits for the next model; never fewer than that
    /// model waits for, and 0 for no bound [default: as many as the window of the next model holds]
    #[arg(long, env = "TENGEN_MAX_GAMES_PER_MODEL", value_name = "N", allow_negative_numbers = true, value_parser = within(0..=1_000_000_000_u64))]
    max_games_per_model: Option<u64>,
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
        Some(StoreError::Refused { .. }) => StoreRefuses::new(error).into(),
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
    let wait = |time| {
        cli::alive();
        stop.wait(time)
    };
    let lost = {
        let stop = stop.clone();
        move || stop.request()
    };
    let done = run.leases().hold(lease(&args.worker), &wait, lost, || match &args.model {
        ModelRef::Exact(model) => worker.play(model, &mut Unfinished::default(), &mut None, &mut || Ok(true)),
        ModelRef::Newest(name) => worker.follow(name),
    })?;
    if done.is_none() {
        tracing::info!("asked to stop before the name of this worker was free");
    }
    Ok(())
}

/// The name of a worker, which one process has at a time: two would play the same games.
pub fn lease(worker: &str) -> LeaseName {
    LeaseName {
        stage: "selfplay",
        name: worker.to_owned(),
        remedy: "two workers of one name play the same games, so give each a name of its own with --worker NAME",
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
            let number = self.run.models().newest()?;
            if number.is_some_and(|number| number >= self.config.cycle.models) {
                tracing::info!(models = self.config.cycle.models, "the run has all its models");
                break;
            }
            let model = number.map_or(ModelId::Random, |number| name.model(number));
            // One small object is asked for by thousands who wait: the card of the next model.
            let next = number.map_or(1, |number| number + 1);
            let mut bound = Bound::new(self.config, next - 1, self.args.max_games_per_model);
            self.play(&model, &mut unfinished, &mut bound, &mut || Ok(!self.run.models().exists(next)?))?;
            while !self.waited_for(next, &model, &bound)? {
                // The shuffler may have found that games are damaged: then they are counted, and played, once more.
                let enough = bound.as_mut().map(|bound| bound.count(self.run)).transpose()?;
                if enough != Some(true) {
                    break;
                }
            }
        }
        if self.stop.requested() && unfinished.count() > 0 {
            put_down(self.run, &self.args.worker, self.hands_on(true, 0), &mut unfinished)?;
        }
        Ok(())
    }

    /// Waits for a model, or until its shards are long overdue; answers whether it need not be waited for any more.
    fn waited_for(&self, next: u32, model: &ModelId, bound: &Option<Bound>) -> anyhow::Result<bool> {
        let (began, mut pause) = (Instant::now(), Backoff::new(LOOK, LOOK_LATE));
        while !self.stop.requested() && !self.run.models().exists(next)? {
            match bound.as_ref().map(Bound::games).filter(|&games| games > 0) {
                Some(games) => {
                    tracing::info!(%model, games, "enough games are published; waiting for a newer model");
                }
                None => tracing::info!(%model, "all games are published; waiting for a newer model"),
            }
            cli::alive();
            if began.elapsed() >= OVERDUE && self.run.shards().manifest(next)?.is_none() {
                return Ok(false);
            }
            self.stop.wait(pause.pause());
        }
        Ok(true)
    }

    /// Whether games in progress are left to others when the process is to stop. A built-in model alone plays so fast that
    /// nothing is worth keeping.
    fn hands_on(&self, follows: bool, model: u32) -> bool {
        self.args.unfinished == AtStop::Leave && (follows || model > 0)
    }

    /// Plays with one model as long as `current` says that it is the right one and there are not enough games.
    fn play(
        &self,
        model: &ModelId,
        unfinished: &mut Unfinished,
        bound: &mut Option<Bound>,
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
            hand_on: self.hands_on(follows, model.number()),
            follows,
            threshold: Threshold::new(self.threshold(model)?),
        };
        let opened = Model::open(self.run, model, self.device, self.config.selfplay.batch)?;
        cli::ready();
        tracing::info!(%model, threshold = job.threshold.get(), threads = job.threads, "playing");
        let bar = cli::Progress::new(model.to_string(), self.args.games);
        let mut pause = Backoff::new(LOOK, LOOK_LATE);
        let (mut looked, mut patience) = (Instant::now(), pause.pause());
        let mut failed = Ok(());
        let done = play(self.run, &job, &opened, unfinished, self.stop, &mut |progress| {
            bar.set(progress.games);
            bar.note(rates(&progress));
            if bound.as_mut().is_some_and(|bound| bound.is_reached_by(progress)) {
                return ControlFlow::Break(());
            }
            if looked.elapsed() < patience {
                return ControlFlow::Continue(());
            }
            let mut look = || -> anyhow::Result<bool> {
                let threshold = self.threshold(model)?;
                if threshold != job.threshold.get() {
                    job.threshold.set(threshold);
                    pause.reset();
                }
                let enough = bound.as_mut().map(|bound| bound.look(self.run)).transpose()?;
                Ok(enough != Some(true) && current()?)
            };
            let looks = look();
            (looked, patience) = (Instant::now(), pause.pause());
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
            ModelId::Trained { .. } => Ok(self.run.resign().in_force()?.map(|resign| resign.threshold)),
            ModelId::Uniform | ModelId::Random => Ok(None),
        }
    }
}
