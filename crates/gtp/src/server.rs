//! A voice for a player: the Go Text Protocol, version 2, draft 2 (<https://www.lysator.liu.se/~gunnar/gtp/>), and what
//! Leela Zero, KataGo, GNU Go, KGS and GoGui added to it.
//!
//! The cast: a thread reads [`Line`]s from standard input into an [`Inbox`]; [`serve`] hands each to a [`Session`],
//! which holds the game and turns a line into an answer; a [`Player`] thinks of moves, and a [`Voice`] is one made of a
//! model. Every line with a command on it gets one answer, and none of them ends the session but `quit` and the end of
//! the input. Most answers are there at once; an analysis begins its answer, adds lines while the player thinks, and
//! ends when anything else comes in.

mod analysis;
mod answer;
mod board;
mod clock;
mod commands;
mod controller;
mod handicap;
mod inbox;
mod line;
mod parse;
mod player;
mod playouts;
mod serve;
mod session;
mod sgf;
mod status;
mod voice;

pub use answer::Failure;
pub use inbox::Inbox;
pub use line::Line;
pub use player::{Decision, Player, PlayerError, Task, Watch};
pub use serve::{run, serve};
pub use session::{Session, Setup};
pub use voice::{Manner, Voice, WIDTH};

#[cfg(test)]
mod hostile;
#[cfg(test)]
mod streams;
#[cfg(test)]
mod tests;
