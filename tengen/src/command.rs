//! The command line and its commands.

use std::process::ExitCode;

#[cfg(feature = "torch")]
use clap::CommandFactory;
use clap::{Parser, Subcommand};
#[cfg(feature = "torch")]
use evaluator::EvaluatorError;
use exit_class::{Classifier, classify};
use gtp::engines::{EngineError, EngineSpecError};
#[cfg(feature = "torch")]
use inference::ServerError;
use models::{EvaluationCacheError, ModelError};
use net::NetError;
use runtime::Stop;
#[cfg(feature = "torch")]
use selfplay::SelfplayError;
#[cfg(feature = "torch")]
use shuffler::ShufflerError;
use study::StudyError;
#[cfg(feature = "torch")]
use trainer::TrainerError;
use web::WebError;

use crate::{
    analysis_server_command, analyze_command, audit, book_command, config_command, evalcache_command, games_command,
    gtp_command, serve_command, status,
};
#[cfg(feature = "torch")]
use crate::{bench, doctor, import, options, plan, prune, run_command};

/// Train a Go network by self-play on one machine, play with it and study it.
///
/// Other programs: `trainer` (bootstrap, export and import networks), `evaluator` (matches, ratings, reports),
/// `selfplay`, `shuffler` and `inference`.
#[derive(Parser, Debug)]
#[command(version, max_term_width = 100, after_help = runtime::exit_codes())]
pub struct Args {
    #[command(subcommand)]
    command: Command,
    #[command(flatten)]
    store: runtime::StoreArgs,
    #[command(flatten)]
    log: runtime::LogArgs,
}

#[derive(Subcommand, Debug)]
enum Command {
    /// Run self-play, shuffler, trainer and evaluator in turn on this machine
    ///
    /// Ctrl-C or SIGTERM stops it; re-running the command resumes the run.
    #[cfg(feature = "torch")]
    Run(run_command::Args),
    /// Import SGF collections as games of a run, for training or validation
    #[cfg(feature = "torch")]
    ImportSgf(import::Args),
    /// Show what the runs of a store do, what each stage waits for, rates, ratings and alarms
    Status(status::Args),
    /// Delete old games and other objects that a run need not keep, or list them
    #[cfg(feature = "torch")]
    Prune(prune::Args),
    /// Verify all objects of a run and list inconsistencies
    Audit(audit::Args),
    /// Search the games of a run with a condition in SQL, list them or write them as SGF
    Games(games_command::Args),
    /// Play over the Go Text Protocol (GTP 2), for Sabaki, GoGui, Lizzie and other programs
    Gtp(gtp_command::Args),
    /// Analyse all positions of games and write them as SGF and JSON
    ///
    /// Ctrl-C or SIGTERM stops it; re-running the command resumes the analysis.
    Analyze(analyze_command::Args),
    /// Analyse positions for other programs over KataGo's analysis protocol, for KaTrain and others
    AnalysisServer(analysis_server_command::Args),
    /// Search an opening book from the empty board, the likeliest good lines first
    ///
    /// Ctrl-C or SIGTERM stops it; re-running the command resumes the book.
    Book(book_command::Args),
    /// Serve the web application: pages of runs, and play and review of games
    ///
    /// Prints its address. Ctrl-C or SIGTERM stops it.
    Serve(serve_command::Args),
    /// List, compact, check and export evaluation caches
    Evalcache(evalcache_command::Args),
    /// Forecast time, strength, memory and disk of a run from two minutes of measurement
    #[cfg(feature = "torch")]
    Plan(plan::Args),
    /// Benchmark search, network, self-play, training and data on this machine
    #[cfg(feature = "torch")]
    Bench(bench::Args),
    /// Analyse a model: ladders, search depth, policy targets, weights
    #[command(subcommand)]
    Study(study::Command),
    /// Print versions, CPU, GPU, memory, store and ports for a bug report, and test each precision
    #[cfg(feature = "torch")]
    Doctor(doctor::Args),
    /// Print, compare and describe configuration files
    Config(config_command::Args),
    /// Print the reference of all options as Markdown (docs/OPTIONS.md)
    #[cfg(feature = "torch")]
    Options,
}

impl Args {
    /// Starts the log. A run and a server may be unattended; the other commands are interactive, or used by front ends.
    fn start_log(&self) {
        match self.command {
            #[cfg(feature = "torch")]
            Command::Run(_) => self.log.start(),
            Command::Serve(_) => self.log.start(),
            _ => self.log.start_for_people(),
        }
    }
}

/// The program: reads its arguments, and runs until it has finished or is stopped.
pub fn main() -> ExitCode {
    let args = Args::parse();
    args.start_log();
    runtime::main("tengen", ERRORS, |stop| run(&args, stop))
}

/// The errors of libraries that a command may end with, beside those of every program; for [`runtime::main`].
pub const ERRORS: &[Classifier] = &[
    #[cfg(feature = "torch")]
    classify::<SelfplayError>,
    #[cfg(feature = "torch")]
    classify::<ShufflerError>,
    #[cfg(feature = "torch")]
    classify::<TrainerError>,
    #[cfg(feature = "torch")]
    classify::<EvaluatorError>,
    #[cfg(feature = "torch")]
    classify::<ServerError>,
    classify::<ModelError>,
    classify::<EvaluationCacheError>,
    classify::<NetError>,
    classify::<EngineSpecError>,
    classify::<EngineError>,
    classify::<StudyError>,
    classify::<WebError>,
];

/// Runs the command of the arguments.
///
/// # Errors
/// Any error that ended the work early.
pub fn run(args: &Args, stop: &Stop) -> anyhow::Result<()> {
    match &args.command {
        #[cfg(feature = "torch")]
        Command::Run(run) => run_command::run(&args.store.store, run, stop),
        #[cfg(feature = "torch")]
        Command::ImportSgf(import) => import::run(&args.store.store, import, stop),
        Command::Status(status) => status::run(&args.store.store, status, stop),
        #[cfg(feature = "torch")]
        Command::Prune(prune) => prune::run(&args.store.store, prune, stop),
        Command::Audit(audit) => audit::run(&args.store.store, audit, stop),
        Command::Games(games) => games_command::run(&args.store.store, games, stop),
        Command::Gtp(gtp) => gtp_command::run(&args.store.store, gtp, stop),
        Command::Analyze(analyze) => analyze_command::run(&args.store.store, analyze, stop),
        Command::AnalysisServer(server) => analysis_server_command::run(&args.store.store, server, stop),
        Command::Book(book) => book_command::run(&args.store.store, book, stop),
        Command::Serve(serve) => serve_command::run(&args.store.store, serve, stop),
        Command::Evalcache(evalcache) => evalcache_command::run(&args.store.store, evalcache, stop),
        #[cfg(feature = "torch")]
        Command::Plan(plan) => plan::run(&args.store.store, plan, stop),
        #[cfg(feature = "torch")]
        Command::Bench(bench) => bench::run(&args.store.store, bench, stop),
        Command::Study(study) => study::run(&args.store.store, study, stop),
        #[cfg(feature = "torch")]
        Command::Doctor(doctor) => doctor::run(&args.store.store, doctor),
        Command::Config(config) => config_command::run(config),
        #[cfg(feature = "torch")]
        Command::Options => runtime::print(options::page(Args::command())),
    }
}
