//! The terminal that log lines and progress bars share.

use std::borrow::Cow;
use std::io::{self, IsTerminal, Write};
use std::sync::{LazyLock, OnceLock};

use clap::ValueEnum;
use indicatif::MultiProgress;
use tracing_subscriber::fmt::MakeWriter;

/// Format of log lines.
#[derive(ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogFormat {
    /// Short lines and progress bars on a terminal; elsewhere plain for interactive commands, JSON for others
    Auto,
    /// Plain lines with the full time, and no bars redrawn
    Plain,
    /// One JSON object a line
    Json,
}

/// Every bar of the process; it knows which lines to redraw around a log line.
static BARS: LazyLock<MultiProgress> = LazyLock::new(MultiProgress::new);

/// How the log was started; nothing before.
static FORMAT: OnceLock<LogFormat> = OnceLock::new();

/// Remembers how the log was started.
pub(crate) fn log_started(format: LogFormat) {
    FORMAT.get_or_init(|| format);
}

/// Whether standard error is a terminal, where progress bars make sense.
pub(crate) fn has_bars() -> bool {
    FORMAT.get().is_none_or(|&format| format == LogFormat::Auto) && is_terminal()
}

/// Whether standard error is a terminal that understands cursor movements.
pub(crate) fn is_terminal() -> bool {
    io::stderr().is_terminal() && std::env::var_os("TERM").is_none_or(|term| term != "dumb")
}

/// All bars of the process.
pub(crate) fn bars() -> &'static MultiProgress {
    &BARS
}

/// Runs `write` with the bars out of the way.
pub(crate) fn suspend<T>(write: impl FnOnce() -> T) -> T {
    if has_bars() { BARS.suspend(write) } else { write() }
}

/// Takes the bars away for good.
pub(crate) fn clear() {
    if has_bars() {
        // A terminal that cannot be written to has nothing to clear.
        let _ = BARS.clear();
    }
}

/// Prints a notice for the operator at every log level.
pub(crate) fn notice(text: &str) {
    if is_json() && tracing::enabled!(tracing::Level::WARN) {
        tracing::warn!(notice = text, "notice to the operator");
    } else if is_json() && tracing::enabled!(tracing::Level::ERROR) {
        // A line that is no object would stop a reader of the log.
        tracing::error!(notice = text, "notice to the operator");
    } else {
        line(text);
    }
}

/// Prints the reason of a failure at every log level.
pub(crate) fn error(text: &str) {
    if is_json() && tracing::enabled!(tracing::Level::ERROR) {
        tracing::error!(error = text, "failed");
    } else {
        line(&format!("error: {text}"));
    }
}

fn is_json() -> bool {
    FORMAT.get() == Some(&LogFormat::Json)
}

fn line(text: &str) {
    // A closed standard error is not reported.
    let _ = LogWriter.write_all(format!("{}\n", visible(text)).as_bytes());
}

/// Text as a terminal may have it. Names and messages of others could move its cursor, write its title or its
/// clipboard: control characters but for line feeds and tabs are written as Rust writes them.
pub(crate) fn visible(text: &str) -> Cow<'_, str> {
    let is_text = |c: char| !c.is_control() || matches!(c, '\n' | '\t');
    if text.chars().all(is_text) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        if is_text(c) { shown.push(c) } else { shown.extend(c.escape_default()) }
    }
    Cow::Owned(shown)
}

/// Standard error, with the bars out of the way for each write.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LogWriter;

impl Write for LogWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        suspend(|| io::stderr().lock().write(bytes))
    }

    fn flush(&mut self) -> io::Result<()> {
        io::stderr().flush()
    }
}

impl MakeWriter<'_> for LogWriter {
    type Writer = LogWriter;

    fn make_writer(&self) -> LogWriter {
        LogWriter
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_of_others_are_visible() {
        for text in ["a table\n  of\tcells", "Gö 碁"] {
            assert_eq!(visible(text), text);
        }
        assert_eq!(visible("v1\u{1b}]0;title\u{7}\r\n\u{9b}2J"), "v1\\u{1b}]0;title\\u{7}\\r\n\\u{9b}2J");
    }
}
