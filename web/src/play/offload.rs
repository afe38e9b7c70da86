//! A few threads for work that may wait, such as reading weights; the async ones never do.

use std::io;
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

type Work = Box<dyn FnOnce() + Send>;

/// Threads that work off what is handed to them, in order. They end when this is dropped.
pub(super) struct Offload {
    sender: Sender<Work>,
}

impl Offload {
    /// Starts so many threads.
    ///
    /// # Errors
    /// There can be no thread.
    pub(super) fn start(threads: usize) -> io::Result<Offload> {
        let (sender, receiver) = mpsc::channel();
        let receiver: Arc<Mutex<Receiver<Work>>> = Arc::new(Mutex::new(receiver));
        for number in 0..threads {
            let receiver = Arc::clone(&receiver);
            thread::Builder::new().name(format!("web-work-{number}")).spawn(move || {
                loop {
                    // The lock is held while a thread waits, and not while it works.
                    let work = receiver.lock().unwrap_or_else(PoisonError::into_inner).recv();
                    let Ok(work) = work else { return };
                    work();
                }
            })?;
        }
        Ok(Offload { sender })
    }

    /// Hands work to the threads.
    pub(super) fn run(&self, work: impl FnOnce() + Send + 'static) {
        if self.sender.send(Box::new(work)).is_err() {
            tracing::error!("worker threads of the play pages have exited");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_is_done_by_all_threads() {
        let offload = Offload::start(2).expect("threads");
        // Each waits for the other, so one thread alone would never finish.
        let both = Arc::new(std::sync::Barrier::new(2));
        let (sender, done) = mpsc::channel();
        for number in [1, 2] {
            let (both, sender) = (Arc::clone(&both), sender.clone());
            offload.run(move || {
                both.wait();
                sender.send(number).expect("the test waits");
            });
        }
        drop(sender);
        let mut numbers: Vec<i32> = done.iter().collect();
        numbers.sort_unstable();
        assert_eq!(numbers, [1, 2]);
    }
}
