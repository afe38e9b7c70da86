//! The most probable strengths, by Newton's method.

use super::chances::{Chances, log_chances};
use super::prior::{Belief, Mark};
use super::{ELO, Prior, RatingError};
use crate::matrix::{Cholesky, Matrix, dot};
use crate::results::{PairResults, Score};

/// Steps after which something is wrong; six to ten are usual.
const STEPS: usize = 100;

/// The squared length of a step, in standard errors, that is too short to matter.
const SHORT: f64 = 1e-18;

/// The factor by which an old Hessian must reduce the squared length of the step to be reused.
const GOOD_ENOUGH: f64 = 0.01;

/// Where each unknown stands among the parameters: strengths that are not fixed, then the middle of the pool, the first
/// move and draws, each if it is unknown.
pub(super) struct Layout {
    /// By player.
    strengths: Vec<Spot>,
    middle: Spot,
    first_move: Option<usize>,
    draws: Option<usize>,
    length: usize,
}

/// What a strength is.
#[derive(Clone, Copy)]
enum Spot {
    Fixed(f64),
    Unknown(usize),
}

/// The top of the posterior.
pub(super) struct Optimum {
    pub(super) at: Vec<f64>,
    /// Minus the Hessian of the log posterior.
    pub(super) precision: Cholesky,
    pub(super) log_posterior: f64,
}

impl Layout {
    pub(super) fn new(results: &PairResults, prior: &Prior) -> Layout {
        let mut length = 0;
        let mut next = || {
            length += 1;
            length - 1
        };
        let mut strengths = vec![None; results.players().len()];
        prior.fixed.iter().for_each(|&(player, elo)| strengths[player] = Some(Spot::Fixed(elo / ELO)));
        let strengths = strengths.into_iter().map(|spot| spot.unwrap_or_else(|| Spot::Unknown(next()))).collect();
        let ties_to = |mark| prior.ties.iter().any(|tie| tie.to == mark);
        let held = !prior.fixed.is_empty() || ties_to(Mark::Zero);
        let middle = if held && ties_to(Mark::Middle) { Spot::Unknown(next()) } else { Spot::Fixed(0.0) };
        let first_move = (prior.first_move != Belief::Zero).then(&mut next);
        // Without a drawn game the likelihood is largest at ν = 0, where it is Bradley and Terry's.
        let draws = (results.total().draws > 0).then(&mut next);
        Layout { strengths, middle, first_move, draws, length }
    }

    pub(super) fn first_move(&self) -> Option<usize> {
        self.first_move
    }

    pub(super) fn draws(&self) -> Option<usize> {
        self.draws
    }

    /// The strengths of all players.
    pub(super) fn strengths(&self, at: &[f64]) -> Vec<f64> {
        let strength = |spot: &Spot| match *spot {
            Spot::Fixed(strength) => strength,
            Spot::Unknown(index) => at[index],
        };
        self.strengths.iter().map(strength).collect()
    }

    /// The covariance of all players.
    pub(super) fn covariance(&self, inverse: &Matrix) -> Matrix {
        let mut covariance = Matrix::zero(self.strengths.len());
        for (row, i) in self.strengths.iter().enumerate() {
            for (column, j) in self.strengths.iter().enumerate() {
                if let (Spot::Unknown(i), Spot::Unknown(j)) = (i, j) {
                    covariance.set(row, column, inverse.at(*i, *j));
                }
            }
        }
        covariance
    }

    /// The covariance of all players with the first move.
    pub(super) fn with_first_move(&self, inverse: &Matrix) -> Vec<f64> {
        let covariance = |spot: &Spot| match (*spot, self.first_move) {
            (Spot::Unknown(index), Some(first_move)) => inverse.at(index, first_move),
            _ => 0.0,
        };
        self.strengths.iter().map(covariance).collect()
    }

    /// `a` − `b`.
    fn difference(&self, a: Spot, b: Spot) -> Row {
        let mut row = Row::default();
        for (spot, sign) in [(a, 1.0), (b, -1.0)] {
            match spot {
                Spot::Fixed(strength) => row.constant += sign * strength,
                Spot::Unknown(index) => row.push(index, sign),
            }
        }
        row
    }

    /// d of a game.
    fn game(&self, black: usize, white: usize) -> Row {
        let mut row = self.difference(self.strengths[black], self.strengths[white]);
        self.first_move.into_iter().for_each(|index| row.push(index, 1.0));
        row
    }

    /// The normal beliefs: rows that are about 0, each with its standard deviation in natural units.
    fn beliefs<'a>(&'a self, prior: &'a Prior) -> impl Iterator<Item = (Row, f64)> + 'a {
        let ties = prior.ties.iter().map(|tie| {
            let to = match tie.to {
                Mark::Player(player) => self.strengths[player],
                Mark::Middle => self.middle,
                Mark::Zero => Spot::Fixed(0.0),
            };
            let mut row = self.difference(self.strengths[tie.player], to);
            row.constant -= tie.elo / ELO;
            (row, tie.sd / ELO)
        });
        let beside = |index: Option<usize>, belief: Belief, unit: f64| match (index, belief) {
            (Some(index), Belief::Normal(sd)) => Some((Row::of(index), sd / unit)),
            _ => None,
        };
        ties.chain(beside(self.first_move, prior.first_move, ELO)).chain(beside(self.draws, prior.draws, 1.0))
    }
}

/// A sum of a few unknowns and a constant.
#[derive(Clone, Copy, Default)]
struct Row {
    entries: [(usize, f64); 3],
    length: usize,
    constant: f64,
}

impl Row {
    fn of(index: usize) -> Row {
        let mut row = Row::default();
        row.push(index, 1.0);
        row
    }

    fn push(&mut self, index: usize, factor: f64) {
        self.entries[self.length] = (index, factor);
        self.length += 1;
    }

    fn entries(&self) -> &[(usize, f64)] {
        &self.entries[..self.length]
    }

    fn value(&self, at: &[f64]) -> f64 {
        self.constant + self.entries().iter().map(|&(index, factor)| factor * at[index]).sum::<f64>()
    }

    fn add_to(&self, gradient: &mut [f64], weight: f64) {
        for &(index, factor) in self.entries() {
            gradient[index] += weight * factor;
        }
    }
}

/// A posterior to climb.
pub(super) struct Posterior<'a> {
    prior: &'a Prior,
    layout: &'a Layout,
    /// Every pairing that was played, as the row of its d.
    games: Vec<(Row, Score)>,
}

impl<'a> Posterior<'a> {
    pub(super) fn new(results: &PairResults, prior: &'a Prior, layout: &'a Layout) -> Posterior<'a> {
        let games = results.scores().map(|(black, white, score)| (layout.game(black, white), score)).collect();
        Posterior { prior, layout, games }
    }

    /// Climbs to the top, from `start` if one is known that is near. The log posterior is concave, so there is only
    /// one.
    ///
    /// As long as the Hessian of an earlier place leads up well it is used again: for many players, taking it apart is
    /// what costs time. The last one is that of the top.
    pub(super) fn climb(&self, start: Option<&[f64]>) -> Result<Optimum, RatingError> {
        let mut at = start.map_or_else(|| self.start(), <[f64]>::to_vec);
        let mut height = self.height(&at);
        let mut old: Option<(Cholesky, f64)> = None;
        for _ in 0..STEPS {
            let gradient = self.gradient(&at);
            let tried = old.take().and_then(|(precision, before)| {
                let (step, length) = step(&precision, &gradient);
                (length >= SHORT && length < GOOD_ENOUGH * before).then_some((precision, step, length))
            });
            let (precision, step, length) = match tried {
                Some(tried) => tried,
                None => {
                    let precision = Cholesky::of(&self.curvature(&at)).ok_or(RatingError::Undetermined)?;
                    let (step, length) = step(&precision, &gradient);
                    if length < SHORT {
                        return Ok(Optimum { at, precision, log_posterior: height });
                    }
                    (precision, step, length)
                }
            };
            (at, height) = uphill(&at, height, &step, |at| self.height(at));
            old = Some((precision, length));
        }
        Err(RatingError::NotConverged(STEPS))
    }

    /// Equal strengths, at the mean of the anchors.
    fn start(&self) -> Vec<f64> {
        let fixed = &self.prior.fixed;
        let middle = fixed.iter().map(|(_, elo)| elo / ELO).sum::<f64>() / fixed.len().max(1) as f64;
        let mut at = vec![middle; self.layout.length];
        [self.layout.first_move, self.layout.draws].into_iter().flatten().for_each(|index| at[index] = 0.0);
        at
    }

    fn height(&self, at: &[f64]) -> f64 {
        let draws = self.layout.draws.map(|index| at[index]);
        let games = self.games.iter().map(|(row, score)| {
            let logs = log_chances(row.value(at), draws);
            let counts = [score.black, score.white, score.draws];
            // An impossible outcome that did not happen costs nothing: 0·(−∞) is 0 here.
            let seen = counts.into_iter().zip(logs).filter(|&(count, _)| count > 0);
            seen.map(|(count, log)| f64::from(count) * log).sum::<f64>()
        });
        let beliefs = self.layout.beliefs(self.prior).map(|(row, sd)| -0.5 * (row.value(at) / sd).powi(2) - sd.ln());
        games.sum::<f64>() + beliefs.sum::<f64>()
    }

    fn gradient(&self, at: &[f64]) -> Vec<f64> {
        let mut gradient = vec![0.0; at.len()];
        let draws = self.layout.draws.map(|index| at[index]);
        for (row, score) in &self.games {
            let chances = Chances::of(row.value(at), draws);
            let games = f64::from(score.games());
            let points = f64::from(score.black) + 0.5 * f64::from(score.draws);
            row.add_to(&mut gradient, points - games * chances.expected());
            if let Some(index) = self.layout.draws {
                gradient[index] += f64::from(score.draws) - games * chances.draw;
            }
        }
        for (row, sd) in self.layout.beliefs(self.prior) {
            row.add_to(&mut gradient, -row.value(at) / (sd * sd));
        }
        gradient
    }

    /// Minus the Hessian.
    fn curvature(&self, at: &[f64]) -> Matrix {
        let mut curvature = Matrix::zero(at.len());
        let draws = self.layout.draws.map(|index| at[index]);
        for (row, score) in &self.games {
            let chances = Chances::of(row.value(at), draws);
            let games = f64::from(score.games());
            curvature.add_outer(games * chances.information(), row.entries());
            if let Some(index) = self.layout.draws {
                curvature.add_outer(games * chances.draw_information(), &[(index, 1.0)]);
                curvature.add_cross(games * chances.shared_information(), row.entries(), index);
            }
        }
        for (row, sd) in self.layout.beliefs(self.prior) {
            curvature.add_outer(1.0 / (sd * sd), row.entries());
        }
        curvature
    }
}

/// Newton's step, and its squared length in standard errors.
fn step(precision: &Cholesky, gradient: &[f64]) -> (Vec<f64>, f64) {
    let step = precision.solve(gradient);
    let length = dot(gradient, &step);
    (step, length)
}

/// Takes the step, or a part of it where the whole would lead down.
fn uphill(at: &[f64], height: f64, step: &[f64], log_posterior: impl Fn(&[f64]) -> f64) -> (Vec<f64>, f64) {
    // Near the top a good step changes the height by less than the sum's rounding.
    let rounding = 1e-12 * (1.0 + height.abs());
    let mut share = 1.0;
    loop {
        let next: Vec<f64> = at.iter().zip(step).map(|(x, s)| x + share * s).collect();
        let reached = log_posterior(&next);
        if reached >= height - rounding || share < 1e-9 {
            return (next, reached);
        }
        share *= 0.5;
    }
}
