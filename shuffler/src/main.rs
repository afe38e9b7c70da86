//! Makes the training shards of a run.

use std::process::ExitCode;

use clap::Parser;
use shuffler::command::{Args, ERRORS, run};

/// libtorch allocates from it as well: mimalloc's `override` replaces the C library's `malloc`.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    let args = Args::parse();
    args.log.start();
    runtime::main("shuffler", ERRORS, |stop| run(&args, stop))
}
