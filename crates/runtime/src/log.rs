//! The log: `tracing` events on standard error.

use std::fmt;

use clap::Args;
use tracing::level_filters::LevelFilter;
use tracing_subscriber::EnvFilter;
use tracing_subscriber::fmt::format::Writer;
use tracing_subscriber::fmt::time::FormatTime;
use tracing_subscriber::util::SubscriberInitExt;

use crate::console::{self, LogFormat, LogWriter};
use crate::unix_millis;

/// Level and format of the log.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Logging")]
pub struct LogArgs {
    /// Log level: error, warn, info, debug or trace, also per module (info,store=debug)
    #[arg(long, env = "TENGEN_LOG_LEVEL", default_value = "info", value_name = "LEVEL", global = true, value_parser = filter)]
    pub log_level: String,

    /// Log format
    #[arg(long, env = "TENGEN_LOG_FORMAT", default_value = "auto", value_name = "FORMAT", global = true)]
    pub log_format: LogFormat,
}

impl LogArgs {
    /// Starts the log of a program that may run where machines read it. Where one was started before in this process,
    /// that one stays.
    pub fn start(&self) {
        self.start_with(LogFormat::Json);
    }

    /// Starts the log of a program for interactive use: plain text also outside of a terminal, unless configured
    /// otherwise.
    pub fn start_for_people(&self) {
        self.start_with(LogFormat::Plain);
    }

    fn start_with(&self, elsewhere: LogFormat) {
        let format = match self.log_format {
            LogFormat::Auto if !console::is_terminal() => elsewhere,
            format => format,
        };
        // The library would print a failed write by `eprintln!`, which panics where standard error cannot be written:
        // its disk is full, or its reader is gone.
        let builder = tracing_subscriber::fmt()
            .log_internal_errors(false)
            .with_env_filter(EnvFilter::new(&self.log_level))
            .with_writer(LogWriter);
        let started = match format {
            LogFormat::Json => builder.json().flatten_event(true).finish().try_init(),
            LogFormat::Auto => builder.with_timer(Clock).with_target(false).finish().try_init(),
            LogFormat::Plain => builder.with_target(false).with_ansi(false).finish().try_init(),
        };
        if started.is_ok() {
            console::log_started(format);
        }
    }
}

/// A log filter, such as `info` or `info,store=debug`.
fn filter(text: &str) -> Result<String, String> {
    // A bare word that is no level would be read as a module's name and silence everything else.
    let level = |part: &str| !part.is_empty() && part.parse::<LevelFilter>().is_ok();
    let known = |part: &str| part.contains('=') || level(part);
    if text.split(',').all(known) && EnvFilter::try_new(text).is_ok() {
        return Ok(text.to_owned());
    }
    Err(format!("\"{text}\" is not error, warn, info, debug, trace or off, nor pairs like store=debug"))
}

/// The time of day in UTC: on a terminal the date is known.
struct Clock;

impl FormatTime for Clock {
    fn format_time(&self, writer: &mut Writer<'_>) -> fmt::Result {
        let seconds = unix_millis() / 1000 % 86_400;
        write!(writer, "{:02}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn takes_levels_and_modules() {
        for text in ["info", "off", "DEBUG", "warn,store=debug", "store=trace"] {
            assert!(filter(text).is_ok(), "{text}");
        }
        for text in ["", "loud", "info,", "info,store=loud", "store"] {
            assert!(filter(text).is_err(), "{text}");
        }
    }
}
