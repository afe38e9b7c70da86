//! Makes the training shards of a run.

use std::process::ExitCode;

use clap::Parser;
use shuffler::command::{Args, run};

fn main() -> ExitCode {
    let args = Args::parse();
    args.log.start();
    cli::main("shuffler", |stop| run(&args, stop))
}
