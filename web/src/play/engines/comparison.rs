//! Whether the name of an open model still means it.

use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use models::ModelError;

/// A store that takes longer is as good as away.
const SLOW: Duration = Duration::from_secs(1);

/// The reading of a version.
pub(super) type VersionRead = Box<dyn FnOnce() + Send>;

/// When the versions of open models are compared with what is stored, and where.
#[derive(Clone, Copy)]
pub(super) struct Comparisons {
    /// A model is taken for the one of its name for so long.
    pub(super) every: Duration,
    /// The same after a comparison that failed or was slow.
    pub(super) away: Duration,
    /// Does the work behind the caller.
    pub(super) spawn: fn(VersionRead) -> io::Result<()>,
}

impl Comparisons {
    pub(super) const DEFAULT: Comparisons =
        Comparisons { every: Duration::from_secs(1), away: Duration::from_secs(60), spawn: in_a_thread };
}

fn in_a_thread(work: VersionRead) -> io::Result<()> {
    thread::Builder::new().name("compare-model".to_owned()).spawn(work).map(drop)
}

/// What is known of the name of an open model.
pub(super) struct Comparison(Mutex<State>);

enum State {
    /// At this time it meant the model, which counts for so long.
    Current(Instant, Duration),
    /// A thread reads what it means.
    Reading,
    /// It means another model.
    Replaced,
}

impl Comparison {
    /// The version was just read, and counts for so long.
    pub(super) fn new(every: Duration) -> Comparison {
        Comparison(Mutex::new(State::Current(Instant::now(), every)))
    }

    /// Whether another model has the name.
    pub(super) fn is_replaced(&self) -> bool {
        matches!(*self.lock(), State::Replaced)
    }

    /// Another model has the name.
    pub(super) fn replaced(&self) {
        *self.lock() = State::Replaced;
    }

    /// The model counts as the one of its name for so long.
    pub(super) fn stays(&self, time: Duration) {
        *self.lock() = State::Current(Instant::now(), time);
    }

    /// Compares a version with the one that `read` finds, behind the caller, if that is due. While none can be read,
    /// the model stays.
    pub(super) fn begin(
        self: &Arc<Self>,
        comparisons: Comparisons,
        version: String,
        read: impl FnOnce() -> Result<Option<String>, ModelError> + Send + 'static,
    ) {
        let Comparisons { every, away, spawn } = comparisons;
        if !self.is_due() {
            return;
        }
        let comparison = Arc::clone(self);
        let work = move || {
            let began = Instant::now();
            let found = read();
            let rest = if found.is_err() || began.elapsed() > SLOW { away } else { every };
            let is_other = found.is_ok_and(|found| found != Some(version));
            let mut state = comparison.lock();
            if matches!(*state, State::Reading) {
                *state = if is_other { State::Replaced } else { State::Current(Instant::now(), rest) };
            }
        };
        if spawn(Box::new(work)).is_err() {
            self.stays(away);
        }
    }

    /// Whether a comparison is to begin, which no other then does.
    fn is_due(&self) -> bool {
        let mut state = self.lock();
        let is_due = matches!(*state, State::Current(since, time) if since.elapsed() >= time);
        if is_due {
            *state = State::Reading;
        }
        is_due
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
