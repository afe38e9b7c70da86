//! The server side of the Go Text Protocol, version 2, draft 2 (<https://www.lysator.liu.se/~gunnar/gtp/>), and what
//! Leela Zero, KataGo, GNU Go, KGS and GoGui added to it.
//!
//! The cast: [`runtime::Lines`] come from standard input; [`run`] hands each to a [`Session`], which holds the game and
//! turns a line into a response; a [`Player`] thinks of moves, and an [`EnginePlayer`] is one made of a model. Every
//! line with a command on it gets one response, and none of them ends the session but `quit` and the end of the input.
//! Most responses are there at once; an analysis begins its response, adds lines while the player thinks, and ends when
//! anything else comes in.

mod analysis;
mod board;
#[cfg(any(test, feature = "testing"))]
mod check;
mod clock;
mod commands;
mod controller;
mod engine_player;
mod handicap;
mod parse;
mod player;
mod playouts;
mod response;
mod restriction;
mod serve;
mod session;
mod sgf;
mod status;

#[cfg(any(test, feature = "testing"))]
pub use check::converse;
pub use engine_player::{EngineOptions, EnginePlayer, OpeningBook};
pub use handicap::free as handicap_points;
pub use player::{Decision, Player, PlayerError, Task, Watch};
pub use playouts::{WIDTH, play_on};
pub(crate) use response::Failure;
pub use serve::run;
pub use session::{Session, Setup};
pub use status::{ChainStatus, Status, chain_statuses, is_certain};

#[cfg(test)]
mod analysis_stream_tests;
#[cfg(test)]
mod malformed_input_tests;
#[cfg(test)]
mod tests;
