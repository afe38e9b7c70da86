//! An evaluator that counts its work.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use mcts::{EvaluateError, Evaluation, Evaluator, Request, Ticket};

/// Counters of the evaluators of a process, or of one model.
#[derive(Debug, Default)]
pub struct EvaluatorStats {
    evaluations: AtomicU64,
    cache_hits: AtomicU64,
    batches: AtomicU64,
    slots: AtomicU64,
    wait_nanos: AtomicU64,
}

/// The values of [`EvaluatorStats`] at one moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EvaluatorCounts {
    /// Positions evaluated.
    pub evaluations: u64,
    /// Positions whose evaluation was ready when they were submitted.
    pub cache_hits: u64,
    /// Batches evaluated.
    pub batches: u64,
    /// Slots of these batches.
    pub slots: u64,
    /// Time that threads waited for batches, added up over threads.
    pub wait: Duration,
}

impl EvaluatorStats {
    /// The counts so far.
    pub fn counts(&self) -> EvaluatorCounts {
        EvaluatorCounts {
            evaluations: self.evaluations.load(Ordering::Relaxed),
            cache_hits: self.cache_hits.load(Ordering::Relaxed),
            batches: self.batches.load(Ordering::Relaxed),
            slots: self.slots.load(Ordering::Relaxed),
            wait: Duration::from_nanos(self.wait_nanos.load(Ordering::Relaxed)),
        }
    }
}

impl EvaluatorCounts {
    /// What was counted since `earlier` counts of the same evaluators.
    pub fn since(self, earlier: EvaluatorCounts) -> EvaluatorCounts {
        EvaluatorCounts {
            evaluations: self.evaluations - earlier.evaluations,
            cache_hits: self.cache_hits - earlier.cache_hits,
            batches: self.batches - earlier.batches,
            slots: self.slots - earlier.slots,
            wait: self.wait - earlier.wait,
        }
    }
}

/// Counts what an evaluator does. The clock is read twice a batch; the wait includes batches of other threads that the
/// device evaluates first. Counters of all threads are written with each batch, and not with each position.
#[derive(Debug)]
pub struct Instrumented<E> {
    inner: E,
    stats: Arc<EvaluatorStats>,
    /// Cache hits since the last flush.
    hits: u64,
}

impl<E: Evaluator> Instrumented<E> {
    /// An evaluator that adds to these counters.
    pub fn new(inner: E, stats: Arc<EvaluatorStats>) -> Instrumented<E> {
        Instrumented { inner, stats, hits: 0 }
    }
}

impl<E> Instrumented<E> {
    fn add_hits(&mut self) {
        self.stats.cache_hits.fetch_add(std::mem::take(&mut self.hits), Ordering::Relaxed);
    }
}

impl<E> Drop for Instrumented<E> {
    fn drop(&mut self) {
        self.add_hits();
    }
}

impl<E: Evaluator> Evaluator for Instrumented<E> {
    fn submit(&mut self, request: Request<'_>) -> Ticket {
        let ticket = self.inner.submit(request);
        self.hits += u64::from(self.inner.is_ready(ticket));
        ticket
    }

    fn flush(&mut self) -> Result<(), EvaluateError> {
        self.flush_until(&mut || false)
    }

    fn flush_until(&mut self, stop: &mut dyn FnMut() -> bool) -> Result<(), EvaluateError> {
        self.add_hits();
        let (pending, capacity) = (self.inner.pending(), self.inner.capacity());
        let began = Instant::now();
        let flushed = self.inner.flush_until(stop);
        self.stats.wait_nanos.fetch_add(began.elapsed().as_nanos() as u64, Ordering::Relaxed);
        if flushed.is_ok() && pending > 0 {
            // Evaluators without a limit have batches of the requested size.
            let batches = if capacity == usize::MAX { 1 } else { pending.div_ceil(capacity) };
            let slots = if capacity == usize::MAX { pending } else { batches * capacity };
            self.stats.evaluations.fetch_add(pending as u64, Ordering::Relaxed);
            self.stats.batches.fetch_add(batches as u64, Ordering::Relaxed);
            self.stats.slots.fetch_add(slots as u64, Ordering::Relaxed);
        }
        flushed
    }

    fn is_ready(&self, ticket: Ticket) -> bool {
        self.inner.is_ready(ticket)
    }

    fn get(&self, ticket: Ticket) -> Evaluation<'_> {
        self.inner.get(ticket)
    }

    fn pending(&self) -> usize {
        self.inner.pending()
    }

    fn capacity(&self) -> usize {
        self.inner.capacity()
    }
}

#[cfg(test)]
mod tests {
    use go::{Game, Size};
    use mcts::Draw;

    use super::*;
    use crate::{Cached, Uniform};

    #[test]
    fn evaluations_hits_and_batches_are_counted() {
        let size = Size::new(5).expect("a size");
        let stats = Arc::new(EvaluatorStats::default());
        let mut evaluator = Instrumented::new(Cached::new(Uniform::new(), size, 1 << 20), Arc::clone(&stats));
        let game = Game::new(size);
        let mut moved = game.clone();
        moved.play(go::Move::Pass).expect("a pass is legal");
        let request = |game| Request { game, komi: 7.0, draw: Draw::PLAIN };
        let tickets = [evaluator.submit(request(&game)), evaluator.submit(request(&moved))];
        evaluator.flush().expect("uniform cannot fail");
        assert!(tickets.iter().all(|&ticket| evaluator.get(ticket).policy.len() == 26));
        let hit = evaluator.submit(request(&game));
        assert!(evaluator.is_ready(hit));
        evaluator.flush().expect("uniform cannot fail");
        let EvaluatorCounts { evaluations, cache_hits, batches, slots, .. } = stats.counts();
        assert_eq!((evaluations, cache_hits, batches, slots), (2, 1, 1, 2));
        let _unread = evaluator.submit(request(&moved));
        drop(evaluator);
        assert_eq!(stats.counts().cache_hits, 2);
    }
}
