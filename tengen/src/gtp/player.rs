//! Who thinks of the moves.

use go::{Game, Move};

/// Why a player has no move, in a sentence for the person at the other end.
pub type PlayerError = Box<dyn std::error::Error + Send + Sync>;

/// What a player wants to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    /// Play this move, or pass.
    Move(Move),
    /// Give up.
    Resign,
}

/// Thinks of moves in games that somebody else plays.
pub trait Player {
    /// A move for the player to move in `game`, which is not over. `komi` is what White receives.
    ///
    /// # Errors
    /// When there is no move to be had; the session goes on.
    fn genmove(&mut self, game: &Game, komi: f32) -> Result<Decision, PlayerError>;

    /// What follows has nothing to do with what was before.
    fn new_game(&mut self) {}
}
