//! Lets models of a run play each other, and rates them.

use std::process::ExitCode;

use clap::Parser;
use evaluator::command::{Args, run};

fn main() -> ExitCode {
    let args = Args::parse();
    args.log.start();
    cli::main("evaluator", |stop| run(&args, stop))
}
