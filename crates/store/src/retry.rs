//! Retries of requests that failed for a reason that may pass.

use std::io::ErrorKind;
use std::thread;
use std::time::Duration;

use crate::backoff::Backoff;
use crate::classify::{is_refusal, system_error};

/// Tries of one call, the first included: with the pauses between them, 6 s on average.
const TRIES: u32 = 7;
const FIRST_PAUSE: Duration = Duration::from_millis(100);
const LONGEST_PAUSE: Duration = Duration::from_secs(3);

/// The tries of one call.
pub(crate) struct Retry {
    /// Whether the store is a file system of this machine, whose errors say more than those of a network.
    local: bool,
    tries: u32,
    backoff: Backoff,
}

impl Retry {
    pub(crate) fn new(local: bool) -> Retry {
        Retry { local, tries: 1, backoff: Backoff::new(FIRST_PAUSE, LONGEST_PAUSE) }
    }

    /// Sleeps if it is worth trying again after this error, and returns whether it is.
    pub(crate) fn wait_after(&mut self, error: &object_store::Error) -> bool {
        if self.tries == TRIES || !is_transient(error, self.local) {
            return false;
        }
        thread::sleep(self.backoff.pause());
        self.tries += 1;
        true
    }
}

/// Whether the same request may succeed a little later. What a server refuses for a reason has an error of its own; a
/// file system is to be asked again only where a network is behind it.
fn is_transient(error: &object_store::Error, local: bool) -> bool {
    let object_store::Error::Generic { .. } = error else { return false };
    match system_error(error).map(std::io::Error::kind).filter(|_| local) {
        Some(kind) => matches!(
            kind,
            ErrorKind::Interrupted | ErrorKind::TimedOut | ErrorKind::StaleNetworkFileHandle | ErrorKind::ResourceBusy
        ),
        None => !is_refusal(error),
    }
}

#[cfg(test)]
mod tests {
    use std::io;

    use super::*;

    fn error(source: io::Error) -> object_store::Error {
        object_store::Error::Generic { store: "test", source: source.into() }
    }

    #[test]
    fn retry_gives_up_after_seven_tries() {
        let mut retry = Retry::new(true);
        retry.backoff = Backoff::new(Duration::ZERO, Duration::ZERO);
        assert_eq!((0..20).filter(|_| retry.wait_after(&error(io::Error::other("lost")))).count(), 6);
    }

    #[test]
    fn retry_is_for_transient_errors_only() {
        let full = || error(io::Error::from_raw_os_error(28));
        let stale = || error(io::Error::from_raw_os_error(116));
        assert!(!is_transient(&full(), true) && is_transient(&stale(), true));
        assert!(is_transient(&error(io::Error::from_raw_os_error(111)), false), "a refused connection");
        assert!(is_transient(&error(io::Error::other("lost")), true));
        assert!(!is_transient(
            &error(io::Error::other("Server returned non-2xx status code: 507 Insufficient Storage: ")),
            false
        ));
        let missing = object_store::Error::NotFound { path: "x".to_owned(), source: "gone".into() };
        assert!(!is_transient(&missing, false));
    }
}
