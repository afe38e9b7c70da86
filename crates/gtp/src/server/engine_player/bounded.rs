//! An evaluator that wants a flush after so many positions.

use mcts::{EvaluateError, Evaluation, Evaluator, Request, Ticket};

/// Positions after which a flush is due: caches keep what they returned until the flush after that, on 19x19 3 KB a
/// position.
pub(super) const MOST: usize = 1024;

/// A model whose evaluations count as not ready once [`MOST`] positions were submitted, so that a search that finds all
/// in caches returns at the end of a round. The rounds stay the same, and with them the search.
pub(super) struct Bounded<'a> {
    model: &'a mut dyn Evaluator,
    submitted: usize,
}

impl<'a> Bounded<'a> {
    /// The model right after a flush.
    pub(super) fn new(model: &'a mut dyn Evaluator) -> Bounded<'a> {
        Bounded { model, submitted: 0 }
    }
}

impl Evaluator for Bounded<'_> {
    fn submit(&mut self, request: Request<'_>) -> Ticket {
        self.submitted += 1;
        self.model.submit(request)
    }

    fn flush(&mut self) -> Result<(), EvaluateError> {
        self.submitted = 0;
        self.model.flush()
    }

    fn flush_until(&mut self, stop: &mut dyn FnMut() -> bool) -> Result<(), EvaluateError> {
        self.submitted = 0;
        self.model.flush_until(stop)
    }

    fn is_ready(&self, ticket: Ticket) -> bool {
        self.submitted < MOST && self.model.is_ready(ticket)
    }

    fn get(&self, ticket: Ticket) -> Evaluation<'_> {
        self.model.get(ticket)
    }

    fn pending(&self) -> usize {
        self.model.pending()
    }

    fn capacity(&self) -> usize {
        self.model.capacity()
    }
}
