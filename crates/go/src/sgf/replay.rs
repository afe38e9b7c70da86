//! From a record to a game.

use std::fmt;

use super::record::Record;
use crate::color::Color;
use crate::game::Game;
use crate::illegal::Illegal;
use crate::position::{Position, PositionError};

impl Record {
    /// Plays the game by the rules of this crate.
    ///
    /// # Errors
    /// When the stones set up make no position, or at the first illegal move.
    pub fn replay(&self) -> Result<Game, ReplayError> {
        let start = Position::from_stones(self.size, &self.setup, self.first).map_err(ReplayError::Setup)?;
        let mut game = Game::from_position(start);
        for (i, turn) in self.turns.iter().enumerate() {
            game.set_to_move(turn.color);
            game.play(turn.mv).map_err(|reason| ReplayError::Move {
                number: i + 1,
                color: turn.color,
                vertex: turn.mv.to_gtp(self.size),
                reason,
            })?;
        }
        Ok(game)
    }
}

/// Why a record cannot be replayed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReplayError {
    /// The stones set up make no position.
    Setup(PositionError),
    /// A move is illegal.
    Move {
        /// Its number, from 1.
        number: usize,
        /// Who played it.
        color: Color,
        /// Where, as GTP writes it.
        vertex: String,
        /// Why it is illegal.
        reason: Illegal,
    },
}

impl fmt::Display for ReplayError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ReplayError::Setup(error) => write!(f, "set-up: {error}"),
            ReplayError::Move { number, color, vertex, reason } => {
                write!(f, "move {number} ({color} {vertex}): {reason}")
            }
        }
    }
}

impl std::error::Error for ReplayError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(match self {
            ReplayError::Setup(error) => error,
            ReplayError::Move { reason, .. } => reason,
        })
    }
}
