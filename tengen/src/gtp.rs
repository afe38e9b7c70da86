//! A voice for a player: the Go Text Protocol, version 2, draft 2 (<https://www.lysator.liu.se/~gunnar/gtp/>).
//!
//! The cast: a thread reads [`Line`]s from standard input; [`serve`] hands each to a [`Session`], which holds the game
//! and turns a line into an answer; a [`Player`] thinks of moves. Every line with a command on it gets one answer, and
//! none of them ends the session but `quit` and the end of the input.

mod answer;
mod board;
mod commands;
mod line;
mod parse;
mod player;
mod serve;
mod session;
mod sgf;

pub use answer::Failure;
pub use line::Line;
pub use player::{Decision, Player, PlayerError};
pub use serve::{run, serve};
pub use session::{Session, Setup};

#[cfg(test)]
mod hostile;
#[cfg(test)]
mod tests;
