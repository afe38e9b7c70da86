//! The door for people: the whole loop on one machine, and a voice.

use std::process::ExitCode;

use clap::Parser;
use tengen::command::{Args, ERRORS, run};

fn main() -> ExitCode {
    let args = Args::parse();
    args.start_log();
    cli::main("tengen", ERRORS, |stop| run(&args, stop))
}
