//! Makes the training shards of a run.

use std::process::ExitCode;

use clap::Parser;
use shuffler::command::{Args, ERRORS, run};

fn main() -> ExitCode {
    let args = Args::parse();
    args.log.start();
    cli::main("shuffler", ERRORS, |stop| run(&args, stop))
}
