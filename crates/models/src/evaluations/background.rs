//! Work that no search waits for.

use std::sync::Mutex;
use std::thread::{self, JoinHandle};

use crate::first::is_first;

/// Work of one kind, on threads of its own, one after the other.
#[derive(Default)]
pub(super) struct Background(Mutex<Option<JoinHandle<()>>>);

impl Background {
    /// Starts the work, unless earlier work is not done.
    pub(super) fn start(&self, name: &str, work: impl FnOnce() + Send + 'static) {
        // Another thread starts it.
        let Ok(mut last) = self.0.try_lock() else { return };
        if last.as_ref().is_some_and(|thread| !thread.is_finished()) {
            return;
        }
        match thread::Builder::new().name(name.to_owned()).spawn(work) {
            Ok(thread) => *last = Some(thread),
            // It is tried again as soon as it is due.
            Err(error) => {
                if is_first(format!("thread {name}")) {
                    tracing::warn!(thread = name, %error, "cannot start a thread");
                }
            }
        }
    }

    /// Waits until the work is done.
    #[cfg(test)]
    pub(super) fn wait(&self) {
        let last = self.0.lock().ok().and_then(|mut last| last.take());
        assert!(last.is_none_or(|thread| thread.join().is_ok()), "the work panicked");
    }
}
