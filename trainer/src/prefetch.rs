//! Batches that are read while others are trained on.

use std::sync::mpsc::{Receiver, sync_channel};
use std::thread;

use record::Example;

/// Batches that are kept ready: reading is faster than training, and at times a part has to be opened.
const READY: usize = 4;

/// A source of batches, on a thread of its own, a few batches ahead.
#[derive(Debug)]
pub struct Prefetch<E> {
    ready: Receiver<Result<Vec<Example>, E>>,
}

impl<E: Send + 'static> Prefetch<E> {
    /// Asks `source` for batches from now on, until it fails, has no more, or the receiver is gone.
    pub fn new(mut source: impl FnMut() -> Result<Vec<Example>, E> + Send + 'static) -> Prefetch<E> {
        let (sender, ready) = sync_channel(READY);
        thread::spawn(move || {
            loop {
                let batch = source();
                let last = batch.as_ref().map_or(true, Vec::is_empty);
                if sender.send(batch).is_err() || last {
                    break;
                }
            }
        });
        Prefetch { ready }
    }

    /// The next batch; an empty one when there are no more.
    ///
    /// # Errors
    /// The error of the source; after it there are no more batches.
    pub fn next(&self) -> Result<Vec<Example>, E> {
        self.ready.recv().unwrap_or_else(|_| Ok(Vec::new()))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::time::{Duration, Instant};

    use record::synthetic;

    use super::*;

    fn batch() -> Vec<Example> {
        synthetic::game("a-1", "w", 1, go::Size::MIN, 3).examples().unwrap()
    }

    #[test]
    fn batches_come_in_their_order_and_then_an_error() {
        let mut count = 0;
        let ahead = Prefetch::new(move || {
            count += 1;
            let batch = batch();
            if count > 3 { Err(count) } else { Ok(batch[..1].iter().cycle().take(count).cloned().collect()) }
        });
        let sizes: Vec<_> = (0..5).map(|_| ahead.next().map(|batch| batch.len())).collect();
        assert_eq!(sizes, [Ok(1), Ok(2), Ok(3), Err(4), Ok(0)]);
    }

    #[test]
    fn source_is_a_few_batches_ahead_and_no_more() {
        let asked = Arc::new(AtomicUsize::new(0));
        let counter = Arc::clone(&asked);
        let ahead = Prefetch::<()>::new(move || {
            counter.fetch_add(1, Ordering::SeqCst);
            Ok(batch())
        });
        let patience = Instant::now();
        while asked.load(Ordering::SeqCst) < READY + 1 && patience.elapsed() < Duration::from_secs(10) {
            thread::yield_now();
        }
        for taken in 0..100 {
            assert!(asked.load(Ordering::SeqCst) <= taken + READY + 1, "one waits to be handed over");
            assert_eq!(ahead.next().unwrap(), batch());
        }
        drop(ahead);
    }
}
