//! Evaluates positions for processes on other machines.

use std::process::ExitCode;

use clap::Parser;
use inference::command::{Args, ERRORS, run};

/// libtorch allocates from it as well: mimalloc's `override` replaces the C library's `malloc`.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    let args = Args::parse();
    args.log.start();
    runtime::main("inference", ERRORS, |stop| run(&args, stop))
}
