//! SIGTERM and Ctrl-C.

use std::io;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use exit_class::ExitClass;
use signal_hook::consts::signal::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use crate::{Stop, console, format};

/// How long a notice may delay a shutdown: standard error may be a pipe that nothing reads.
const NOTICE: Duration = Duration::from_millis(500);

/// Turns the first SIGTERM or SIGINT into a request to stop, and lets a second one end the process at once. After a
/// SIGTERM the process ends when its time is up, too.
pub(crate) fn listen(name: &'static str, stop: Stop) -> io::Result<()> {
    let mut signals = Signals::new([SIGTERM, SIGINT])?;
    thread::Builder::new().name("signals".to_owned()).spawn(move || {
        let mut signalled = false;
        for signal in signals.forever() {
            if signalled {
                // Without destructors: whatever hangs may hang in them too. What is published is whole already.
                signal_hook::low_level::exit(128 + signal);
            }
            signalled = true;
            stop.health().drain();
            // The time limit holds whether or not the notice can be written.
            if signal == SIGTERM {
                stop.limit().into_iter().for_each(|limit| end_after(name, limit));
            }
            notify(format!("{name} shuts down after publishing finished work; repeat to exit at once"));
            if signal == SIGTERM { stop.preempt() } else { stop.request() }
        }
    })?;
    Ok(())
}

/// Exits after `limit`: a store that does not respond, or a long step of work, must not delay the process until a
/// supervisor kills it.
fn end_after(name: &'static str, limit: Duration) {
    let late = thread::Builder::new().name("deadline".to_owned()).spawn(move || {
        let code = expire(name, limit, thread::sleep);
        signal_hook::low_level::exit(code);
    });
    if let Err(error) = late {
        tracing::warn!(%error, limit = %format::duration(limit), "shutdown may take longer than the limit");
    }
}

/// Waits for the limit, once; returns the exit code of a process that is not done by then.
fn expire(name: &str, limit: Duration, sleep: impl FnOnce(Duration)) -> i32 {
    sleep(limit);
    let limit = format::duration(limit);
    notify(format!("{name} did not finish within {limit}; discarding what is not published"));
    ExitClass::Preempted.code().into()
}

/// Prints a notice on a thread of its own, and waits for it a little.
fn notify(text: String) {
    let (writing, written) = mpsc::channel::<()>();
    let notice = thread::Builder::new().name("notice".to_owned()).spawn(move || {
        console::notice(&text);
        drop(writing);
    });
    if notice.is_ok() {
        // Nothing is sent: it ends when the notice is written, or its time is up.
        let _ = written.recv_timeout(NOTICE);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `tests/process.rs` has a process that exits then.
    #[test]
    fn shutdown_expires_after_its_limit() {
        let mut waited = Vec::new();
        let code = expire("actor", Duration::from_secs(9), |limit| waited.push(limit));
        assert_eq!((waited, code), (vec![Duration::from_secs(9)], 4));
    }
}
