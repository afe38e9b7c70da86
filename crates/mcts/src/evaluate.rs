//! Where the network meets the search: the verb that scores positions.

use go::{Game, Symmetry};

use crate::Value;

/// What is known of one position.
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

    /// The draw with the `nth` of the other symmetries; the 0th is its own, and 0 to 7 are all eight.
    pub fn turned(self, nth: usize) -> Draw {
        let bits = self.bits & !7 | self.bits.wrapping_add(nth as u64) & 7;
        Draw { bits, symmetry: Symmetry::ALL[(self.symmetry.index() + nth) % 8] }
    }

    /// All 64 bits.
    pub fn bits(self) -> u64 {
        self.bits
    }
}

/// Whatever kept positions from being scored.
pub type EvaluateError = Box<dyn std::error::Error + Send + Sync>;

/// What became of a position that was pushed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use = "a position that is known gets no place in the batch"]
pub enum Pushed {
    /// It is the next of the batch.
    Waits,
    /// It was evaluated before, and is not in the batch: [`Evaluate::known`] has the answer now.
    Known,
}

/// Scores positions in batches: push some, evaluate all of them, read the answers.
pub trait Evaluate {
    /// Adds the position that `game` is in, which is played with this komi for White. A network sees it through `draw.symmetry()`, and its answer comes turned
    /// back. The answer is a function of the position, its history, komi and the draw, and of nothing else in the batch nor
    /// of what was evaluated before.
    fn push(&mut self, game: &Game, komi: f32, draw: Draw) -> Pushed;

    /// The answer to the last push, if that was [`Pushed::Known`].
    ///
    /// # Panics
    /// When it was not.
    fn known(&self) -> Evaluation<'_> {
        unreachable!("nothing is known before it is evaluated")
    }

    /// Positions that cost as much to evaluate together as one by itself; no limit as a rule.
    fn batch(&self) -> usize {
        usize::MAX
    }

    /// Positions that were [`Pushed::Known`] so far.
    fn recalled(&self) -> u64 {
        0
    }

    /// Evaluates everything pushed since the last call. Answers keep the order of pushing.
    ///
    /// # Errors
    /// The device failed, or the network gave numbers that are none.
    fn evaluate(&mut self) -> Result<(), EvaluateError>;

    /// The `index`-th answer of the last [`Evaluate::evaluate`].
    ///
    /// # Panics
    /// When fewer positions were pushed.
    fn answer(&self, index: usize) -> Evaluation<'_>;
}
