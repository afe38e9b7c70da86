//! The runtime that a store has for its requests.

use std::io;

use tokio::runtime::{Builder, Handle, Runtime};

/// A runtime that may be dropped anywhere; one of tokio panics when it is dropped by a task of another.
pub(crate) struct Executor(Option<Runtime>);

impl Executor {
    /// # Errors
    /// The system has no free resources.
    pub(crate) fn new() -> io::Result<Executor> {
        // One thread at a time drives it; local files are read and written on its pool for blocking work.
        Ok(Executor(Some(Builder::new_current_thread().enable_all().build()?)))
    }

    /// Waits for a request.
    pub(crate) fn block_on<F: Future>(&self, request: F) -> F::Output {
        self.0.as_ref().expect("the runtime is there until it is dropped").block_on(request)
    }
}

impl Drop for Executor {
    /// A connection of a web server that stops may have the last clone of its store, and nothing may wait there: what
    /// is still at work in the pool ends by itself.
    fn drop(&mut self) {
        let Some(runtime) = self.0.take() else { return };
        if Handle::try_current().is_ok() {
            runtime.shutdown_background();
        }
    }
}
