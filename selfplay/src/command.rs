//! The command line: what was typed, and what is played because of it.

use anyhow::anyhow;
use clap::Parser;
use config::{ConfigError, ModelRef, QInit, RunConfig, RunName};
use exit_class::{Classifier, classify};
use models::{ModelError, Models};
use net::{Backend, Device, NetError, Precision};
use runtime::{Classify, Stop, within};
use store::{Run, Store, StoreError};

use crate::{Console, Driver, Games, Options, SelfplayError, lease};

/// Plays games with a model against itself and publishes them in the run's store, many to a file.
///
/// Killed or stopped, it goes on where it was when it is started again: games that are published are not played twice.
#[derive(Parser, Debug)]
#[command(version, max_term_width = 100, after_help = runtime::exit_codes())]
pub struct Args {
    /// The model: v15-330, or v15 for the newest of run v15, followed as it changes; 9x9-demo, which begins a run of this name;
    /// or one without a network, uniform (flat prior, value 0) or random (fresh random output for every position)
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
    config: runtime::ConfigArgs,
    /// What a move is worth before its first visit: loss, parent, zero, or a penalty from 0 to 2 [default: the run's]
    #[arg(long, value_name = "RULE")]
    q_init: Option<QInit>,
    /// What becomes of the games it is playing when it is to stop: given up, or left for whichever worker of the run looks
    /// next. A worker that leaves games also goes on with such games
    #[arg(long, env = "TENGEN_ON_SHUTDOWN", value_enum, default_value_t = OnShutdown::Discard, value_name = "WHAT")]
    on_shutdown: OnShutdown,
    #[command(flatten)]
    place: runtime::PlaceArgs,
    #[command(flatten)]
    times: runtime::TimesArgs,
    #[command(flatten)]
    store: runtime::StoreArgs,
    #[command(flatten)]
    service: runtime::ServiceArgs,
    /// How to log.
    #[command(flatten)]
    pub log: runtime::LogArgs,
}

/// What becomes of games in progress.
#[derive(clap::ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
enum OnShutdown {
    /// They are lost, and counted. A worker plays the same games whenever it is stopped
    Discard,
    /// They are in the store, and say that they were taken over
    Handoff,
}

/// The errors of libraries that a command may end with, for [`runtime::main`].
pub const ERRORS: &[Classifier] = &[
    classify::<SelfplayError>,
    classify::<ModelError>,
    classify::<StoreError>,
    classify::<ConfigError>,
    classify::<NetError>,
];

/// Plays what the arguments ask for.
///
/// # Errors
/// Arguments that do not fit the run, or whatever ended the work early.
pub fn run(args: &Args, stop: &Stop) -> anyhow::Result<()> {
    let name = run_name(args)?;
    args.service.start("selfplay", Some(name.as_str()), stop)?;
    let device: Device = args.place.device.parse().misconfigured()?;
    let backend = Backend::open(device, Precision::Auto)?;
    backend.log(args.place.threads());
    runtime::metrics::DEVICE.inform(&backend.labels());
    let models = Models::new(Store::open(&args.store.store)?);
    let run = models.store().run(&name);
    let mut config = configuration(args, &models, &run)?;
    if let Some(q_init) = args.q_init {
        config.search.q_init = q_init;
    }
    let options = Options {
        model: args.model.clone(),
        worker: args.worker.clone(),
        games: Games::Share { own: args.games, all: args.max_games_per_model },
        handoff_on_shutdown: args.on_shutdown == OnShutdown::Handoff,
        device,
        threads: args.place.threads(),
        cache: args.place.cache(),
        times: args.times.times.unwrap_or(true),
    };
    let mut driver = Driver::new(&run, &config, options, stop, Console::default());
    runtime::leased(&run, lease(&args.worker), stop, || runtime::drive(&mut driver, stop))?;
    Ok(())
}

/// The run that the games belong to: the model's own, unless the model is built in.
fn run_name(args: &Args) -> anyhow::Result<RunName> {
    match (args.model.run(), &args.run) {
        (Some(own), Some(run)) if own != run => {
            let model = &args.model;
            Err(anyhow!("model {model} does not belong to run {run}")).misconfigured()
        }
        (Some(run), _) | (None, Some(run)) => Ok(run.clone()),
        (None, None) => {
            let model = &args.model;
            Err(anyhow!("model {model} belongs to no run; say which with --run NAME")).misconfigured()
        }
    }
}

/// The configuration of the run, which begins with `--config`, or as the demo's, if it has none.
fn configuration(args: &Args, models: &Models, run: &Run) -> anyhow::Result<RunConfig> {
    match args.config.read()? {
        Some(config) => run.create(&config)?,
        None if args.model.run().is_some() => models.store_demo(run.name())?,
        None => {}
    }
    let found = run.config()?;
    let missing = || anyhow!("there is no run {} in {}; begin it with --config FILE", run.name(), args.store.store);
    found.ok_or_else(missing).misconfigured()
}
