//! The command line: what was typed, and what is shuffled because of it.

use anyhow::{Context, anyhow};
use clap::Parser;
use cli::{Blame, Stop};
use config::RunName;
use store::{Run, Store, StoreError};

use crate::calibrate::Calibrator;
use crate::{Shuffler, ShufflerError};

/// Makes training data: takes the newest self-play games of a run, draws positions from them, mixes them, and writes
/// them as shards for the trainer. Computes the resign threshold from the newest calibration games.
///
/// Without further options it goes on for as long as the run lasts: it waits until all games of the newest model are
/// there, makes the shards that the next model is trained on, waits for that model, and so on. It can be stopped, killed
/// and started again at any time, before or after the other programs.
#[derive(Parser, Debug)]
#[command(version, max_term_width = 100)]
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
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u32).range(1..))]
    generation: Option<u32>,

    #[command(flatten)]
    store: cli::StoreArgs,

    /// How to log.
    #[command(flatten)]
    pub log: cli::LogArgs,
}

/// Makes what the arguments ask for.
///
/// # Errors
/// Arguments that do not fit the run, or whatever ended the work early.
pub fn run(args: &Args, stop: &Stop) -> anyhow::Result<()> {
    let store = Store::open(&args.store.store).map_err(ShufflerError::from).or_else(blame)?;
    let run = store.run(&args.run);
    if args.once || args.dry_run { once(args, &run) } else { crate::follow(&run, stop).or_else(blame) }
}

fn once(args: &Args, run: &Run) -> anyhow::Result<()> {
    let config = run.config().map_err(ShufflerError::from).or_else(blame)?;
    let missing = || anyhow!("there is no run {} in {}", args.run, run.store().root());
    let config = config.ok_or_else(missing).misconfigured()?;
    let generation = args.generation.map_or_else(|| crate::next_generation(run), Ok).or_else(blame)?;
    let mut shuffler = Shuffler::new(run, &config);
    if args.dry_run {
        return cli::print(shuffler.plan(generation).or_else(blame)?);
    }
    Calibrator::new(run, &config.resign).look().map_err(ShufflerError::from).or_else(blame)?;
    let manifest = shuffler.publish(generation).or_else(blame).context("no shards were made")?;
    cli::print(format!("{} examples for model {}", manifest.drawn.examples, manifest.generation))
}

/// Says whose fault an error is.
fn blame<T>(error: ShufflerError) -> anyhow::Result<T> {
    match error {
        ShufflerError::Store(StoreError::BadUrl { .. } | StoreError::Config { .. }) | ShufflerError::TooFew { .. } => {
            Err(error).misconfigured()
        }
        ShufflerError::Store(ref cause) if cause.is_unreachable() => Err(error).store_unreachable(),
        error => Err(error.into()),
    }
}
