//! Games and examples, as Rust values and as Arrow columns.
//!
//! A [`GameRecord`] is everything that is known of a finished game: its players, how it ended, and for each [`Turn`]
//! the move and the search that chose it. It is the source of truth. An [`Example`] is one searched position cut out
//! of a game, with enough boards to build a network's input without replaying the game.
//!
//! [`games`], [`examples`] and [`ratings`] turn records into columns and back. Every column says in its metadata what
//! it holds, in which unit and from whose point of view; a schema has a version, and a reader refuses what it does not
//! understand, naming column and row. Columns that it does not know are allowed.
//!
//! A [`Converter`] converts SGF of human games to records. A [`DeepPosition`] has the result of a deep search, to
//! measure models by, as a mean or by [`Stage`] of the game. [`statistics`] has the arithmetic of intervals and of Elo,
//! for all that print either.
//!
//! Values are for Black everywhere: +1 is a sure win for Black, -1 for White. Raw facts are recorded (visits, not
//! policies; outcome and search value, not a mixture); targets are the trainer's business.

mod annotations;
mod batch;
pub mod calibration;
mod column;
mod deep_position;
mod error;
mod example;
pub mod examples;
mod game;
mod game_id;
pub mod games;
mod gzip;
mod outcome;
mod outline;
pub mod ratings;
mod replay;
mod sgf;
mod sgf_import;
mod stage;
pub mod statistics;
mod summary;
pub mod synthetic;
mod table;
mod totals;
mod turn;

pub use annotations::{SearchAnnotations, TopMove};
pub use batch::{ExampleRows, UncheckedRows};
pub use deep_position::{DeepPosition, DeepPositionError};
pub use error::RecordError;
pub use example::{Example, ExampleError};
pub use game::{EndReason, GameRecord, HUMAN, Handoff};
pub use game_id::{GameId, GameIdError};
pub use gzip::{unpacked, unpacked_sgf};
pub use outcome::Outcome;
pub use outline::GameOutline;
pub use ratings::RatingRow;
pub use replay::Replay;
pub use sgf_import::Converter;
pub use stage::Stage;
pub use summary::GameSummary;
pub use table::VERSION_KEY;
pub use totals::Totals;
pub use turn::{SearchKind, Turn};
