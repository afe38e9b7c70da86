//! Why a move may not be played.

use std::fmt;

use crate::point::Point;

/// Why a move may not be played.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Illegal {
    /// There is a stone on the point already.
    Occupied(Point),
    /// The stone's own chain would have no liberty.
    Suicide(Point),
    /// The board would be as it was before in this game.
    Superko(Point),
}

impl fmt::Display for Illegal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Illegal::Occupied(_) => "the point is occupied",
            Illegal::Suicide(_) => "the move is suicide",
            Illegal::Superko(_) => "the move repeats an earlier position",
        })
    }
}

impl std::error::Error for Illegal {}
