//! Evaluators of made-up evaluations, and evaluators that wait, fail or count.

use std::cell::Cell;
use std::rc::Rc;

use mcts::{EvaluateError, Evaluation, Evaluator, Request, Ticket, Tickets, Value};

/// Evaluates by a function, which sees each position when it is submitted and returns a policy and a value.
pub struct Stub<F> {
    judge: F,
    capacity: usize,
    tickets: Tickets,
    submitted: Vec<(Vec<f32>, Value)>,
    flushed: Vec<(Vec<f32>, Value)>,
}

impl<F: FnMut(&Request<'_>) -> (Vec<f32>, Value)> Stub<F> {
    /// The evaluator, with batches of any size.
    pub fn new(judge: F) -> Stub<F> {
        Stub { judge, capacity: usize::MAX, tickets: Tickets::default(), submitted: Vec::new(), flushed: Vec::new() }
    }

    /// The same with batches of so many positions.
    pub fn in_batches_of(self, capacity: usize) -> Stub<F> {
        Stub { capacity, ..self }
    }
}

impl<F: FnMut(&Request<'_>) -> (Vec<f32>, Value)> Evaluator for Stub<F> {
    fn submit(&mut self, request: Request<'_>) -> Ticket {
        self.submitted.push((self.judge)(&request));
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
        let (policy, value) = &self.flushed[self.tickets.index(ticket)];
        Evaluation { policy, value: *value }
    }

    fn pending(&self) -> usize {
        self.tickets.pending()
    }

    fn capacity(&self) -> usize {
        self.capacity
    }
}

/// Flushes another evaluator by a function, which gets that evaluator and the `stop` of [`Evaluator::flush_until`].
/// That of [`Evaluator::flush`] never says so.
pub struct FlushedBy<E, F> {
    inner: E,
    flush: F,
}

impl<E, F> FlushedBy<E, F>
where
    E: Evaluator,
    F: FnMut(&mut E, &mut dyn FnMut() -> bool) -> Result<(), EvaluateError>,
{
    /// The evaluator.
    pub fn new(inner: E, flush: F) -> FlushedBy<E, F> {
        FlushedBy { inner, flush }
    }
}

impl<E, F> Evaluator for FlushedBy<E, F>
where
    E: Evaluator,
    F: FnMut(&mut E, &mut dyn FnMut() -> bool) -> Result<(), EvaluateError>,
{
    fn submit(&mut self, request: Request<'_>) -> Ticket {
        self.inner.submit(request)
    }

    fn flush(&mut self) -> Result<(), EvaluateError> {
        self.flush_until(&mut || false)
    }

    fn flush_until(&mut self, stop: &mut dyn FnMut() -> bool) -> Result<(), EvaluateError> {
        (self.flush)(&mut self.inner, stop)
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

/// Knows every position without a batch, as a cache may. Flat prior, value 0.
#[derive(Debug, Default)]
pub struct Known {
    /// Positions so far.
    pub all: usize,
    /// The most positions between two flushes, which a cache would keep.
    pub most: Rc<Cell<usize>>,
    kept: usize,
    flat: Vec<f32>,
}

impl Evaluator for Known {
    fn submit(&mut self, request: Request<'_>) -> Ticket {
        let moves = request.game.size().moves();
        self.flat = vec![1.0 / moves as f32; moves];
        self.all += 1;
        self.kept += 1;
        self.most.set(self.most.get().max(self.kept));
        Ticket::new(0, self.kept)
    }

    fn flush(&mut self) -> Result<(), EvaluateError> {
        self.kept = 0;
        Ok(())
    }

    fn is_ready(&self, _: Ticket) -> bool {
        true
    }

    fn get(&self, _: Ticket) -> Evaluation<'_> {
        Evaluation { policy: &self.flat, value: Value::ZERO }
    }

    fn pending(&self) -> usize {
        0
    }

    fn capacity(&self) -> usize {
        usize::MAX
    }
}
