//! Why a move may not be played.

use crate::point::Point;

/// Why a move may not be played.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
pub enum Illegal {
    /// There is a stone on the point already.
    #[error("the point is occupied")]
    Occupied(Point),
    /// The stone's own chain would have no liberty.
    #[error("the move is suicide")]
    Suicide(Point),
    /// The board would be as it was before in this game.
    #[error("the move repeats an earlier position")]
    Superko(Point),
}
