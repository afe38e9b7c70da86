//! The command line of self-play.

use std::process::ExitCode;

use anyhow::anyhow;
use clap::Parser;
use config::{ModelId, ModelRef, RunConfig, RunName};
use exit_class::{Classifier, classify};
use models::{EvaluationCacheOptions, ModelError, Models, Place, Priority};
use net::NetError;
use runtime::{Classify, Stop, within};
use store::{Run, Store};

use crate::{Console, Driver, Games, OnShutdown, Options, SelfplayError, lease};

/// The most games that an option may name: more than any run has.
const MOST_GAMES: u64 = 1_000_000_000;

/// Play games with a model against itself and publish them in the store of the run.
///
/// A restarted worker resumes: it does not play published games again.
#[derive(Parser, Debug)]
#[command(version, max_term_width = 100, after_help = runtime::exit_codes())]
pub struct Args {
    /// Model: v15-330, v15 for the newest of run v15 (followed), 9x9-demo (begins a run of this name), uniform (flat
    /// prior, value 0) or random (random output per position)
    #[arg(long, env = "TENGEN_MODEL", value_parser = models::model_with_id)]
    model: ModelRef,
    /// Run that receives the games [default: the model's]
    #[arg(long, env = "TENGEN_RUN", value_name = "NAME")]
    run: Option<RunName>,
    /// Games of this worker with the model, earlier ones included, after which it exits [default: no limit]
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = within(1..=MOST_GAMES))]
    games: Option<u64>,
    /// Games per model, of all workers, after which a worker that follows a run waits for the next model. At least the
    /// number that the model needs; 0: no limit [default: the window of the next model; window.games, or
    /// window.positions, where it grows by the power law]
    #[arg(long, env = "TENGEN_MAX_GAMES_PER_MODEL", value_name = "N", allow_negative_numbers = true, value_parser = within(0..=MOST_GAMES))]
    max_games_per_model: Option<u64>,
    /// Name of this worker: unique in its run, and the same after a restart
    #[arg(long, env = "JOB_COMPLETION_INDEX", default_value = play::FIRST_WORKER, value_name = "NAME")]
    worker: String,
    #[command(flatten)]
    config: runtime::ConfigArgs,
    /// Games in progress at shutdown: discard them, or hand them off to the next worker. With handoff the worker also
    /// resumes such games
    #[arg(long, env = "TENGEN_ON_SHUTDOWN", value_enum, default_value_t = OnShutdown::Discard, value_name = "WHAT")]
    on_shutdown: OnShutdown,
    #[command(flatten)]
    resources: runtime::ResourceArgs,
    #[command(flatten)]
    inference: runtime::InferenceArgs,
    #[command(flatten)]
    evalcache: runtime::EvalcacheStoreArgs,
    #[command(flatten)]
    live: runtime::LiveArgs,
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

/// The program: reads its arguments, and runs until it has finished or is stopped.
pub fn main() -> ExitCode {
    let args = Args::parse();
    args.log.start();
    runtime::main("selfplay", ERRORS, |stop| run(&args, stop))
}

/// The errors of libraries that a command may end with, beside those of every program; for [`runtime::main`].
pub const ERRORS: &[Classifier] = &[classify::<SelfplayError>, classify::<ModelError>, classify::<NetError>];

/// Runs the command.
///
/// # Errors
/// Arguments that do not fit the run, or whatever ended the work early.
pub fn run(args: &Args, stop: &Stop) -> anyhow::Result<()> {
    let name = run_name(args)?;
    args.service.start("selfplay", Some(name.as_str()), stop)?;
    let client = format!("selfplay {} of run {name}", args.worker);
    let place = Place::open(&args.resources, &args.inference, &client, Priority::Selfplay, stop)?;
    let models = Models::new(Store::open(&args.store.store)?);
    let run = models.store().run(&name);
    let config = configuration(args, &models, &run)?;
    let options = Options {
        model: args.model.clone(),
        worker: args.worker.clone(),
        games: Games::Share { own: args.games, all: args.max_games_per_model },
        on_shutdown: args.on_shutdown,
        threads: place.search_threads(&args.resources),
        place,
        cache: args.resources.cache(),
        evaluations: EvaluationCacheOptions::exact(&args.evalcache).map_err(ModelError::from)?,
        times: args.times.times.unwrap_or(true),
        live: args.live.interval(0),
    };
    let mut driver = Driver::new(&run, &config, options, stop, Console::new(stop.health().clone()));
    runtime::with_lease(&run, lease(&args.worker), stop, || runtime::drive(&mut driver, stop))?;
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
    if !args.config.is_given() && args.model.run().is_some() {
        models.store_demo(run.name())?;
    }
    // Before the run begins: none that begins with games has such a model.
    if let ModelRef::Exact(id @ ModelId::Trained { .. }) = &args.model
        && !run.exists()?
    {
        args.config.peek(run)?;
        models.published(id)?;
    }
    Ok(args.config.open(run)?)
}
