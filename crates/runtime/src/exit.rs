//! How a process ends: the error chain, once, and the exit code.

use std::backtrace::{Backtrace, BacktraceStatus};
use std::panic::{AssertUnwindSafe, PanicHookInfo, catch_unwind, set_hook};
use std::process::ExitCode;
use std::thread;
use std::time::Duration;

use exit_class::{Classifier, ExitClass, chain};

use crate::{StdoutClosed, Stop, class_of, console, metrics, service, signals};

/// A process that serves metrics and whose store refuses writes stays for so long, so that a monitor with the usual
/// scrape intervals of 15 to 30 seconds sees why it ends. A signal ends that.
const SHOWN: Duration = Duration::from_secs(60);

/// Runs a program: listens for SIGTERM and SIGINT, runs `work`, prints its error chain on one line, and exits with the
/// code of its [`ExitClass`]. `errors` are the types of library errors that the program knows; see [`class_of`]. A
/// panic is a failure on one line, too. A second Ctrl-C or SIGTERM exits with 130 or 143.
pub fn main(name: &'static str, errors: &[Classifier], work: impl FnOnce(&Stop) -> anyhow::Result<()>) -> ExitCode {
    set_hook(Box::new(|panic| console::error(&of_panic(panic))));
    let stop = Stop::default();
    if let Err(error) = signals::listen(name, stop.clone()) {
        console::error(&format!("cannot listen for signals: {error}"));
        return ExitClass::Failure.code().into();
    }
    let ended = catch_unwind(AssertUnwindSafe(|| work(&stop)));
    console::clear();
    let class = match ended {
        Ok(Ok(())) if stop.preempted() => ExitClass::Preempted,
        Ok(Ok(())) => ExitClass::Finished,
        // The reader has seen enough, as in `evaluator ratings | head -3`.
        Ok(Err(error)) if error.is::<StdoutClosed>() => ExitClass::Finished,
        Ok(Err(error)) => {
            console::error(&chain(&*error));
            class_of(&error, errors)
        }
        // A bug, which the hook has printed.
        Err(_) => ExitClass::Failure,
    };
    if class == ExitClass::StoreRefuses && service::is_serving() {
        metrics::STORE_REFUSES.set(1);
        stop.health().drain();
        stop.wait(SHOWN);
    }
    class.code().into()
}

/// A panic on one line; the stack trace follows where `RUST_BACKTRACE` asks for it.
fn of_panic(panic: &PanicHookInfo<'_>) -> String {
    let payload = panic.payload();
    let text = payload.downcast_ref::<String>().map(String::as_str).or(payload.downcast_ref::<&str>().copied());
    // What follows in errors of libtorch is its stack.
    let text = text.unwrap_or("no message").split("Exception raised from").next().unwrap_or_default();
    let text = text.trim().trim_end_matches("\\n").replace('\n', "; ");
    let place = panic.location().map(|place| format!(" at {place}")).unwrap_or_default();
    let thread = thread::current();
    let line = format!("thread {} panicked{place}: {text}", thread.name().unwrap_or("without a name"));
    let trace = Backtrace::capture();
    if trace.status() == BacktraceStatus::Captured { format!("{line}\n{trace}") } else { line }
}

#[cfg(test)]
mod tests {
    use std::io;

    use anyhow::Context;

    use super::*;
    use crate::Classify;

    fn refused() -> io::Error {
        io::Error::new(io::ErrorKind::ConnectionRefused, "connection refused")
    }

    #[test]
    fn class_of_an_error_is_no_part_of_its_chain() {
        let error = Err::<(), _>(refused()).misconfigured().context("opening s3://b").context("starting").unwrap_err();
        assert_eq!(chain(&*error), "starting: opening s3://b: connection refused");
    }
}
