//! Evaluations with their positions, to fit and to measure models.

use crate::view::View;

/// An evaluation of a position in the orientation of its view.
#[derive(Clone, Debug, PartialEq)]
pub struct Sample {
    /// The position.
    pub view: View,
    /// A probability for each move, the pass last.
    pub policy: Vec<f32>,
    /// The value for the player to move.
    pub value: f32,
}
