//! A model for tests.

use go::Size;
use mcts::{EvaluateError, Evaluation, Evaluator, Request, Ticket, Tickets, Value};
use record::DeepPosition;

/// Its values follow from the request; its policy has the most for the first point, then for the second, and so on.
pub(super) struct MadeUp {
    value: fn(&Request<'_>) -> Value,
    tickets: Tickets,
    policy: Vec<f32>,
    submitted: Vec<Value>,
    flushed: Vec<Value>,
}

impl MadeUp {
    pub(super) fn new(value: fn(&Request<'_>) -> Value) -> MadeUp {
        MadeUp { value, tickets: Tickets::default(), policy: Vec::new(), submitted: Vec::new(), flushed: Vec::new() }
    }
}

impl Evaluator for MadeUp {
    fn submit(&mut self, request: Request<'_>) -> Ticket {
        self.policy = (1..=request.game.size().moves()).map(|nth| 1.0 / nth as f32).collect();
        self.submitted.push((self.value)(&request));
        self.tickets.issue()
    }

    fn flush(&mut self) -> Result<(), EvaluateError> {
        self.flushed = std::mem::take(&mut self.submitted);
        self.tickets.flush();
        Ok(())
    }

    fn is_ready(&self, ticket: Ticket) -> bool {
        self.tickets.is_flushed(ticket)
    }

    fn get(&self, ticket: Ticket) -> Evaluation<'_> {
        Evaluation { policy: &self.policy, value: self.flushed[self.tickets.index(ticket)] }
    }

    fn pending(&self) -> usize {
        self.tickets.pending()
    }

    fn capacity(&self) -> usize {
        usize::MAX
    }
}

/// Positions on 9x9 with komi 7.
pub(super) fn references(lines: &str) -> Vec<DeepPosition> {
    DeepPosition::read_all(lines, Size::new(9).expect("a size"), 7.0).expect("good lines")
}
