//! Makes the training shards of a run.

use std::process::ExitCode;

/// As in every program (docs/adr/0014-mimalloc.md).
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    shuffler::command::main()
}
