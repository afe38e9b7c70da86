//! The stages for CPUs as one program: the name by which it is called selects the stage. An image has one copy of what they
//! share.

use std::path::Path;
use std::process::ExitCode;

use exit_class::ExitClass;

/// Replaces the C library's `malloc`, too.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

type Main = fn() -> ExitCode;

const STAGES: [(&str, Main); 4] = [
    ("evaluator", evaluator::command::main),
    ("inference", inference::command::main),
    ("selfplay", selfplay::command::main),
    ("shuffler", shuffler::command::main),
];

fn main() -> ExitCode {
    let called = std::env::args_os().next().unwrap_or_default();
    let name = Path::new(&called).file_name().unwrap_or_default();
    if let Some((_, stage)) = STAGES.iter().find(|(stage, _)| name == *stage) {
        return stage();
    }
    let names = STAGES.map(|(stage, _)| stage).join(", ");
    eprintln!("error: {} is called by the name of a link to it: {names}", called.display());
    ExitClass::Configuration.code().into()
}
