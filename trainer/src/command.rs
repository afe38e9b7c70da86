//! The command line: what was typed, and what is trained because of it.

use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context, anyhow};
use clap::Parser;
use cli::{Blame, Misconfigured, Stop, StoreUnreachable, human};
use config::{RunConfig, RunName};
use net::{Losses, Precision, Workshop};
use store::{Run, Store, StoreError};

use crate::{Progress, TrainerError, monitor, train_next};

/// Between two lines that say what the trainer waits for.
const SAY_EVERY: Duration = Duration::from_secs(60);

/// Trains one model after the other on the shards of a run, and publishes them.
///
/// Each model continues its predecessor on one pass over its shards. The trainer waits for shards that are not there
/// yet. Killed or stopped, it goes on where it was when it is started again: no batch is learned from twice.
#[derive(Parser, Debug)]
#[command(version, max_term_width = 100, after_help = cli::EXIT_CODES)]
pub struct Args {
    /// The run to train
    #[arg(long, env = "TENGEN_RUN", value_name = "NAME")]
    run: RunName,
    /// Stop when one model is published
    #[arg(long)]
    once: bool,
    /// Begin the run with this configuration, if it has none yet
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// What activations are rounded to: auto (bf16 where the device is good at it), f32 or bf16
    #[arg(long, env = "TENGEN_PRECISION", default_value = "auto", value_name = "PRECISION")]
    precision: Precision,
    #[command(flatten)]
    place: cli::PlaceArgs,
    #[command(flatten)]
    store: cli::StoreArgs,
    #[command(flatten)]
    service: cli::ServiceArgs,
    /// How to log.
    #[command(flatten)]
    pub log: cli::LogArgs,
}

/// Trains what the arguments ask for.
///
/// # Errors
/// Arguments that do not fit the run, or whatever ended the work early.
pub fn run(args: &Args, stop: &Stop) -> anyhow::Result<()> {
    let device = args.place.device.parse().misconfigured()?;
    args.service.start("trainer", Some(args.run.as_str()), stop)?;
    let workshop = Workshop { device, precision: args.precision, threads: args.place.threads() };
    let run = Store::open(&args.store.store).map_err(|error| blame(error.into()))?.run(&args.run);
    let config = configuration(args, &run)?;
    monitor::begin();
    while !stop.requested() {
        let trained = train(&run, &config, workshop, stop).map_err(blame)?;
        if trained && args.once {
            break;
        }
    }
    Ok(())
}

/// The configuration of the run, which begins with `--config` if it has none.
fn configuration(args: &Args, run: &Run) -> anyhow::Result<RunConfig> {
    if let Some(path) = &args.config {
        let text = std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()));
        let config = RunConfig::from_toml(&text.misconfigured()?).with_context(|| path.display().to_string());
        run.create(&config.misconfigured()?).map_err(|error| blame(error.into()))?;
    }
    let found = run.config().map_err(|error| blame(error.into()))?;
    let missing = || anyhow!("there is no run {} in {}; begin it with --config FILE", run.name(), args.store.store);
    found.ok_or_else(missing).misconfigured()
}

/// Trains one model, and shows how; answers whether it was finished.
///
/// # Errors
/// Whatever kept the model from being trained.
pub fn train(run: &Run, config: &RunConfig, workshop: Workshop, stop: &Stop) -> Result<bool, TrainerError> {
    let mut bar = None;
    let mut said = None;
    let card = train_next(run, config, workshop, stop, &mut |progress| match progress {
        Progress::Waiting { generation, time } => {
            if said.is_none_or(|said| time >= said + SAY_EVERY) {
                said = Some(time);
                tracing::info!(waited = human::duration(time), "waiting for the shards of generation {generation}");
            }
        }
        Progress::Step { generation, done, steps, losses, .. } => {
            let name = || run.name().model(generation).to_string();
            let bar = bar.get_or_insert_with(|| cli::Progress::new(name(), Some(steps as u64)));
            bar.set(done as u64);
            bar.note(said_shortly(&losses));
        }
        Progress::Holdout { examples, losses, .. } => {
            tracing::info!(examples, "holdout: {}", said_shortly(&losses));
        }
    })?;
    if let Some(bar) = bar {
        bar.finish();
    }
    let Some(card) = card else { return Ok(false) };
    monitor::note_model(card.number);
    tracing::info!(model = %card.id(), step = card.step, "published");
    Ok(true)
}

/// The losses that a person follows.
pub fn said_shortly(losses: &Losses) -> String {
    let Losses { policy, value, accuracy, target_entropy, .. } = losses;
    let percent = 100.0 * accuracy;
    format!(
        "policy {policy:.3} (of which {target_entropy:.3} cannot be learned), value {value:.3}, top move {percent:.0} %"
    )
}

/// Whose fault an error is, and so the exit code.
fn blame(error: TrainerError) -> anyhow::Error {
    match error {
        TrainerError::Store(StoreError::Unreachable { .. }) => StoreUnreachable::new(error).into(),
        TrainerError::Store(StoreError::BadUrl { .. } | StoreError::Conflict { .. } | StoreError::Config { .. }) => {
            Misconfigured::new(error).into()
        }
        _ => error.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_is_all_that_is_needed() {
        let args = |text: &str| Args::try_parse_from(std::iter::once("trainer").chain(text.split_whitespace()));
        assert!(args("--run v1").is_ok());
        assert!(args("--run v1 --once --precision f32 --threads 2 --device cpu").is_ok());
        for text in ["", "--run V/1", "--run v1 --precision f16", "--run v1 --threads 0"] {
            assert!(args(text).is_err(), "{text}");
        }
    }
}
