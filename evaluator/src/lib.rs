//! The evaluator stage: decides who plays whom, and rates every model.
//!
//! The cast: an [`Arena`] holds a run and what this machine lends to it. It opens [`Player`]s, models or
//! other programs, lets two of them meet over openings that both play with either colour, and publishes the results. A [`Pool`] is everything that was ever
//! played; `ratings` turns it into strengths with errors and into the pair that should meet next, and a [`table`] shows
//! it to people, a [`report`] as a page with everything else that is known of the run. [`rate`] does the same for any
//! table of results.

mod arena;
pub mod command;
mod error;
mod formats;
mod meeting;
mod monitor;
mod player;
mod pool;
pub mod rate;
pub mod report;
pub mod table;
mod tries;

pub use arena::{Arena, Comparison, Deletion, Ladder, Place, Play, Promotion, Proposal, Retirement, Score};
pub use error::EvaluatorError;
pub use meeting::{Meeting, Progress};
pub use player::{Player, Searcher, Source};
pub use pool::Pool;
