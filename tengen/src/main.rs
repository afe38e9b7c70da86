//! The command line: the whole loop on one machine, GTP and tools.

use std::process::ExitCode;

/// libtorch, where it is linked, allocates from it as well: mimalloc's `override` replaces the C library's `malloc`.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    tengen::command::main()
}
