//! The command line of the trainer.

use std::process::ExitCode;

use anyhow::anyhow;
use clap::{Parser, Subcommand};
use config::RunName;
use exit_class::{Classifier, classify};
use models::{ModelError, Models};
use net::{Backend, NetError, Precision, TrainDevice};
use runtime::{Classify, RunError, Stop};
use store::{Run, Store};

use crate::lease::lease;
use crate::{Console, Driver, ReferenceArgs, TrainerError, bootstrap_command, files};

/// Train the models of a run on its shards and publish them.
///
/// Each model continues its predecessor with one pass over its shards. The trainer waits for missing shards. A
/// restarted trainer resumes from its checkpoint: it trains on no batch twice.
#[derive(Parser, Debug)]
#[command(version, max_term_width = 100, after_help = runtime::exit_codes())]
pub struct Args {
    #[command(subcommand)]
    command: Option<Command>,
    /// Run to train [default: none; required but for `export` and `import --out`]
    #[arg(long, env = "TENGEN_RUN", value_name = "NAME", global = true)]
    run: Option<RunName>,
    /// Exit after one model
    #[arg(long)]
    once: bool,
    #[command(flatten)]
    references: ReferenceArgs,
    #[command(flatten)]
    config: runtime::ConfigArgs,
    /// Precision of activations: auto (bf16 on GPUs and on CPUs with AVX512_BF16, else f32), f32 or bf16
    #[arg(long, env = "TENGEN_PRECISION", default_value = "auto", value_name = "PRECISION", global = true)]
    precision: Precision,
    #[command(flatten)]
    devices: runtime::DeviceArgs,
    #[command(flatten)]
    store: runtime::StoreArgs,
    #[command(flatten)]
    service: runtime::ServiceArgs,
    /// How to log.
    #[command(flatten)]
    pub log: runtime::LogArgs,
}

/// What else a trainer does.
#[derive(Subcommand, Debug)]
enum Command {
    /// Bootstrap a run from human games, or from an existing model
    ///
    /// The result is published as model 1; model.toml records its origin. Re-running the command resumes.
    Bootstrap(bootstrap_command::Args),
    /// Export a model to a file
    ///
    /// Compares the outputs of the file with those of the training network first, except for ONNX. A mismatch beyond
    /// rounding is an error, and no file is written.
    Export(files::Export),
    /// Import a network from a file: convert its weights, or begin a run with them
    Import(files::Import),
}

/// The program: reads its arguments, and runs until it has finished or is stopped.
pub fn main() -> ExitCode {
    let args = Args::parse();
    match trains(args.command.as_ref()) {
        true => args.log.start(),
        // A person converts a file, and is there.
        false => args.log.start_for_people(),
    }
    runtime::main("trainer", ERRORS, |stop| run(&args, stop))
}

/// The errors of libraries that a command may end with, beside those of every program; for [`runtime::main`].
pub const ERRORS: &[Classifier] = &[classify::<TrainerError>, classify::<ModelError>, classify::<NetError>];

/// Runs the command of the arguments.
///
/// # Errors
/// Arguments that do not fit the run, or any error that ended the work early.
pub fn run(args: &Args, stop: &Stop) -> anyhow::Result<()> {
    let device = args.devices.device.parse().misconfigured()?;
    args.service.start("trainer", args.run.as_ref().map(RunName::as_str), stop)?;
    let train_device = TrainDevice { device, precision: args.precision, threads: args.devices.threads() };
    if trains(args.command.as_ref()) {
        let backend = Backend::of_training(device, args.precision)?;
        backend.log("training", train_device.threads);
        runtime::metrics::DEVICE.inform(&backend.labels());
    }
    let store = match begins_no_run(args.command.as_ref()) {
        // The demo and a file need no store.
        true => Store::open_or_empty(&args.store.store)?,
        false => Store::open(&args.store.store)?,
    };
    let models = Models::new(store);
    let run = || -> Result<Run, RunError> { Ok(models.store().run(runtime::named_run(args.run.as_ref())?)) };
    let Some(command) = &args.command else {
        let run = run()?;
        // Before the run begins: it would keep its configuration.
        let references = args.references.open(&run, &args.config.peek(&run)?)?;
        let config = args.config.open(&run)?;
        return with_lease(&run, stop, || {
            let console = Console::new(&run, &config, stop.health().clone());
            let driver = Driver::new(&run, &config, train_device, &references, stop, console);
            Ok(runtime::drive(&mut if args.once { driver.once() } else { driver }, stop)?)
        });
    };
    if args.once {
        return Err(anyhow!("--once is for training shards")).misconfigured();
    }
    if begins_no_run(args.command.as_ref()) && args.config.is_given() {
        return Err(anyhow!("a file is written and no run begins: leave out --config and --set")).misconfigured();
    }
    if args.references.is_given() {
        // No error: the variables may be set for a trainer in the same container.
        tracing::warn!("--eval-sgf and --eval-positions have no effect here: they are for training shards");
    }
    match command {
        Command::Export(export) => files::export(&models, export),
        Command::Import(import) => files::import(import, run, &args.config, stop),
        Command::Bootstrap(bootstrap) => {
            let run = run()?;
            let beginning = bootstrap_command::beginning(&models, &args.config.peek(&run)?, bootstrap)?;
            let config = args.config.open(&run)?;
            if bootstrap_command::is_complete(&run, &beginning, bootstrap)? {
                tracing::info!(model = %run.name().model(1), "this bootstrap is complete");
                return Ok(());
            }
            with_lease(&run, stop, || bootstrap_command::run(&run, &config, &beginning, bootstrap, train_device, stop))
        }
    }
}

/// Whether a command trains, and so needs the requested device.
fn trains(command: Option<&Command>) -> bool {
    !matches!(command, Some(Command::Export(_) | Command::Import(_)))
}

/// Whether a command only writes a file.
fn begins_no_run(command: Option<&Command>) -> bool {
    match command {
        Some(Command::Export(_)) => true,
        Some(Command::Import(import)) => import.writes_file(),
        Some(Command::Bootstrap(_)) | None => false,
    }
}

/// Does the work of the one trainer of a run.
fn with_lease(run: &Run, stop: &Stop, work: impl FnOnce() -> anyhow::Result<()>) -> anyhow::Result<()> {
    runtime::with_lease(run, lease(), stop, work).map(Option::unwrap_or_default)
}
