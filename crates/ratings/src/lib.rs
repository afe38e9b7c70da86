//! How strong players are, how sure that is, and who should meet next.
//!
//! The cast: a [`Tally`] is everything that was played. [`Ratings`] are strengths with their covariance, fitted to a
//! tally under a [`Prior`]; [`Standings`] are ratings that invent nothing, [`doubts`] is what the games cannot say,
//! however good the arithmetic, and a [`misfit`](misfit()) what they say against the model. [`pairing`] names the pair whose games
//! teach most.

mod bradley_terry;
mod diagnostics;
mod gamma;
mod goodness_of_fit;
mod leaderboard;
mod matrix;
pub mod pairing;
mod results;
pub mod sprt;
mod win_graph;

pub use bradley_terry::{Anchor, Belief, Chances, ELO, Estimate, Mark, Prior, RatingError, Ratings, Tie};
pub use diagnostics::{Doubt, doubts};
pub use goodness_of_fit::{Misfit, Surprise, misfit};
pub use leaderboard::{Bound, Standing, Standings};
pub use results::{Record, Score, Tally};
