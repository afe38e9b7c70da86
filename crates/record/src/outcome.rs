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

    /// Points of the player of this colour: 1, ½ or 0.
    pub fn points(self, player: Color) -> f64 {
        self.winner().map_or(0.5, |winner| f64::from(u8::from(winner == player)))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_of_a_game_sum_to_one() {
        let points = |outcome: Outcome| [Color::Black, Color::White].map(|player| outcome.points(player));
        assert_eq!(points(Outcome::Black), [1.0, 0.0]);
        assert_eq!(points(Outcome::White), [0.0, 1.0]);
        assert_eq!(points(Outcome::Draw), [0.5, 0.5]);
    }
}
