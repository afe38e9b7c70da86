//! Standard output.

use std::fmt::Display;
use std::io::{self, Write};

use crate::console;

/// Standard output is closed. [`crate::main`] treats it as a clean end.
#[derive(Debug, thiserror::Error)]
#[error("standard output is closed")]
pub struct StdoutClosed;

/// Prints a line on standard output, without tearing the progress bar.
///
/// Unlike `println!` it does not panic when the reader is gone: it fails with [`StdoutClosed`].
pub fn print(line: impl Display) -> anyhow::Result<()> {
    let written = console::suspend(|| {
        let mut out = io::stdout().lock();
        writeln!(out, "{line}").and_then(|()| out.flush())
    });
    written.map_err(|error| match error.kind() {
        io::ErrorKind::BrokenPipe => StdoutClosed.into(),
        _ => anyhow::Error::new(error).context("cannot write to standard output"),
    })
}
