//! The evaluator stage: decides who plays whom, and rates every model.
//!
//! The cast: an [`Arena`] holds a run and what this machine lends to it. It opens [`Player`]s, lets two of them meet
//! over openings that both play with either colour, and publishes the results. A [`Pool`] is everything that was ever
//! played, as a [`tally`]; [`ratings`] turns it into strengths with errors, [`doubts`] into what they do not say,
//! [`pairing`] into the pair that should meet next, and a [`table`] shows it all to people.

mod arena;
pub mod command;
pub mod doubts;
mod error;
mod matrix;
mod meeting;
pub mod pairing;
mod player;
mod pool;
pub mod ratings;
pub mod table;
pub mod tally;

pub use arena::{Arena, Place, Proposal, Score};
pub use error::EvaluatorError;
pub use meeting::{Meeting, Progress};
pub use player::Player;
pub use pool::Pool;
