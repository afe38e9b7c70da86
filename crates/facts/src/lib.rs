//! Facts of a run: what its pages show, read from the store.
//!
//! The cast: a [`Reader`] lists what is new in a run and reads it step by step, newest first, so that a page can be
//! shown before everything is read. Its [`Facts`] are sums: their size depends on the models of a run and on its
//! matches, and not on its games of self-play. [`plots`] makes plots of them, and [`sections`] parts of pages.
//! [`Progress`] concludes what each stage does or waits for, for pages and for `tengen status`.
//!
//! Nothing here writes to the store.

mod activity;
mod board;
mod control;
pub mod corners;
mod counts;
mod curves;
mod json;
pub mod openings;
pub mod plots;
mod pool;
mod reader;
pub mod search;
pub mod sections;
mod strength;
mod unread;

pub use activity::{Activity, Progress};
pub use board::board;
pub use counts::{Counts, Ends, Lengths, Results};
pub use curves::{Alarm, Bin, Curves, Line};
pub use json::json;
pub use pool::{Pool, own_model, players_model};
pub use reader::{Facts, ModelGames, Reader, Worker};
pub use strength::{Player, Strength};
