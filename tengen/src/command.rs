//! The command line: what was typed, and what is done because of it.

use clap::{CommandFactory, Parser, Subcommand};
use config::ConfigError;
use evaluator::EvaluatorError;
use exit_class::{Classifier, classify};
use gtp::engines::{EngineError, EngineSpecError};
use models::ModelError;
use net::NetError;
use runtime::Stop;
use selfplay::SelfplayError;
use shuffler::ShufflerError;
use store::StoreError;
use trainer::TrainerError;

use crate::{audit, bench, config_command, doctor, gtp_command, import, options, run_command};

/// Learns Go from nothing, and plays it.
#[derive(Parser, Debug)]
#[command(version, max_term_width = 100, after_help = runtime::exit_codes())]
pub struct Args {
    #[command(subcommand)]
    command: Command,
    #[command(flatten)]
    store: runtime::StoreArgs,
    /// How to log.
    #[command(flatten)]
    pub log: runtime::LogArgs,
}

#[derive(Subcommand, Debug)]
enum Command {
    /// Play, shuffle, train and rate, generation after generation, on this machine
    ///
    /// Stop it with Ctrl-C, or any other way: typed again, it goes on where it was.
    Run(run_command::Args),
    /// Turn collections of SGF into games of a run, to learn from or to validate with
    ImportSgf(import::Args),
    /// Read everything a run has stored, and list what is wrong with it
    Audit(audit::Args),
    /// Play over the Go Text Protocol (GTP 2), for Sabaki, GoGui, Lizzie and the like
    Gtp(gtp_command::Args),
    /// Measure how fast this machine searches, evaluates and plays, and how much memory that takes
    Bench(bench::Args),
    /// Study a model: ladders, depth of search, policy targets, the tensors of its network
    #[command(subcommand)]
    Study(study::Command),
    /// Print what a bug report needs: versions, CPU, GPU, memory, store, and whether a network works in each precision
    Doctor(doctor::Args),
    /// Print configuration files with every key, or how two differ
    Config(config_command::Args),
    /// Print the reference of all options as Markdown: docs/OPTIONS.md
    Options,
}

impl Args {
    /// Starts the log. A run may be left to machines; the rest is for people, and for programs that show them what it says.
    pub fn start_log(&self) {
        match self.command {
            Command::Run(_) => self.log.start(),
            _ => self.log.start_for_people(),
        }
    }
}

/// The errors of libraries that a command may end with, for [`runtime::main`].
pub const ERRORS: &[Classifier] = &[
    classify::<SelfplayError>,
    classify::<ShufflerError>,
    classify::<TrainerError>,
    classify::<EvaluatorError>,
    classify::<ModelError>,
    classify::<StoreError>,
    classify::<ConfigError>,
    classify::<NetError>,
    classify::<EngineSpecError>,
    classify::<EngineError>,
];

/// Does what the arguments ask for.
///
/// # Errors
/// Whatever ended the work early.
pub fn run(args: &Args, stop: &Stop) -> anyhow::Result<()> {
    match &args.command {
        Command::Run(run) => run_command::run(&args.store.store, run, stop),
        Command::ImportSgf(import) => import::run(&args.store.store, import, stop),
        Command::Audit(audit) => audit::run(&args.store.store, audit, stop),
        Command::Gtp(gtp) => gtp_command::run(&args.store.store, gtp, stop),
        Command::Bench(bench) => bench::run(&args.store.store, bench, stop),
        Command::Study(study) => study::run(&args.store.store, study, stop),
        Command::Doctor(doctor) => doctor::run(&args.store.store, doctor),
        Command::Config(config) => config_command::run(config),
        Command::Options => runtime::print(options::page(Args::command())),
    }
}
