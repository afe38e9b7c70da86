//! The results of an evaluator that answers some requests itself: those of the batch that is being filled, and of the
//! one before, which are read until the flush after next.

use go::{Size, Symmetry};
use mcts::{Evaluation, Ticket, Value};

/// The batch that is being filled, and the one before. Both keep their memory.
#[derive(Debug)]
pub(crate) struct Batches<E> {
    number: u64,
    submitted: Batch<E>,
    flushed: Batch<E>,
}

/// An entry for each request of a batch.
#[derive(Debug)]
pub(crate) struct Batch<E> {
    pub(crate) entries: Vec<E>,
    /// Policies, one after the other, in the orientation of the games.
    policies: Vec<f32>,
}

/// An evaluation of a batch: the place of its policy, and its value.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ready {
    start: usize,
    moves: usize,
    value: Value,
}

impl<E> Batches<E> {
    pub(crate) fn new() -> Batches<E> {
        Batches { number: 0, submitted: Batch::new(), flushed: Batch::new() }
    }

    /// The batch that is being filled.
    pub(crate) fn submitted(&mut self) -> &mut Batch<E> {
        &mut self.submitted
    }

    /// Adds a request to the batch that is being filled.
    pub(crate) fn push(&mut self, entry: E) -> Ticket {
        self.submitted.entries.push(entry);
        Ticket::new(self.number, self.submitted.entries.len() - 1)
    }

    /// Begins a new batch, and returns the one that was flushed.
    pub(crate) fn flush(&mut self) -> &mut Batch<E> {
        std::mem::swap(&mut self.submitted, &mut self.flushed);
        self.submitted.entries.clear();
        self.submitted.policies.clear();
        self.number += 1;
        &mut self.flushed
    }

    /// The entry of a request, and its batch.
    ///
    /// # Panics
    /// The ticket is from an earlier batch.
    pub(crate) fn entry(&self, ticket: Ticket) -> (&Batch<E>, &E) {
        let batch = if ticket.batch() == self.number {
            &self.submitted
        } else {
            assert_eq!(ticket.batch() + 1, self.number, "a ticket is read before the flush after next");
            &self.flushed
        };
        (batch, &batch.entries[ticket.index()])
    }
}

impl<E> Batch<E> {
    fn new() -> Batch<E> {
        Batch { entries: Vec::new(), policies: Vec::new() }
    }

    /// Keeps an evaluation whose policy is seen in a symmetry of the game.
    pub(crate) fn keep(&mut self, size: Size, symmetry: Symmetry, policy: &[f32], value: Value) -> Ready {
        let (start, moves) = (self.policies.len(), policy.len());
        self.policies.resize(start + moves, 0.0);
        symmetry.inverse().apply_values(size, policy, &mut self.policies[start..]);
        Ready { start, moves, value }
    }

    pub(crate) fn evaluation(&self, Ready { start, moves, value }: Ready) -> Evaluation<'_> {
        Evaluation { policy: &self.policies[start..][..moves], value }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use mcts::Evaluator;
    use testing::FlushedBy;

    /// An evaluator whose first flush fails, as do those that are stopped, and begins the next batch nevertheless.
    pub(crate) fn fails_once(inner: impl Evaluator) -> impl Evaluator {
        let mut failed = false;
        FlushedBy::new(inner, move |inner, stop| {
            let stopped = stop();
            inner.flush()?;
            if stopped {
                return Err("the search was stopped".into());
            }
            if std::mem::replace(&mut failed, true) { Ok(()) } else { Err("the device failed".into()) }
        })
    }
}
