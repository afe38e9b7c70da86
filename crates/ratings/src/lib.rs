//! How strong players are, how sure that is, and who should meet next.
//!
//! The cast: a [`Tally`] is everything that was played. [`Ratings`] are strengths with their covariance, fitted to a
//! tally under a [`Prior`]; [`Standings`] are ratings that invent nothing, [`doubts`] is what the games cannot say,
//! however good the arithmetic, and a [`misfit`](misfit()) what they say against the model. [`pairing`] names the pair whose games
//! teach most.

mod beats;
mod doubts;
mod gamma;
mod matrix;
mod misfit;
pub mod pairing;
pub mod sprt;
mod standing;
mod strengths;
mod tally;

pub use doubts::{Doubt, doubts};
pub use misfit::{Misfit, Surprise, misfit};
pub use standing::{Bound, Standing, Standings};
pub use strengths::{Anchor, Belief, Chances, ELO, Estimate, Mark, Prior, RatingError, Ratings, Tie};
pub use tally::{Record, Score, Tally};
