//! Plays games with a model and publishes them in the run's store.

use std::process::ExitCode;

use clap::Parser;
use selfplay::command::{Args, ERRORS, run};

/// libtorch allocates from it as well: mimalloc's `override` replaces the C library's `malloc`.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    let args = Args::parse();
    args.log.start();
    runtime::main("selfplay", ERRORS, |stop| run(&args, stop))
}
