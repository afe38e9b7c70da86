//! The command line of the shuffler.

use std::process::ExitCode;

use anyhow::{Context, anyhow};
use clap::Parser;
use config::RunName;
use exit_class::{Classifier, classify};
use runtime::{Classify, Stop, within};
use store::{Compaction, Run, Store};

use crate::driver::{Driver, next_generation};
use crate::{Console, Shuffler, ShufflerError};

/// Publish training shards: sample positions from the newest self-play games of a run and mix them. Also computes the
/// resign threshold from calibration games.
///
/// Without further options it runs until the run is complete. It waits for the games of the newest model, publishes the
/// shards of the next one, and waits for that. It can be stopped, killed and restarted at any time.
#[derive(Parser, Debug)]
#[command(version, max_term_width = 100, after_help = runtime::exit_codes())]
pub struct Args {
    /// Run to read the games of, such as v15
    #[arg(long, env = "TENGEN_RUN", value_name = "NAME")]
    run: RunName,

    /// Publish the shards of one model and exit; fails when games are missing
    #[arg(long)]
    once: bool,

    /// Print the sampling plan or the missing games, and exit
    #[arg(long)]
    dry_run: bool,

    /// Model to publish shards for, with --once or --dry-run [default: the next one]
    #[arg(long, value_name = "NUMBER", allow_negative_numbers = true, value_parser = within(1..=999_999_u32))]
    generation: Option<u32>,

    /// Compact the files of games into archives of at least this many games, and exit [default without a
    /// number: 50000]
    ///
    /// Readers see the same games during compaction. An archive has up to 100,000 games and does not grow later.
    /// Without this option compaction runs whenever there are 500 files.
    #[arg(long, value_name = "GAMES", num_args = 0..=1, default_missing_value = "50000", conflicts_with_all = ["once", "dry_run", "generation"], allow_negative_numbers = true, value_parser = within(1..=1_000_000_usize))]
    compact: Option<usize>,

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
    runtime::main("shuffler", ERRORS, |stop| run(&args, stop))
}

/// The errors of libraries that a command may end with, beside those of every program; for [`runtime::main`].
pub const ERRORS: &[Classifier] = &[classify::<ShufflerError>];

/// Runs the command.
///
/// # Errors
/// Arguments that do not fit the run, or whatever ended the work early.
pub fn run(args: &Args, stop: &Stop) -> anyhow::Result<()> {
    if args.generation.is_some() && !args.once && !args.dry_run {
        return Err(anyhow!("--generation is for --once and --dry-run")).misconfigured();
    }
    args.service.start("shuffler", Some(args.run.as_str()), stop)?;
    // A compaction, or the first window of a long run, may take longer than a process without progress lives.
    let health = stop.health().clone();
    // Where nothing waits for the run, a misspelt folder need not be made.
    let waits = !args.once && !args.dry_run && args.compact.is_none();
    let place = &args.store.store;
    let store = if waits { Store::open(place)? } else { Store::open_existing(place)? };
    let store = store.with_progress(move || health.heartbeat());
    let run = store.run(&args.run);
    match args.compact {
        Some(least) => compact(&run, least),
        None if args.dry_run => plan(args, &run),
        None => {
            let mut driver = Driver::new(&run, Console::new(stop.health().clone()))?;
            if args.once { once(args, &run, driver, stop) } else { Ok(runtime::drive(&mut driver, stop)?) }
        }
    }
}

fn compact(run: &Run, least: usize) -> anyhow::Result<()> {
    runtime::run_config(run)?;
    let Compaction { archives, games, files, deleted, left } = crate::compact(run, least)?;
    runtime::print(format!(
        "{archives} new archives of {games} games in {files} files, {deleted} files of games deleted"
    ))?;
    if left.is_empty() { Ok(()) } else { Err(anyhow!("{} files of games were not archived", left.len())) }
}

fn plan(args: &Args, run: &Run) -> anyhow::Result<()> {
    let config = runtime::run_config(run)?;
    let generation = args.generation.map_or_else(|| next_generation(run), Ok)?;
    runtime::print(Shuffler::new(run, &config).plan(generation)?)
}

fn once(args: &Args, run: &Run, driver: Driver<'_>, stop: &Stop) -> anyhow::Result<()> {
    // A driver waits for a run that does not exist yet.
    runtime::run_config(run)?;
    let generation = args.generation.map_or_else(|| next_generation(run), Ok).context("no shards were made")?;
    runtime::drive(&mut driver.once(generation), stop).context("no shards were made")?;
    // There are none when the process was stopped before.
    let Some(manifest) = run.shards().manifest(generation)? else { return Ok(()) };
    runtime::print(format!("{} examples for model {generation}", manifest.sampled.examples))
}
