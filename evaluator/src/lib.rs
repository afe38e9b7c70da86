//! The evaluator stage: decides who plays whom, and rates every model.
//!
//! The cast: a [`RatedRun`] is a run with its results, a `Pool` everything that was ever played; `ratings` turns it
//! into strengths with errors and into the pair that should meet next, a `Table` prints it, a `Report` is a page with
//! everything else that the store has of the run. An [`Arena`] opens `Player`s, models or other programs, and lets two
//! of them meet over openings that both play with either colour. A [`Schedule`] decides which two: given pairs
//! (`Pairs`), those whose games are most informative (`Uncertain`), a sequential test (`SequentialTest`, `Gate`), or
//! the models of a run as they appear ([`RunSchedule`]). [`Matches`] is the driver of the stage: it plays a schedule,
//! match by match, and reports [`Event`]s, to a [`Console`] for example. [`rate`] rates any table of results.

mod arena;
pub mod command;
mod comparison;
mod console;
mod driver;
mod error;
mod formats;
mod gate;
mod ladder;
mod match_runner;
mod plan;
mod player;
mod pool;
pub mod rate;
mod rating;
mod report;
mod retirement;
mod retries;
mod schedule;
mod table;
#[cfg(test)]
mod tests;

pub use arena::{Arena, Resources};
pub use console::Console;
pub use driver::{Event, Matches, Schedule};
pub use error::EvaluatorError;
pub use match_runner::MatchProgress;
pub use plan::RunSchedule;
pub use rating::RatedRun;
pub use retirement::{Deletion, retired_weights};
pub use schedule::WhenIdle;
pub use table::RatedModel;
