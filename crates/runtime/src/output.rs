//! Standard output.

use std::fmt::Display;
use std::io::{self, IsTerminal, Write};

use crate::console;

/// Standard output is closed. [`crate::main`] treats it as a clean end.
#[derive(Debug, thiserror::Error)]
#[error("standard output is closed")]
pub struct StdoutClosed;

/// Clears a terminal (ECMA-48: cursor position, erase in page).
const CLEAR: &str = "\x1b[H\x1b[2J";

/// Prints a line on standard output, without tearing the progress bar. On a terminal, control characters are written as
/// escapes; a file or another program gets the line as it is.
///
/// Unlike `println!` it does not panic when the reader is gone: it fails with [`StdoutClosed`].
pub fn print(line: impl Display) -> anyhow::Result<()> {
    write("", &line.to_string())
}

/// As [`print()`], after clearing the terminal if standard output is one.
pub fn print_anew(page: impl Display) -> anyhow::Result<()> {
    write(CLEAR, &page.to_string())
}

/// Lines on standard output beside work that is done whether they are read or not, such as an import. The first that
/// cannot be printed is the last.
#[derive(Debug, Default)]
pub struct Notes(Option<anyhow::Error>);

impl Notes {
    /// Prints a line as [`print()`] does, unless one could not be printed.
    pub fn print(&mut self, line: impl Display) {
        if self.0.is_none() {
            self.0 = print(line).err();
        }
    }

    /// Once the work is done: whether all lines were printed.
    ///
    /// # Errors
    /// That of the first line that could not be printed.
    pub fn finish(self) -> anyhow::Result<()> {
        self.0.map_or(Ok(()), Err)
    }
}

fn write(before: &str, text: &str) -> anyhow::Result<()> {
    let written = console::suspend(|| {
        let mut out = io::stdout().lock();
        let line = if out.is_terminal() { format!("{before}{}", console::visible(text)) } else { text.to_owned() };
        writeln!(out, "{line}").and_then(|()| out.flush())
    });
    written.map_err(|error| match error.kind() {
        io::ErrorKind::BrokenPipe => StdoutClosed.into(),
        _ => anyhow::Error::new(error).context("cannot write to standard output"),
    })
}
