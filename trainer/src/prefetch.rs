//! Batches that are made ready while others are trained on.

use std::cell::RefCell;
use std::panic::resume_unwind;
use std::sync::mpsc::{Receiver, sync_channel};
use std::thread::{self, JoinHandle};

/// Batches that are kept ready: reading is faster than training, and at times a part has to be opened.
const READY: usize = 4;

/// A source of batches, on a thread of its own, a few batches ahead.
#[derive(Debug)]
pub struct Prefetch<T, E> {
    /// Until it is dropped.
    ready: Option<Receiver<Result<T, E>>>,
    thread: RefCell<Option<JoinHandle<()>>>,
}

impl<T: Send + 'static, E: Send + 'static> Prefetch<T, E> {
    /// Asks `source` for batches from now on, until it fails, has no more, or the receiver is gone.
    pub fn new(mut source: impl FnMut() -> Result<Option<T>, E> + Send + 'static) -> Prefetch<T, E> {
        let (sender, ready) = sync_channel(READY);
        let thread = thread::spawn(move || {
            while let Some(batch) = source().transpose() {
                let last = batch.is_err();
                if sender.send(batch).is_err() || last {
                    break;
                }
            }
        });
        Prefetch { ready: Some(ready), thread: RefCell::new(Some(thread)) }
    }

    /// The next batch; `None` when there are no more.
    ///
    /// # Errors
    /// The error of the source; after it there are no more batches.
    ///
    /// # Panics
    /// With the panic of the source.
    pub fn next(&self) -> Result<Option<T>, E> {
        let batch = self.ready.as_ref().and_then(|ready| ready.recv().ok());
        // A thread that panics ends without a last batch, too.
        let ended = if batch.is_none() { self.thread.take() } else { None };
        if let Some(Err(panic)) = ended.map(JoinHandle::join) {
            resume_unwind(panic);
        }
        batch.transpose()
    }
}

/// A source may use a GPU, which no thread may do while the process ends: so its last batch is waited for.
impl<T, E> Drop for Prefetch<T, E> {
    fn drop(&mut self) {
        drop(self.ready.take());
        if let Some(thread) = self.thread.take() {
            // Neither its batches are wanted now, nor a panic instead of them.
            let _ = thread.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use testing::wait_until;

    use super::*;

    #[test]
    fn batches_come_in_their_order_and_then_an_error() {
        let mut count = 0;
        let ahead = Prefetch::new(move || {
            count += 1;
            if count > 3 { Err(count) } else { Ok(Some(count)) }
        });
        let batches: Vec<_> = (0..5).map(|_| ahead.next()).collect();
        assert_eq!(batches, [Ok(Some(1)), Ok(Some(2)), Ok(Some(3)), Err(4), Ok(None)]);
    }

    #[test]
    fn source_that_has_no_more_is_not_asked_again() {
        let mut left = Some(7);
        let ahead = Prefetch::<_, ()>::new(move || Ok(left.take()));
        assert_eq!([ahead.next(), ahead.next(), ahead.next()], [Ok(Some(7)), Ok(None), Ok(None)]);
    }

    #[test]
    #[should_panic(expected = "the part is damaged")]
    fn panic_of_the_source_is_not_the_end_of_its_batches() {
        let mut left = Some(7);
        let ahead = Prefetch::<_, ()>::new(move || Ok(Some(left.take().expect("the part is damaged"))));
        assert_eq!(ahead.next(), Ok(Some(7)));
        assert_eq!(ahead.next(), Ok(None));
    }

    #[test]
    fn source_is_a_few_batches_ahead_and_no_more() {
        let asked = Arc::new(AtomicUsize::new(0));
        let counter = Arc::clone(&asked);
        let ahead = Prefetch::<_, ()>::new(move || Ok(Some(counter.fetch_add(1, Ordering::SeqCst))));
        wait_until("batches that are prepared ahead", || asked.load(Ordering::SeqCst) > READY);
        for taken in 0..100 {
            assert!(asked.load(Ordering::SeqCst) <= taken + READY + 1, "one waits to be handed over");
            assert_eq!(ahead.next(), Ok(Some(taken)));
        }
        drop(ahead);
    }
}
