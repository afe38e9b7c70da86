//! Plays games with a model and publishes them in the run's store.

use std::process::ExitCode;

use clap::Parser;
use selfplay::command::{Args, ERRORS, run};

fn main() -> ExitCode {
    let args = Args::parse();
    args.log.start();
    cli::main("selfplay", ERRORS, |stop| run(&args, stop))
}
