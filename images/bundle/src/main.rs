//! The programs for CPUs as one: the name by which it is called selects the stage or the command line. Images and
//! packages have one copy of what they share.

use std::path::Path;
use std::process::ExitCode;

use exit_class::ExitClass;

/// Replaces the C library's `malloc`, too.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

type Main = fn() -> ExitCode;

const PROGRAMS: [(&str, Main); 5] = [
    ("evaluator", evaluator::command::main),
    ("inference", inference::command::main),
    ("selfplay", selfplay::command::main),
    ("shuffler", shuffler::command::main),
    ("tengen", tengen::command::main),
];

fn main() -> ExitCode {
    let called = std::env::args_os().next().unwrap_or_default();
    let name = Path::new(&called).file_name().unwrap_or_default();
    if let Some((_, main)) = PROGRAMS.iter().find(|(program, _)| name == *program) {
        return main();
    }
    let names = PROGRAMS.map(|(program, _)| program).join(", ");
    eprintln!("error: {} is called by the name of a link to it: {names}", called.display());
    ExitClass::Configuration.code().into()
}
