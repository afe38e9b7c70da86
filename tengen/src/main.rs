//! The command line: the whole loop on one machine, GTP and tools.

use std::process::ExitCode;

use clap::Parser;
use tengen::command::{Args, ERRORS, run};

/// libtorch allocates from it as well: mimalloc's `override` replaces the C library's `malloc`.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    let args = Args::parse();
    args.start_log();
    runtime::main("tengen", ERRORS, |stop| run(&args, stop))
}
