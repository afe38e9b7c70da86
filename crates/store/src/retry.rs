//! Retries of requests that failed for a reason that may pass.

use std::io::ErrorKind;
use std::thread;
use std::time::{Duration, Instant};

use crate::backoff::Backoff;
use crate::classify::{has_old_signature, is_refusal, system_error};

/// How long after its first failure a call is tried again: an outage of this length is not noticed.
const LIMIT: Duration = Duration::from_secs(30);
const FIRST_PAUSE: Duration = Duration::from_millis(100);
const LONGEST_PAUSE: Duration = Duration::from_secs(3);

/// The tries of one call.
pub(crate) struct Retry {
    /// Whether the store is a file system of this machine, whose errors say more than those of a network.
    local: bool,
    /// When the first try failed. Not when it began: a long upload whose connection is lost is tried again, too.
    failed: Option<Instant>,
    backoff: Backoff,
}

impl Retry {
    pub(crate) fn new(local: bool) -> Retry {
        Retry { local, failed: None, backoff: Backoff::new(FIRST_PAUSE, LONGEST_PAUSE) }
    }

    /// Sleeps if it is worth trying again after this error, and returns whether it is.
    pub(crate) fn wait_after(&mut self, error: &object_store::Error) -> bool {
        let failing = self.failed.get_or_insert_with(Instant::now).elapsed();
        let Some(pause) = self.pause_after(error, failing) else { return false };
        thread::sleep(pause);
        true
    }

    /// The pause before the next try, so long after the first failure; `None` when there is to be none.
    fn pause_after(&mut self, error: &object_store::Error, failing: Duration) -> Option<Duration> {
        (failing < LIMIT && is_transient(error, self.local)).then(|| self.backoff.pause())
    }
}

/// Whether the same request may succeed a little later. What a server refuses for a reason has an error of its own; a
/// file system is to be asked again only where a network is behind it.
fn is_transient(error: &object_store::Error, local: bool) -> bool {
    if has_old_signature(error) {
        return true;
    }
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

    /// The pauses of a call whose tries all fail, each after this time, and when the last one fails.
    fn pauses_of(each: Duration) -> (Vec<Duration>, Duration) {
        let (mut retry, mut failing, mut pauses) = (Retry::new(true), Duration::ZERO, Vec::new());
        while let Some(pause) = retry.pause_after(&error(io::Error::other("lost")), failing) {
            pauses.push(pause);
            failing += pause + each;
        }
        (pauses, failing)
    }

    #[test]
    fn retry_lasts_half_a_minute_with_growing_pauses() {
        let (first, longest) = (FIRST_PAUSE.mul_f64(1.25), LONGEST_PAUSE.mul_f64(1.25));
        for seconds in [0, 1, 5] {
            let each = Duration::from_secs(seconds);
            let (pauses, failing) = pauses_of(each);
            assert!(failing >= LIMIT && failing < LIMIT + longest + each, "{failing:?} at {each:?} a try");
            assert!(pauses[0] <= first && pauses.iter().all(|&pause| pause <= longest), "{pauses:?}");
        }
        let (pauses, _) = pauses_of(Duration::ZERO);
        assert!((10..20).contains(&pauses.len()), "{pauses:?}");
    }

    #[test]
    fn call_that_hangs_is_retried_once() {
        assert_eq!(pauses_of(Duration::from_secs(120)).0.len(), 1);
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
        let skewed = |tries: &str| {
            let said = "Server returned non-2xx status code: 403 Forbidden: <Error><Code>RequestTimeTooSkewed</Code>";
            let source = format!("Error performing PUT http://x in 1s{tries} - {said}").into();
            object_store::Error::PermissionDenied { path: "x".to_owned(), source }
        };
        let asleep = skewed(", after 1 retries, max_retries: 3, retry_timeout: 10s ");
        assert!(is_transient(&asleep, false) && !is_transient(&skewed(""), false), "at first the clock is wrong");
        let missing = object_store::Error::NotFound { path: "x".to_owned(), source: "gone".into() };
        assert!(!is_transient(&missing, false));
    }
}
