//! Trains a run's models one after the other.

use std::process::ExitCode;

use clap::Parser;
use trainer::command::{Args, run};

fn main() -> ExitCode {
    let args = Args::parse();
    args.log.start();
    cli::main("trainer", |stop| run(&args, stop))
}
