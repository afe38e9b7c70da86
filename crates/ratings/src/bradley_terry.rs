//! How strong the players are, and how sure that is.
//!
//! The model is Bradley and Terry's (Biometrika 39, 1952) with a first-move advantage and Davidson's draws, in the
//! form of Davidson and Beaver (Biometrics 33, 1977): see [`Chances`]. Strengths are maximum a posteriori under a
//! stated [`Prior`], found by Newton's method, and their covariance is the inverse of the exact Hessian there
//! (Laplace's approximation).
//!
//! Only differences of strengths mean anything. A rating is the difference to what the prior fixes, and every error
//! says against what it is: that scale, the mean of the pool, or another player.

mod chances;
mod error;
mod newton;
mod prior;

pub use chances::{Chances, ELO};
pub use error::RatingError;
pub use prior::{Anchor, Belief, Mark, Prior, Tie};

use record::statistics::margin;
use serde::Serialize;

use crate::gamma;
use crate::matrix::Matrix;
use crate::results::PairResults;
use newton::{Layout, Optimum, Posterior};

/// An estimate in Elo, normally distributed.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Estimate {
    /// The most probable value, in Elo.
    pub elo: f64,
    /// One standard error, in Elo.
    pub error: f64,
}

/// The weight of a part of a mixture, beside that of the heaviest, that changes no printed number.
const NEGLIGIBLE: f64 = 1e-6;

/// Ratings of a pool, with everything needed to compare its players.
#[derive(Clone, Debug)]
pub struct Ratings {
    players: Vec<String>,
    /// In natural units.
    strengths: Vec<f64>,
    /// Of the strengths, in natural units; the row of a fixed player is 0.
    covariance: Matrix,
    /// Of the strengths with the first move, in natural units.
    with_first_move: Vec<f64>,
    first_move: Estimate,
    draws: Option<f64>,
}

impl Ratings {
    /// Rates every player of the results, those without games by the prior alone.
    ///
    /// # Errors
    /// When the games and the prior together do not determine every rating.
    pub fn fit(results: &PairResults, prior: &Prior) -> Result<Ratings, RatingError> {
        let layout = Layout::new(results, prior);
        let top = Posterior::new(results, prior, &layout).climb(None)?;
        Ok(Ratings::at(results, &layout, &top))
    }

    fn at(results: &PairResults, layout: &Layout, top: &Optimum) -> Ratings {
        let inverse = top.precision.inverse();
        let first_move = layout.first_move().map_or(Estimate { elo: 0.0, error: 0.0 }, |index| Estimate {
            elo: ELO * top.at[index],
            error: ELO * inverse.at(index, index).sqrt(),
        });
        Ratings {
            strengths: layout.strengths(&top.at),
            covariance: layout.covariance(&inverse),
            with_first_move: layout.with_first_move(&inverse),
            first_move,
            draws: layout.draws().map(|index| top.at[index]),
            players: results.players().to_vec(),
        }
    }

    /// Rates the models of runs under [`Prior::walk`], averaged over its step with the weights that the results give
    /// each: its evidence by Laplace's approximation. `change` may say more about the prior. Also returns the most
    /// probable step, in Elo.
    ///
    /// Taking the most probable step alone would make the errors of a young run too small.
    ///
    /// # Errors
    /// As [`Ratings::fit`].
    pub fn of_runs(results: &PairResults, change: impl Fn(Prior) -> Prior) -> Result<(Ratings, f64), RatingError> {
        let steps: Vec<(f64, f64)> = Prior::steps().collect();
        let priors: Vec<Prior> = steps.iter().map(|&(step, _)| change(Prior::walk(results, step))).collect();
        // The priors differ in their widths only, so they share a layout.
        let layout = Layout::new(results, &priors[0]);
        let mut tops: Vec<Optimum> = Vec::new();
        let mut logs: Vec<f64> = Vec::new();
        for (prior, (_, log_probability)) in priors.iter().zip(&steps) {
            let near = tops.last().map(|top| top.at.as_slice());
            let top = Posterior::new(results, prior, &layout).climb(near)?;
            logs.push(top.log_evidence() + log_probability);
            tops.push(top);
            // Past its only peak the evidence falls, and wider steps have no weight either.
            let highest = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            if logs.last().is_some_and(|last| (last - highest).exp() < NEGLIGIBLE) {
                break;
            }
        }
        let best = (0..logs.len()).max_by(|&a, &b| logs[a].total_cmp(&logs[b])).expect("the grid has steps");
        let weighed = tops.iter().zip(&logs).map(|(top, log)| ((log - logs[best]).exp(), top));
        let parts = weighed.filter(|&(weight, _)| weight > NEGLIGIBLE);
        let ratings = mix(parts.map(|(weight, top)| (weight, Ratings::at(results, &layout, top))));
        Ok((ratings, steps[best].0))
    }

    /// The players, in the order of the results.
    pub fn players(&self) -> &[String] {
        &self.players
    }

    /// A player's rating on the scale of the prior. Its error is against what the prior fixes.
    pub fn rating(&self, player: usize) -> Estimate {
        Estimate { elo: ELO * self.strengths[player], error: ELO * self.covariance.at(player, player).sqrt() }
    }

    /// All ratings above the mean of the pool: how well each place in the pool is known.
    pub fn above_pool(&self) -> Vec<Estimate> {
        let all: Vec<usize> = (0..self.players.len()).collect();
        self.against_mean(&all, &all)
    }

    /// All ratings above the mean of these players, or of the pool where these are fewer than two. The error of one of
    /// them is that of the difference from the mean of the others: the mean of all contains the player itself and moves
    /// with it. Of two players, the error would be half of that of their difference. A player without others is 0,
    /// without an error.
    pub fn above(&self, players: &[usize]) -> Vec<Estimate> {
        let all: Vec<usize> = (0..self.players.len()).collect();
        let mean: &[usize] = if players.len() < 2 { &all } else { players };
        let mut above = self.against_mean(&all, mean);
        if mean.len() > 1 {
            // θ − (the mean of the others) = n/(n − 1) · (θ − the mean of all n).
            let scale = mean.len() as f64 / (mean.len() - 1) as f64;
            mean.iter().for_each(|&player| above[player].error *= scale);
        }
        above
    }

    /// The ratings of these players above their own mean.
    pub(crate) fn above_mean(&self, players: &[usize]) -> Vec<Estimate> {
        self.against_mean(players, players)
    }

    /// The ratings of some players above the mean of others.
    fn against_mean(&self, players: &[usize], others: &[usize]) -> Vec<Estimate> {
        let share = 1.0 / others.len() as f64;
        let mean = share * others.iter().map(|&other| self.strengths[other]).sum::<f64>();
        let with_mean = |player: usize| {
            let row = self.covariance.row(player);
            share * others.iter().map(|&other| row[other]).sum::<f64>()
        };
        let of_mean = share * others.iter().map(|&other| with_mean(other)).sum::<f64>();
        let estimate = |&player: &usize| {
            let variance = self.covariance.at(player, player) - 2.0 * with_mean(player) + of_mean;
            Estimate { elo: ELO * (self.strengths[player] - mean), error: ELO * variance.max(0.0).sqrt() }
        };
        players.iter().map(estimate).collect()
    }

    /// How much stronger `first` is than `second`.
    pub fn difference(&self, first: usize, second: usize) -> Estimate {
        let (sigma, mean) = (&self.covariance, self.strengths[first] - self.strengths[second]);
        let variance = sigma.at(first, first) + sigma.at(second, second) - 2.0 * sigma.at(first, second);
        Estimate { elo: ELO * mean, error: ELO * variance.max(0.0).sqrt() }
    }

    /// The probability that `first` is stronger than `second`; ½ for a player and itself.
    pub fn superiority(&self, first: usize, second: usize) -> f64 {
        let Estimate { elo, error } = self.difference(first, second);
        match error > 0.0 {
            true => gamma::normal(elo / error),
            // Both are fixed, so the difference is known.
            false if elo == 0.0 => 0.5,
            false => f64::from(u8::from(elo > 0.0)),
        }
    }

    /// A weighted sum of ratings on the scale of the prior, with the error that their correlations give it.
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

    /// The covariance of the strengths in natural units; the row of a fixed player is zero.
    pub(crate) fn covariance(&self) -> &Matrix {
        &self.covariance
    }

    /// The variance of a·(θ_first − θ_second) + b·γ, in natural units.
    pub(crate) fn leverage(&self, first: usize, second: usize, a: f64, b: f64) -> f64 {
        let difference = (self.difference(first, second).error / ELO).powi(2);
        let first_move = (self.first_move.error / ELO).powi(2);
        a * a * difference
            + b * b * first_move
            + 2.0 * a * b * (self.with_first_move[first] - self.with_first_move[second])
    }
}

/// The mean and covariance of a mixture of posteriors of one pool, by the laws of total expectation and variance.
fn mix(parts: impl Iterator<Item = (f64, Ratings)>) -> Ratings {
    let parts: Vec<(f64, Ratings)> = parts.collect();
    let total: f64 = parts.iter().map(|(weight, _)| weight).sum();
    // Around the first part, so that what all parts agree on stays exactly that.
    let average = |of: &dyn Fn(&Ratings) -> f64| {
        let base = of(&parts[0].1);
        base + parts.iter().map(|(weight, part)| weight / total * (of(part) - base)).sum::<f64>()
    };
    let players = parts[0].1.players.clone();
    let strengths: Vec<f64> = (0..players.len()).map(|player| average(&|part| part.strengths[player])).collect();
    let mut covariance = Matrix::zero(players.len());
    for (weight, part) in &parts {
        let shift: Vec<f64> = part.strengths.iter().zip(&strengths).map(|(own, mean)| own - mean).collect();
        covariance.add(weight / total, &part.covariance);
        covariance.subtract_outer(-weight / total, &shift);
    }
    let with_first_move = (0..players.len()).map(|player| {
        let shift = |part: &Ratings| (part.strengths[player] - strengths[player]) * part.first_move.elo / ELO;
        average(&|part| part.with_first_move[player] + shift(part))
    });
    let with_first_move = with_first_move.collect();
    let elo = average(&|part| part.first_move.elo);
    let variance = average(&|part| part.first_move.error.powi(2) + (part.first_move.elo - elo).powi(2));
    Ratings {
        players,
        strengths,
        covariance,
        with_first_move,
        first_move: Estimate { elo, error: variance.sqrt() },
        draws: parts[0].1.draws.map(|_| average(&|part| part.draws.unwrap_or_default())),
    }
}

impl Optimum {
    /// Laplace's approximation of ln p(results | prior), up to a constant of the results: what to compare priors by.
    fn log_evidence(&self) -> f64 {
        self.log_posterior - 0.5 * self.precision.log_determinant()
    }
}

impl Estimate {
    /// Half of the interval that holds the true value with 95 %.
    pub fn margin(self) -> f64 {
        margin(self.error)
    }
}

#[cfg(test)]
mod tests;
