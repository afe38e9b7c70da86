//! Who won a game.

use go::Color;

/// Who won.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Outcome {
    /// Black won.
    Black,
    /// White won.
    White,
    /// A draw.
    Draw,
}

impl Outcome {
    /// The outcome of a counted game: Black's area minus White's after komi.
    pub fn from_score(score: f32) -> Outcome {
        if score > 0.0 {
            Outcome::Black
        } else if score < 0.0 {
            Outcome::White
        } else {
            Outcome::Draw
        }
    }

    /// +1 when Black won, -1 when White won, 0 for a draw.
    pub fn as_i8(self) -> i8 {
        match self {
            Outcome::Black => 1,
            Outcome::White => -1,
            Outcome::Draw => 0,
        }
    }

    /// Undoes [`Outcome::as_i8`].
    pub(crate) fn from_i8(number: i8) -> Option<Outcome> {
        match number {
            1 => Some(Outcome::Black),
            -1 => Some(Outcome::White),
            0 => Some(Outcome::Draw),
            _ => None,
        }
    }

    /// The winner, if there is one.
    pub fn winner(self) -> Option<Color> {
        match self {
            Outcome::Black => Some(Color::Black),
            Outcome::White => Some(Color::White),
            Outcome::Draw => None,
        }
    }
}

impl From<Color> for Outcome {
    fn from(winner: Color) -> Outcome {
        match winner {
            Color::Black => Outcome::Black,
            Color::White => Outcome::White,
        }
    }
}
