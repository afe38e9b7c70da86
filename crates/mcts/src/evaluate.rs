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

/// Whatever kept positions from being scored.
pub type EvaluateError = Box<dyn std::error::Error + Send + Sync>;

/// Scores positions in batches: push some, evaluate all of them, read the answers.
pub trait Evaluate {
    /// Adds the position that `game` is in, to be seen through `symmetry`; the answer comes turned back.
    fn push(&mut self, game: &Game, symmetry: Symmetry);

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
