//! How strong the players are, and how sure that is.
//!
//! The model is Bradley and Terry's (Biometrika 39, 1952) with a first-move advantage and Davidson's draws, in the
//! form of Davidson and Beaver (Biometrics 33, 1977): see [`Chances`]. Strengths are maximum a posteriori under a
//! stated [`Prior`], found by Newton's method, and their covariance is the inverse of the exact Hessian there
//! (Laplace's approximation).
//!
//! Only differences of strengths mean anything. A rating is the difference to the prior's anchor, and every error says
//! against what it is: the anchor, the mean of the pool, or another player.

mod chances;
mod newton;
mod prior;

pub use chances::Chances;
pub use prior::{Prior, Tie};

use crate::matrix::Matrix;
use crate::tally::Tally;
use newton::{Layout, Optimum};

/// Elo in a natural unit of strength: 400 Elo are odds of 10 to 1.
pub const ELO: f64 = 400.0 / std::f64::consts::LN_10;

/// An estimate in Elo, normally distributed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// The most probable value, in Elo.
    pub elo: f64,
    /// One standard error, in Elo.
    pub error: f64,
}

/// Ratings of a pool, with everything needed to compare its players.
#[derive(Clone, Debug)]
pub struct Ratings {
    players: Vec<String>,
    /// In natural units; the anchor's is 0.
    strengths: Vec<f64>,
    /// Of the strengths, in natural units; the anchor's row is 0.
    covariance: Matrix,
    first_move: Estimate,
    draws: Option<f64>,
    log_evidence: f64,
}

/// A pool that cannot be rated.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RatingError {
    /// Neither the games nor the prior say how some players compare.
    #[error("the games and the prior leave some ratings undetermined")]
    Undetermined,
    /// Newton's method came to no end; this cannot happen with finite counts.
    #[error("the ratings did not converge in {0} steps")]
    NotConverged(usize),
}

impl Ratings {
    /// Rates every player of the tally, those without games by the prior alone.
    ///
    /// # Errors
    /// When the games and the prior together do not determine every rating.
    pub fn fit(tally: &Tally, prior: &Prior) -> Result<Ratings, RatingError> {
        let layout = Layout::new(tally, prior);
        let Optimum { at, precision, log_posterior } = newton::climb(tally, prior, &layout)?;
        let inverse = precision.inverse();
        let (first, draws) = (layout.first_move(), layout.draws());
        Ok(Ratings {
            strengths: layout.strengths(&at),
            covariance: layout.covariance(&inverse),
            first_move: Estimate { elo: ELO * at[first], error: ELO * inverse.at(first, first).sqrt() },
            draws: draws.map(|index| at[index]),
            log_evidence: log_posterior - 0.5 * precision.log_determinant(),
            players: tally.players().to_vec(),
        })
    }

    /// Rates the models of runs under [`Prior::walk`], averaged over its step with the weights that the results give
    /// each. Also returns the most probable step, in Elo.
    ///
    /// Taking the most probable step alone would make the errors of a young run too small.
    ///
    /// # Errors
    /// As [`Ratings::fit`].
    pub fn of_runs(tally: &Tally) -> Result<(Ratings, f64), RatingError> {
        let mut fits = Vec::new();
        for (step, log_probability) in Prior::steps() {
            let ratings = Ratings::fit(tally, &Prior::walk(tally, step))?;
            fits.push((ratings.log_evidence + log_probability, step, ratings));
        }
        let (top, step) = fits
            .iter()
            .map(|fit| (fit.0, fit.1))
            .fold((f64::NEG_INFINITY, 0.0), |best, fit| if fit.0 > best.0 { fit } else { best });
        Ok((mix(fits.into_iter().map(|(log_weight, _, ratings)| ((log_weight - top).exp(), ratings))), step))
    }

    /// The players, in the order of the tally.
    pub fn players(&self) -> &[String] {
        &self.players
    }

    /// A player's rating above the anchor.
    pub fn rating(&self, player: usize) -> Estimate {
        self.contrast(|other| f64::from(u8::from(other == player)))
    }

    /// A player's rating above the mean of the pool: how well its place in the pool is known.
    pub fn above_pool(&self, player: usize) -> Estimate {
        let share = 1.0 / self.players.len() as f64;
        self.contrast(|other| if other == player { 1.0 - share } else { -share })
    }

    /// How much stronger `first` is than `second`.
    pub fn difference(&self, first: usize, second: usize) -> Estimate {
        let (sigma, mean) = (&self.covariance, self.strengths[first] - self.strengths[second]);
        let variance = sigma.at(first, first) + sigma.at(second, second) - 2.0 * sigma.at(first, second);
        Estimate { elo: ELO * mean, error: ELO * variance.max(0.0).sqrt() }
    }

    /// A weighted sum of ratings above the anchor, with the error that their correlations give it.
    pub fn contrast(&self, weight: impl Fn(usize) -> f64) -> Estimate {
        let weights: Vec<f64> = (0..self.players.len()).map(weight).collect();
        let mean: f64 = weights.iter().zip(&self.strengths).map(|(weight, strength)| weight * strength).sum();
        Estimate { elo: ELO * mean, error: ELO * self.covariance.form(&weights).max(0.0).sqrt() }
    }

    /// What playing Black is worth.
    pub fn first_move(&self) -> Estimate {
        self.first_move
    }

    /// The chances when `black` meets `white`.
    pub fn chances(&self, black: usize, white: usize) -> Chances {
        Chances::of(self.strengths[black] - self.strengths[white] + self.first_move.elo / ELO, self.draws)
    }

    /// Davidson's draw parameter ln ν; `None` when no game was drawn, and draws are taken to be impossible.
    pub fn draws(&self) -> Option<f64> {
        self.draws
    }

    /// The covariance of the strengths in natural units; the anchor's row is zero.
    pub(crate) fn covariance(&self) -> &Matrix {
        &self.covariance
    }

    /// Laplace's approximation of ln p(results | prior), up to a constant of the tally: what to compare priors by.
    pub fn log_evidence(&self) -> f64 {
        self.log_evidence
    }
}

/// The mean and covariance of a mixture of posteriors of one pool, by the laws of total expectation and variance.
fn mix(parts: impl Iterator<Item = (f64, Ratings)>) -> Ratings {
    let parts: Vec<(f64, Ratings)> = parts.collect();
    let total: f64 = parts.iter().map(|(weight, _)| weight).sum();
    let average =
        |of: &dyn Fn(&Ratings) -> f64| parts.iter().map(|(weight, part)| weight / total * of(part)).sum::<f64>();
    let players = parts[0].1.players.clone();
    let strengths: Vec<f64> = (0..players.len()).map(|player| average(&|part| part.strengths[player])).collect();
    let mut covariance = Matrix::zero(players.len());
    for (weight, part) in &parts {
        let shift: Vec<f64> = part.strengths.iter().zip(&strengths).map(|(own, mean)| own - mean).collect();
        covariance.add(weight / total, &part.covariance);
        covariance.subtract_outer(-weight / total, &shift);
    }
    let elo = average(&|part| part.first_move.elo);
    let variance = average(&|part| part.first_move.error.powi(2) + (part.first_move.elo - elo).powi(2));
    Ratings {
        players,
        strengths,
        covariance,
        first_move: Estimate { elo, error: variance.sqrt() },
        draws: parts[0].1.draws.map(|_| average(&|part| part.draws.unwrap_or_default())),
        log_evidence: average(&|part| part.log_evidence),
    }
}

impl Estimate {
    /// Half of the interval that holds the true value with 95 %.
    pub fn margin(self) -> f64 {
        1.959_964 * self.error
    }
}

#[cfg(test)]
mod coverage;
#[cfg(test)]
mod fixture;
#[cfg(test)]
mod tests;
