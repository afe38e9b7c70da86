//! The most probable strengths, by Newton's method.

use super::chances::{Chances, log_chances};
use super::{ELO, Prior, RatingError};
use crate::matrix::{Cholesky, Matrix};
use crate::tally::Tally;

/// Steps after which something is wrong; six to ten are usual.
const STEPS: usize = 100;

/// The squared length of a step, in standard errors, that is too short to matter.
const SHORT: f64 = 1e-18;

/// Standard deviation of ln ν: wide, and only there so that a table of nothing but draws has an answer.
const DRAWS_SD: f64 = 3.0;

/// Where each unknown stands among the parameters: the strengths but the anchor's, the first move, draws if any.
pub(super) struct Layout {
    /// By player; `None` for the anchor.
    strengths: Vec<Option<usize>>,
    first_move: usize,
    draws: Option<usize>,
}

/// The top of the posterior.
pub(super) struct Optimum {
    pub(super) at: Vec<f64>,
    /// Minus the Hessian of the log posterior.
    pub(super) precision: Cholesky,
    pub(super) log_posterior: f64,
}

impl Layout {
    pub(super) fn new(tally: &Tally, prior: &Prior) -> Layout {
        let place = |player| match prior.anchor {
            Some(anchor) if player == anchor => None,
            Some(anchor) if player > anchor => Some(player - 1),
            _ => Some(player),
        };
        let strengths: Vec<Option<usize>> = (0..tally.players().len()).map(place).collect();
        let first_move = strengths.iter().flatten().count();
        // Without a drawn game the likelihood is largest at ν = 0, where it is Bradley and Terry's.
        let draws = (tally.total().draws > 0).then_some(first_move + 1);
        Layout { strengths, first_move, draws }
    }

    pub(super) fn first_move(&self) -> usize {
        self.first_move
    }

    pub(super) fn draws(&self) -> Option<usize> {
        self.draws
    }

    /// The strengths of all players.
    pub(super) fn strengths(&self, at: &[f64]) -> Vec<f64> {
        self.strengths.iter().map(|index| index.map_or(0.0, |index| at[index])).collect()
    }

    /// The covariance of all players.
    pub(super) fn covariance(&self, inverse: &Matrix) -> Matrix {
        let mut covariance = Matrix::zero(self.strengths.len());
        for (row, i) in self.strengths.iter().enumerate() {
            for (column, j) in self.strengths.iter().enumerate() {
                covariance.set(row, column, i.zip(*j).map_or(0.0, |(i, j)| inverse.at(i, j)));
            }
        }
        covariance
    }

    fn len(&self) -> usize {
        self.first_move + 1 + usize::from(self.draws.is_some())
    }

    /// `a` − `b` as a sparse row; `b` may be the scale's zero.
    fn difference(&self, a: usize, b: Option<usize>) -> Vec<(usize, f64)> {
        let plus = self.strengths[a].map(|index| (index, 1.0));
        let minus = b.and_then(|b| self.strengths[b]).map(|index| (index, -1.0));
        plus.into_iter().chain(minus).collect()
    }

    /// d of a game as a sparse row.
    fn game(&self, black: usize, white: usize) -> Vec<(usize, f64)> {
        let mut row = self.difference(black, Some(white));
        row.push((self.first_move, 1.0));
        row
    }

    /// The normal beliefs: sparse rows, each with its standard deviation in natural units.
    fn beliefs<'a>(&'a self, prior: &'a Prior) -> impl Iterator<Item = (Vec<(usize, f64)>, f64)> + 'a {
        let ties = prior.ties.iter().map(|tie| (self.difference(tie.player, tie.to), tie.sd / ELO));
        let first_move = (vec![(self.first_move, 1.0)], prior.first_move / ELO);
        let draws = self.draws.map(|index| (vec![(index, 1.0)], DRAWS_SD));
        ties.chain([first_move]).chain(draws)
    }
}

/// Climbs from equal strengths to the top. The log posterior is concave, so there is only one.
pub(super) fn climb(tally: &Tally, prior: &Prior, layout: &Layout) -> Result<Optimum, RatingError> {
    let mut at = vec![0.0; layout.len()];
    let mut height = log_posterior(tally, prior, layout, &at);
    for _ in 0..STEPS {
        let (gradient, curvature) = slope(tally, prior, layout, &at);
        let precision = Cholesky::of(&curvature).ok_or(RatingError::Undetermined)?;
        let step = precision.solve(&gradient);
        if gradient.iter().zip(&step).map(|(g, s)| g * s).sum::<f64>() < SHORT {
            return Ok(Optimum { at, precision, log_posterior: height });
        }
        (at, height) = uphill(&at, height, &step, |at| log_posterior(tally, prior, layout, at));
    }
    Err(RatingError::NotConverged(STEPS))
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

fn value(row: &[(usize, f64)], at: &[f64]) -> f64 {
    row.iter().map(|&(index, factor)| factor * at[index]).sum()
}

fn log_posterior(tally: &Tally, prior: &Prior, layout: &Layout, at: &[f64]) -> f64 {
    let draws = layout.draws.map(|index| at[index]);
    let games = tally.scores().map(|(black, white, score)| {
        let logs = log_chances(value(&layout.game(black, white), at), draws);
        let counts = [score.black, score.white, score.draws];
        // An impossible outcome that did not happen costs nothing: 0·(−∞) is 0 here.
        counts
            .into_iter()
            .zip(logs)
            .filter(|&(count, _)| count > 0)
            .map(|(count, log)| f64::from(count) * log)
            .sum::<f64>()
    });
    let beliefs = layout.beliefs(prior).map(|(row, sd)| -0.5 * (value(&row, at) / sd).powi(2) - sd.ln());
    games.sum::<f64>() + beliefs.sum::<f64>()
}

/// The gradient of the log posterior, and minus its Hessian.
fn slope(tally: &Tally, prior: &Prior, layout: &Layout, at: &[f64]) -> (Vec<f64>, Matrix) {
    let mut gradient = vec![0.0; at.len()];
    let mut curvature = Matrix::zero(at.len());
    let draws = layout.draws.map(|index| at[index]);
    for (black, white, score) in tally.scores() {
        let row = layout.game(black, white);
        let chances = Chances::of(value(&row, at), draws);
        let games = f64::from(score.games());
        let points = f64::from(score.black) + 0.5 * f64::from(score.draws);
        add(&mut gradient, points - games * chances.expected(), &row);
        curvature.add_outer(games * chances.information(), &row);
        if let Some(index) = layout.draws {
            gradient[index] += f64::from(score.draws) - games * chances.draw;
            curvature.add_outer(games * chances.draw_information(), &[(index, 1.0)]);
            curvature.add_cross(games * chances.shared_information(), &row, index);
        }
    }
    for (row, sd) in layout.beliefs(prior) {
        add(&mut gradient, -value(&row, at) / (sd * sd), &row);
        curvature.add_outer(1.0 / (sd * sd), &row);
    }
    (gradient, curvature)
}

fn add(gradient: &mut [f64], weight: f64, row: &[(usize, f64)]) {
    for &(index, factor) in row {
        gradient[index] += weight * factor;
    }
}
