//! How a process ends: the error chain, once, and the exit code.

use std::error::Error;
use std::fmt;
use std::process::ExitCode;
use std::time::Duration;

use crate::{StdoutClosed, Stop, console, metrics, service, signals, vitals};

/// The exit codes of every program, as `--help` lists them.
pub const EXIT_CODES: &str = "\
Exit codes: 0 finished, or stopped with Ctrl-C; 1 failed; 2 the arguments or the configuration are wrong; 3 the store cannot be \
reached; 4 stopped by SIGTERM before it was finished: started again, it goes on where it was; 5 the store refuses writes: it is full, \
read-only, or the credentials do not allow them";

/// What went wrong, as an exit code. 0 is a finished or cleanly stopped process; clap's usage errors exit with 2 too.
const SUCCESS: u8 = 0;
const FAILURE: u8 = 1;
const MISCONFIGURED: u8 = 2;
const STORE_UNREACHABLE: u8 = 3;
pub(crate) const PREEMPTED: u8 = 4;
const STORE_REFUSES: u8 = 5;

/// A process that serves metrics and whose store refuses writes stays for so long, so that a monitor with the usual scrape
/// intervals of 15 to 30 seconds sees why it ends. A signal ends that.
const SHOWN: Duration = Duration::from_secs(60);

/// Runs a program: listens for SIGTERM and SIGINT, runs `work`, prints its error chain on one line, and chooses the
/// exit code.
///
/// 0: finished, or stopped by Ctrl-C. 1: failure. 2: the operator asked for something impossible ([`Misconfigured`]).
/// 3: the store cannot be reached ([`StoreUnreachable`]). 4: stopped by SIGTERM, which a place sends that is to be cleared; what
/// was finished is published, and started again the work goes on. 5: the store refuses writes ([`StoreRefuses`]). 130 and 143: a second Ctrl-C or SIGTERM.
pub fn main(name: &'static str, work: impl FnOnce(&Stop) -> anyhow::Result<()>) -> ExitCode {
    vitals::begin();
    let stop = Stop::default();
    if let Err(error) = signals::listen(name, stop.clone()) {
        console::error(&format!("cannot listen for signals: {error}"));
        return ExitCode::from(FAILURE);
    }
    let ended = work(&stop);
    console::clear();
    match ended {
        Ok(()) if stop.preempted() => ExitCode::from(PREEMPTED),
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let code = report(&error);
            if code == STORE_REFUSES && service::is_serving() {
                metrics::STORE_REFUSES.set(1);
                vitals::drain();
                stop.wait(SHOWN);
            }
            ExitCode::from(code)
        }
    }
}

/// Prints the error, and answers the exit code.
fn report(error: &anyhow::Error) -> u8 {
    if error.is::<StdoutClosed>() {
        // The reader has seen enough, as in `evaluator --ratings | head -3`.
        return SUCCESS;
    }
    console::error(&one_line(error));
    code(error)
}

fn code(error: &anyhow::Error) -> u8 {
    let caused_by = |is: fn(&(dyn Error + 'static)) -> bool| error.chain().any(is);
    if caused_by(|e| e.is::<Misconfigured>()) {
        MISCONFIGURED
    } else if caused_by(|e| e.is::<StoreUnreachable>()) {
        STORE_UNREACHABLE
    } else if caused_by(|e| e.is::<StoreRefuses>()) {
        STORE_REFUSES
    } else {
        FAILURE
    }
}

/// The chain from the outermost sentence to the cause. Many errors print their cause themselves; it is not repeated.
fn one_line(error: &anyhow::Error) -> String {
    let mut line = String::new();
    for part in error.chain().map(|e| e.to_string().trim().replace('\n', "; ")) {
        if line.is_empty() {
            line = part;
        } else if !line.ends_with(&part) {
            line = format!("{line}: {part}");
        }
    }
    line
}

/// An error that the operator must mend: a wrong configuration, flag or name. Prints as what it wraps.
#[derive(Debug)]
pub struct Misconfigured(anyhow::Error);

/// The store cannot be reached. Prints as what it wraps.
#[derive(Debug)]
pub struct StoreUnreachable(anyhow::Error);

/// The store refuses writes. Prints as what it wraps.
#[derive(Debug)]
pub struct StoreRefuses(anyhow::Error);

impl Misconfigured {
    /// Marks an error; `Misconfigured::new(anyhow!("…"))` makes one from a sentence.
    pub fn new(error: impl Into<anyhow::Error>) -> Misconfigured {
        Misconfigured(error.into())
    }
}

impl StoreUnreachable {
    /// Marks an error.
    pub fn new(error: impl Into<anyhow::Error>) -> StoreUnreachable {
        StoreUnreachable(error.into())
    }
}

impl StoreRefuses {
    /// Marks an error.
    pub fn new(error: impl Into<anyhow::Error>) -> StoreRefuses {
        StoreRefuses(error.into())
    }
}

/// Says whose fault an error is, and so with which code the process exits.
pub trait Blame<T> {
    /// The operator asked for something impossible: exit code 2.
    fn misconfigured(self) -> anyhow::Result<T>;

    /// The store cannot be reached: exit code 3.
    fn store_unreachable(self) -> anyhow::Result<T>;

    /// The store refuses writes: exit code 5.
    fn store_refuses(self) -> anyhow::Result<T>;
}

impl<T, E: Into<anyhow::Error>> Blame<T> for Result<T, E> {
    fn misconfigured(self) -> anyhow::Result<T> {
        self.map_err(|error| Misconfigured::new(error).into())
    }

    fn store_unreachable(self) -> anyhow::Result<T> {
        self.map_err(|error| StoreUnreachable::new(error).into())
    }

    fn store_refuses(self) -> anyhow::Result<T> {
        self.map_err(|error| StoreRefuses::new(error).into())
    }
}

impl fmt::Display for Misconfigured {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Display for StoreUnreachable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Display for StoreRefuses {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl Error for StoreRefuses {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.0.source()
    }
}

impl Error for Misconfigured {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.0.source()
    }
}

impl Error for StoreUnreachable {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.0.source()
    }
}

#[cfg(test)]
mod tests {
    use std::io;

    use anyhow::{Context, anyhow};

    use super::*;

    fn refused() -> io::Error {
        io::Error::new(io::ErrorKind::ConnectionRefused, "connection refused")
    }

    #[test]
    fn the_chain_is_one_line_and_says_each_thing_once() {
        let error =
            Err::<(), _>(refused()).store_unreachable().context("opening s3://b").context("starting").unwrap_err();
        assert_eq!(one_line(&error), "starting: opening s3://b: connection refused");
        let repeats = anyhow!("cause").context("opening it: cause");
        assert_eq!(one_line(&repeats), "opening it: cause");
        assert_eq!(one_line(&anyhow!("first\nsecond")), "first; second");
    }

    #[test]
    fn the_code_follows_the_mark_however_deep() {
        assert_eq!(code(&refused().into()), FAILURE);
        assert_eq!(code(&Err::<(), _>(refused()).store_unreachable().context("a").unwrap_err()), STORE_UNREACHABLE);
        let wrong = Err::<(), _>(anyhow!("no such key")).misconfigured().context("a").context("b").unwrap_err();
        assert_eq!(code(&wrong), MISCONFIGURED);
        assert_eq!(one_line(&wrong), "b: a: no such key");
    }
}
