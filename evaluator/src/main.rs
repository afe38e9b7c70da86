//! Lets models of a run play each other, and rates them.

use std::process::ExitCode;

/// libtorch, where it is linked, allocates from it as well: mimalloc's `override` replaces the C library's `malloc`.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    evaluator::command::main()
}
