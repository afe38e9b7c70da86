//! Plays games with a model and publishes them in the run's store.

use std::process::ExitCode;

/// libtorch, where it is linked, allocates from it as well: mimalloc's `override` replaces the C library's `malloc`.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    selfplay::command::main()
}
