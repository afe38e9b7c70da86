//! The interface between search and networks: positions are submitted, flushed as a batch, and read by ticket.

use go::{Game, Symmetry};

use crate::Value;

/// The evaluation of one position.
#[derive(Clone, Copy, Debug)]
pub struct Evaluation<'a> {
    /// Prior probability of each move by its index, pass last; `area + 1` numbers that sum to 1. Illegal moves may
    /// have some of it: the search takes the legal ones and scales them.
    pub policy: &'a [f32],
    /// Expected outcome.
    pub value: Value,
}

/// How one evaluation is made: random bits from the game's own generator, and the symmetry in which a network sees the
/// position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Draw {
    bits: u64,
    symmetry: Symmetry,
}

impl Draw {
    /// The draw of no bits whose symmetry is the identity.
    pub const PLAIN: Draw = Draw { bits: 0, symmetry: Symmetry::Identity };

    /// A draw from 64 random bits, with one of the eight symmetries, each as likely as any other.
    pub fn new(bits: u64) -> Draw {
        Draw { bits, symmetry: Symmetry::ALL[(bits % 8) as usize] }
    }

    /// The draw with another symmetry.
    pub fn seen_in(self, symmetry: Symmetry) -> Draw {
        Draw { symmetry, ..self }
    }

    /// The symmetry.
    pub fn symmetry(self) -> Symmetry {
        self.symmetry
    }

    /// All 64 bits.
    pub fn bits(self) -> u64 {
        self.bits
    }
}

/// Why positions could not be evaluated.
pub type EvaluateError = Box<dyn std::error::Error + Send + Sync>;

/// A position to evaluate.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// The game, whose present position is evaluated; networks see its last boards, too.
    pub game: &'a Game,
    /// Komi for White, in points.
    pub komi: f32,
    /// The random part of the evaluation.
    pub draw: Draw,
}

/// A submitted position. Its evaluation can be read from the [`flush`](Evaluator::flush) that follows, or earlier where
/// the evaluator [has it already](Evaluator::is_ready), until the flush after that one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use = "without its ticket an evaluation cannot be read"]
pub struct Ticket {
    batch: u64,
    index: u32,
}

impl Ticket {
    /// The ticket of the `index`-th position of a batch; batches are counted by the evaluator that issues it.
    pub fn new(batch: u64, index: usize) -> Ticket {
        Ticket { batch, index: u32::try_from(index).expect("a batch has fewer than 2^32 positions") }
    }

    /// The number of the batch.
    pub fn batch(self) -> u64 {
        self.batch
    }

    /// The place in the batch, from 0.
    pub fn index(self) -> usize {
        self.index as usize
    }
}

/// Issues the tickets of an evaluator and says which of them can be read.
#[derive(Clone, Copy, Debug, Default)]
pub struct Tickets {
    batch: u64,
    pending: usize,
}

impl Tickets {
    /// The ticket of the next position of the batch.
    pub fn issue(&mut self) -> Ticket {
        self.pending += 1;
        Ticket::new(self.batch, self.pending - 1)
    }

    /// Tickets issued since the last flush.
    pub fn pending(&self) -> usize {
        self.pending
    }

    /// Begins the next batch.
    pub fn flush(&mut self) {
        *self = Tickets { batch: self.batch + 1, pending: 0 };
    }

    /// Whether the batch of the ticket was flushed.
    pub fn is_flushed(&self, ticket: Ticket) -> bool {
        ticket.batch < self.batch
    }

    /// The place of a ticket in the batch that was flushed last.
    ///
    /// # Panics
    /// When the ticket is of another batch: it was not flushed yet, or its evaluation is gone.
    pub fn index(&self, ticket: Ticket) -> usize {
        assert_eq!(ticket.batch + 1, self.batch, "a ticket is read after the flush of its batch and before the next");
        ticket.index()
    }
}

/// Evaluates positions in batches.
///
/// An evaluation is a function of the request and of nothing else: neither of the other positions of the batch, nor of
/// what was evaluated before. So caches and remote servers change no game. That of a network on a GPU is so within
/// rounding only, which can change a move, and a cache may return that of an image with other planes of ladders.
pub trait Evaluator {
    /// Adds a position to the batch. A network sees it through the symmetry of its draw; the policy is turned back.
    fn submit(&mut self, request: Request<'_>) -> Ticket;

    /// Evaluates the pending positions, and begins the next batch, also where it fails.
    ///
    /// # Errors
    /// The device failed, the network returned a number that is not finite, or a position is of a board that the
    /// network was not made for.
    fn flush(&mut self) -> Result<(), EvaluateError>;

    /// The same, but that it fails once `stop` says so. An evaluator that waits for a server calls it several times a
    /// second meanwhile, and others never.
    ///
    /// # Errors
    /// As [`Evaluator::flush`], or `stop` said so.
    fn flush_until(&mut self, _: &mut dyn FnMut() -> bool) -> Result<(), EvaluateError> {
        self.flush()
    }

    /// Whether the evaluation can be read.
    fn is_ready(&self, ticket: Ticket) -> bool;

    /// The evaluation of a position.
    ///
    /// # Panics
    /// When the ticket is not [ready](Evaluator::is_ready), or older than the flush before last.
    fn get(&self, ticket: Ticket) -> Evaluation<'_>;

    /// Positions that the next flush has to evaluate.
    fn pending(&self) -> usize;

    /// Positions of a full batch: so many cost hardly more than one. `usize::MAX` where batches gain nothing.
    fn capacity(&self) -> usize;
}

impl<E: Evaluator + ?Sized> Evaluator for Box<E> {
    fn submit(&mut self, request: Request<'_>) -> Ticket {
        (**self).submit(request)
    }

    fn flush(&mut self) -> Result<(), EvaluateError> {
        (**self).flush()
    }

    fn flush_until(&mut self, stop: &mut dyn FnMut() -> bool) -> Result<(), EvaluateError> {
        (**self).flush_until(stop)
    }

    fn is_ready(&self, ticket: Ticket) -> bool {
        (**self).is_ready(ticket)
    }

    fn get(&self, ticket: Ticket) -> Evaluation<'_> {
        (**self).get(ticket)
    }

    fn pending(&self) -> usize {
        (**self).pending()
    }

    fn capacity(&self) -> usize {
        (**self).capacity()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tickets_are_read_between_two_flushes() {
        let mut tickets = Tickets::default();
        let first = [tickets.issue(), tickets.issue()];
        assert_eq!((tickets.pending(), tickets.is_flushed(first[1])), (2, false));
        tickets.flush();
        assert_eq!((tickets.pending(), tickets.index(first[1])), (0, 1));
        let second = tickets.issue();
        assert!(!tickets.is_flushed(second) && tickets.is_flushed(first[0]));
    }

    #[test]
    #[should_panic(expected = "before the next")]
    fn tickets_of_older_batches_are_refused() {
        let mut tickets = Tickets::default();
        let ticket = tickets.issue();
        (0..2).for_each(|_| tickets.flush());
        tickets.index(ticket);
    }
}
