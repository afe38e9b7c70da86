//! The door for people: the whole loop on one machine, and a voice.

use std::process::ExitCode;

use clap::Parser;
use tengen::command::{Args, run};

fn main() -> ExitCode {
    let args = Args::parse();
    args.start_log();
    cli::main("tengen", |stop| run(&args, stop))
}
