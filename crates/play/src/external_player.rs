//! Players that are no models: they find their moves by themselves, in their own time.

use std::fmt;

use go::{Game, Move};

/// A player of one game that responds later.
///
/// Requests are sequential: none is sent while a response is outstanding.
pub trait ExternalPlayer: fmt::Debug {
    /// Asks for a move in the present position of `game`, which the player to move has to find.
    fn ask_move(&mut self, game: &Game);

    /// Asks for the score of `game`, which two passes have ended.
    fn ask_score(&mut self, game: &Game);

    /// The response; `None` while there is none.
    fn answer(&mut self) -> Option<Result<Response, ExternalPlayerError>>;
}

/// A response of an external player.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Response {
    /// It plays this.
    Move(Move),
    /// It resigns.
    Resign,
    /// Black's area minus White's after komi, as it counts; `None` when it does not count.
    Score(Option<f32>),
}

/// A failure of an external player.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ExternalPlayerError {
    /// It broke the rules, so it has lost.
    #[error("{0}")]
    Forfeit(String),
    /// It timed out, crashed or sent nonsense; the result is unknown.
    #[error("{0}")]
    Broken(String),
}
