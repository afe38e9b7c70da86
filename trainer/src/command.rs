//! The command line: what was typed, and what is trained because of it.

use anyhow::anyhow;
use clap::{Parser, Subcommand};
use config::{ConfigError, RunConfig, RunName};
use exit_class::{Classifier, classify};
use models::{ModelError, Models};
use net::{Backend, NetError, Precision, TrainDevice};
use runtime::{Classify, Stop};
use store::{Run, Store, StoreError};

use crate::{
    Console, Driver, ReferenceArgs, Setting, TrainerError, bootstrap_command, files, label_noise_command, lease,
};

/// Train the models of a run on its shards and publish them.
///
/// Each model continues its predecessor with one pass over its shards. The trainer waits for missing shards. A restarted
/// trainer resumes from its checkpoint: it trains on no batch twice.
#[derive(Parser, Debug)]
#[command(version, max_term_width = 100, after_help = runtime::exit_codes())]
pub struct Args {
    #[command(subcommand)]
    command: Option<Command>,
    /// Run to train
    #[arg(long, env = "TENGEN_RUN", value_name = "NAME", global = true)]
    run: Option<RunName>,
    /// Exit after one model
    #[arg(long)]
    once: bool,
    #[command(flatten)]
    reference: ReferenceArgs,
    #[command(flatten)]
    config: runtime::ConfigArgs,
    /// Precision of activations: auto (bf16 where the device is fast at it), f32 or bf16
    #[arg(long, env = "TENGEN_PRECISION", default_value = "auto", value_name = "PRECISION", global = true)]
    precision: Precision,
    #[command(flatten)]
    place: runtime::PlaceArgs,
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
    /// Compares the outputs of the file and of the training network first. A mismatch beyond rounding is an error, and no
    /// file is written.
    Export(files::Export),
    /// Import a network from a file: convert its weights, or begin a run with them
    Import(files::Import),
    /// Measure the effect of label noise: train networks with some outcomes inverted
    ///
    /// Trains from random weights on the newest shards, and evaluates on the validation set with true outcomes. All
    /// positions of a game are inverted together. Moves and search values stay; score and ownership are not trained. Nothing
    /// is published.
    LabelNoise(label_noise_command::Args),
}

/// The errors of libraries that a command may end with, for [`runtime::main`].
pub const ERRORS: &[Classifier] = &[
    classify::<TrainerError>,
    classify::<ModelError>,
    classify::<StoreError>,
    classify::<ConfigError>,
    classify::<NetError>,
];

/// Trains what the arguments ask for.
///
/// # Errors
/// Arguments that do not fit the run, or whatever ended the work early.
pub fn run(args: &Args, stop: &Stop) -> anyhow::Result<()> {
    let device = args.place.device.parse().misconfigured()?;
    args.service.start("trainer", args.run.as_ref().map(RunName::as_str), stop)?;
    let workshop = TrainDevice { device, precision: args.precision, threads: args.place.threads() };
    if trains(args.command.as_ref()) {
        let backend = Backend::of_training(device, args.precision)?;
        backend.log(workshop.threads);
        runtime::metrics::DEVICE.inform(&backend.labels());
    }
    let models = Models::new(Store::open(&args.store.store)?);
    let run = || -> anyhow::Result<(Run, RunConfig)> {
        let name = args.run.as_ref().ok_or_else(|| anyhow!("which run? --run NAME")).misconfigured()?;
        let run = models.store().run(name);
        Ok((run.clone(), configuration(args, &run)?))
    };
    let Some(command) = &args.command else {
        let (run, config) = run()?;
        let reference = args.reference.open(&run, &config)?;
        let setting = Setting { workshop, reference: reference.as_ref() };
        return leased(&run, stop, || train((&run, &config), args.once, setting, stop));
    };
    if args.once {
        return Err(anyhow!("--once is for training shards")).misconfigured();
    }
    match command {
        Command::Export(export) => files::export(&models, export),
        Command::Import(import) => files::import(import, run),
        Command::LabelNoise(noise) => {
            let (run, config) = run()?;
            label_noise_command::run((&run, &config), noise, workshop, stop)
        }
        Command::Bootstrap(bootstrap) => {
            let (run, config) = run()?;
            leased(&run, stop, || bootstrap_command::run(&models, (&run, &config), bootstrap, workshop, stop))
        }
    }
}

/// Whether a command trains, and so needs the requested device.
fn trains(command: Option<&Command>) -> bool {
    !matches!(command, Some(Command::Export(_) | Command::Import(_)))
}

/// Does the work of the one trainer of a run.
fn leased(run: &Run, stop: &Stop, work: impl FnOnce() -> anyhow::Result<()>) -> anyhow::Result<()> {
    runtime::leased(run, lease(), stop, work).map(Option::unwrap_or_default)
}

/// Trains model after model.
fn train((run, config): (&Run, &RunConfig), once: bool, setting: Setting<'_>, stop: &Stop) -> anyhow::Result<()> {
    let driver = Driver::new(run, config, setting, stop, Console::new(run, config));
    Ok(runtime::drive(&mut if once { driver.once() } else { driver }, stop)?)
}

/// The configuration of the run, which begins with `--config` if it has none.
fn configuration(args: &Args, run: &Run) -> anyhow::Result<RunConfig> {
    if let Some(config) = args.config.read()? {
        run.create(&config)?;
    }
    let found = run.config()?;
    let missing = || anyhow!("there is no run {} in {}; begin it with --config FILE", run.name(), args.store.store);
    found.ok_or_else(missing).misconfigured()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn args_of_training_need_a_run_only() {
        let args = |text: &str| Args::try_parse_from(std::iter::once("trainer").chain(text.split_whitespace()));
        assert!(args("--run v1").is_ok());
        assert!(args("--run v1 --once --precision f32 --threads 2 --device cpu").is_ok());
        for text in [
            "export --model v1-12 --out file",
            "--store s export --model v1 --format leela-zero --out file.gz",
            "import file --out other",
            "--run v1 import file",
            "bootstrap --run v1 --config c --sgf a.sgf b.sgf.gz --steps 100 --minutes 0.5",
            "--run v1 --eval-sgf games.sgf.gz",
            "label-noise --run v1 --shares 0,0.3 --steps 10 --json",
            "label-noise --run v1",
            "bootstrap --from v5-173 --run v6 --config c --set seed=2",
        ] {
            assert!(args(text).is_ok(), "{text}");
        }
        for text in [
            "export --out file",
            "import",
            "label-noise --shares 1.5",
            "label-noise --shares 0.1,x",
            "bootstrap --run v1",
            "bootstrap --from v5-1 --steps 3",
        ] {
            assert!(args(text).is_err(), "{text}");
        }
        for text in ["--run V/1", "--run v1 --precision f16", "--run v1 --threads 0"] {
            assert!(args(text).is_err(), "{text}");
        }
    }
}
