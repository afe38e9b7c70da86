//! How long to wait for something passing.

use std::io::ErrorKind;
use std::thread;
use std::time::Duration;

use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::names;
use crate::reason::{is_refusal, system_error};

/// Tries of one call, the first included.
const TRIES: u32 = 7;
const FIRST_PAUSE: Duration = Duration::from_millis(100);
const LONGEST_PAUSE: Duration = Duration::from_secs(3);

/// The patience of one call.
pub(crate) struct Patience {
    /// Whether a file system of this machine is asked, which says what it means.
    local: bool,
    tries: u32,
}

impl Patience {
    pub(crate) fn new(local: bool) -> Patience {
        Patience { local, tries: 1 }
    }

    /// Sleeps if it is worth trying again after this error, and answers whether it is.
    pub(crate) fn wait_after(&mut self, error: &object_store::Error) -> bool {
        if self.tries == TRIES || !is_passing(error, self.local) {
            return false;
        }
        // Workers that stumbled together shall not come back together.
        let share = Xoshiro256PlusPlus::seed_from_u64(names::now()).random_range(0.5..1.0);
        thread::sleep(pause(self.tries).mul_f64(share));
        self.tries += 1;
        true
    }
}

/// The longest pause after so many tries.
fn pause(tries: u32) -> Duration {
    (FIRST_PAUSE * 2_u32.pow(tries - 1)).min(LONGEST_PAUSE)
}

/// Whether the same request may succeed a little later. What a server refuses for a reason has an error of its own; a
/// file system is to be asked again only where a network is behind it.
fn is_passing(error: &object_store::Error, local: bool) -> bool {
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
    fn a_call_gives_up_within_half_a_minute() {
        let pauses: Vec<u128> = (1..TRIES).map(|tries| pause(tries).as_millis()).collect();
        assert_eq!(pauses, [100, 200, 400, 800, 1600, 3000]);
    }

    #[test]
    fn only_what_may_pass_is_waited_for() {
        let full = || error(io::Error::from_raw_os_error(28));
        let stale = || error(io::Error::from_raw_os_error(116));
        assert!(!is_passing(&full(), true) && is_passing(&stale(), true));
        assert!(is_passing(&error(io::Error::from_raw_os_error(111)), false), "a refused connection");
        assert!(is_passing(&error(io::Error::other("lost")), true));
        assert!(!is_passing(&error(io::Error::other("507 Insufficient Storage")), false));
        let missing = object_store::Error::NotFound { path: "x".to_owned(), source: "gone".into() };
        assert!(!is_passing(&missing, false));
    }
}
