//! How strong players are, how sure that is, and who should meet next.
//!
//! The cast: a [`PairResults`] is everything that was played. [`Ratings`] are strengths with their covariance, fitted to a
//! results under a [`Prior`]; [`Leaderboard`] are ratings that invent nothing, [`diagnostics`] is what the games cannot say,
//! however good the arithmetic, and a [`goodness_of_fit`](goodness_of_fit()) what they say against the model. [`pairing`] names the pair whose games
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
pub use diagnostics::{Diagnostic, diagnostics};
pub use goodness_of_fit::{GoodnessOfFit, Residual, goodness_of_fit};
pub use leaderboard::{Bound, Leaderboard, Placing};
pub use results::{PairResults, Record, Score};
