//! From a record to a game.

use super::record::Record;
use crate::color::Color;
use crate::game::Game;
use crate::illegal::Illegal;
use crate::point::Move;
use crate::position::{Position, PositionError};

impl Record {
    /// Plays the game by the rules of this crate.
    ///
    /// # Errors
    /// When the stones set up make no position, or at the first illegal move.
    pub fn replay(&self) -> Result<Game, ReplayError> {
        self.replay_with(Game::play)
    }

    /// The same, but that moves may repeat a board: see [`Game::play_past`].
    ///
    /// # Errors
    /// As [`Record::replay`].
    pub fn replay_past(&self) -> Result<Game, ReplayError> {
        self.replay_with(Game::play_past)
    }

    fn replay_with(&self, play: fn(&mut Game, Move) -> Result<(), Illegal>) -> Result<Game, ReplayError> {
        let start = Position::from_stones(self.size, &self.setup, self.first)
            .map_err(|reason| ReplayError::Setup { described: reason.on(self.size), reason })?;
        let mut game = Game::from_position(start);
        for (i, turn) in self.turns.iter().enumerate() {
            game.set_to_move(turn.color);
            play(&mut game, turn.mv).map_err(|reason| ReplayError::Move {
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
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReplayError {
    /// The stones set up make no position.
    #[error("set-up: {described}")]
    Setup {
        /// The reason, with the vertex as GTP writes it.
        described: String,
        /// Why.
        reason: PositionError,
    },
    /// A move is illegal.
    #[error("move {number} ({color} {vertex}): {reason}")]
    Move {
        /// Its number, from 1.
        number: usize,
        /// Who played it.
        color: Color,
        /// Where, as GTP writes it.
        vertex: String,
        /// Why it is illegal.
        #[source]
        reason: Illegal,
    },
}
