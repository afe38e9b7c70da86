//! Who thinks of the moves.

use std::ops::ControlFlow;

use go::{Game, Move};
use mcts::{Avoid, Search};

/// Why a player has no move, in a sentence for the user.
pub type PlayerError = Box<dyn std::error::Error + Send + Sync>;

/// Receives the present result of a search repeatedly, and decides whether it continues.
pub type Watch<'a> = dyn FnMut(&Search) -> ControlFlow<()> + 'a;

/// The decision of a player.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    /// Play this move, or pass.
    Move(Move),
    /// Resign.
    Resign,
}

/// A move that is wanted.
#[derive(Clone, Copy, Debug)]
pub struct Task<'a> {
    /// The position, which is no end of a game.
    pub game: &'a Game,
    /// What White receives.
    pub komi: f32,
    /// Whether there is a clock: it is the watcher then who says when there has been enough thinking.
    pub timed: bool,
    /// Moves that are left out.
    pub avoid: &'a [Avoid],
}

/// Chooses moves in games of a controller.
pub trait Player {
    /// A move for the player to move, or the best that is known when `watch` says that it is enough.
    ///
    /// # Errors
    /// When there is no move to be had; the session continues.
    fn genmove(&mut self, task: &Task<'_>, watch: &mut Watch<'_>) -> Result<Decision, PlayerError>;

    /// Thinks about the position that `game` is in, without some moves, until `watch` says that it is enough.
    ///
    /// # Errors
    /// When it cannot; the session continues.
    fn think(&mut self, game: &Game, komi: f32, avoid: &[Avoid], watch: &mut Watch<'_>) -> Result<(), PlayerError>;

    /// Shows the search of the last move, if the player has it.
    fn seen(&self, _: &mut dyn FnMut(&Search)) {}

    /// Games that go on from here to their end, quickly played: what may become of the stones. None when it has no
    /// idea.
    ///
    /// # Errors
    /// When it cannot; the session continues.
    fn play_on(&mut self, game: &Game, komi: f32) -> Result<Vec<Game>, PlayerError>;

    /// What follows has nothing to do with what was before.
    fn new_game(&mut self) {}

    /// What follows draws its random numbers from this seed, and has nothing to do with what was before.
    fn reseed(&mut self, _: u64) {}
}
