//! Trains a run's models one after the other.

use std::process::ExitCode;

use clap::Parser;
use trainer::command::{Args, ERRORS, run};

fn main() -> ExitCode {
    let args = Args::parse();
    args.log.start();
    cli::main("trainer", ERRORS, |stop| run(&args, stop))
}
