//! The command line: what was typed, and what is shuffled because of it.

use anyhow::{Context, anyhow};
use clap::Parser;
use config::{ConfigError, RunName};
use exit_class::{Classifier, classify};
use runtime::{Classify, Stop, within};
use store::{Compaction, Run, Store, StoreError};

use crate::calibrate::Calibrator;
use crate::driver::{Driver, next_generation};
use crate::{Console, Shuffler, ShufflerError};

/// Makes training data: takes the newest self-play games of a run, draws positions from them, mixes them, and writes
/// them as shards for the trainer. Computes the resign threshold from the newest calibration games.
///
/// Without further options it goes on for as long as the run lasts: it waits until all games of the newest model are
/// there, makes the shards that the next model is trained on, waits for that model, and so on. It can be stopped, killed
/// and started again at any time, before or after the other programs.
#[derive(Parser, Debug)]
#[command(version, max_term_width = 100, after_help = runtime::exit_codes())]
pub struct Args {
    /// The run, such as v15; its games come from `selfplay`
    #[arg(long, env = "TENGEN_RUN", value_name = "NAME")]
    run: RunName,

    /// Make the shards for one model and exit; fails when games are missing
    #[arg(long)]
    once: bool,

    /// Only say what would be drawn, or what is missing, and exit
    #[arg(long)]
    dry_run: bool,

    /// The model to make shards for, with --once or --dry-run [default: the one after the newest]
    #[arg(long, value_name = "NUMBER", allow_negative_numbers = true, value_parser = within(1..=999_999_u32))]
    generation: Option<u32>,

    /// Put the files of games into archives of at least so many games, and exit
    ///
    /// Readers see the same games before, while and after. An archive is made of up to 100,000 games and never made larger,
    /// so few games for one make many archives. Without this option archives are made whenever there are 500 files.
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

/// The errors of libraries that a command may end with, for [`runtime::main`].
pub const ERRORS: &[Classifier] = &[classify::<ShufflerError>, classify::<StoreError>, classify::<ConfigError>];

/// Makes what the arguments ask for.
///
/// # Errors
/// Arguments that do not fit the run, or whatever ended the work early.
pub fn run(args: &Args, stop: &Stop) -> anyhow::Result<()> {
    args.service.start("shuffler", Some(args.run.as_str()), stop)?;
    let store = Store::open(&args.store.store)?;
    let run = store.run(&args.run);
    match args.compact {
        Some(least) => compact(args, &run, least),
        None if args.once || args.dry_run => once(args, &run),
        None => Ok(Driver::new(&run, Console).and_then(|mut driver| runtime::drive(&mut driver, stop))?),
    }
}

fn compact(args: &Args, run: &Run, least: usize) -> anyhow::Result<()> {
    if !run.exists()? {
        return Err(missing(args, run)).misconfigured();
    }
    let Compaction { archives, games, files, deleted, left } = crate::compact(run, least)?;
    runtime::print(format!(
        "{archives} new archives of {games} games in {files} files, {deleted} files of games deleted"
    ))?;
    if left.is_empty() { Ok(()) } else { Err(anyhow!("{} files of games were left where they are", left.len())) }
}

fn missing(args: &Args, run: &Run) -> anyhow::Error {
    anyhow!("there is no run {} in {}", args.run, run.store().root())
}

fn once(args: &Args, run: &Run) -> anyhow::Result<()> {
    let config = run.config()?;
    let config = config.ok_or_else(|| missing(args, run)).misconfigured()?;
    let generation = args.generation.map_or_else(|| next_generation(run), Ok)?;
    let mut shuffler = Shuffler::new(run, &config);
    if args.dry_run {
        return runtime::print(shuffler.plan(generation)?);
    }
    Calibrator::new(run, &config.resign).update()?;
    let manifest = shuffler.publish(generation).context("no shards were made")?;
    runtime::print(format!("{} examples for model {}", manifest.drawn.examples, manifest.generation))
}
