//! Parts of pages: tables and words, made of facts.

mod matrix;
mod players;
mod stages;
mod summary;

pub use matrix::{Pair, matrix, pairs, pairs_data, pairs_table};
pub use players::{players, players_data};
pub use stages::{stages, workers};
pub use summary::{about, alarms, colours, notes, tiles};
