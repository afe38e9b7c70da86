//! How strong players are, how sure that is, and who should meet next.
//!
//! The cast: a [`PairResults`] is everything that was played. [`Ratings`] are strengths with their covariance, fitted
//! to the results under a [`Prior`]; a [`Leaderboard`] has ratings that do not depend on the prior, [`diagnostics`]
//! list ratings that the games do not determine, and a [`goodness_of_fit`](goodness_of_fit()) tests the model.
//! [`pairing`] names the pair with the highest information gain.

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
pub use diagnostics::{Class, Diagnostic, diagnostics};
pub use goodness_of_fit::{GoodnessOfFit, Residual, goodness_of_fit};
pub use leaderboard::{Bound, Leaderboard, Placing};
pub use results::{PairResults, PlayerScore, Score};
