//! Whether one number for each player is enough.
//!
//! A pool in which A beats B, B beats C and C beats A has ratings like any other, and they say nothing true. Here the
//! results of every pair are compared with what the ratings expect of them.

use std::collections::BTreeMap;

use crate::bradley_terry::Ratings;
use crate::gamma::chi_squared_tail;
use crate::results::PairResults;

/// How far the results of all pairs are from what the ratings expect.
#[derive(Clone, Debug, PartialEq)]
pub struct GoodnessOfFit {
    /// Pearson's X² over the pairs: squared deviations of points, in the variance of points.
    pub chi_squared: f64,
    /// What it would be on average if the model were right.
    pub expected: f64,
    /// The probability that it would be at least as large if the model were right.
    pub p: f64,
    /// The pairs, most surprising first.
    pub residuals: Vec<Residual>,
}

/// How a pair did, and was expected to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Residual {
    /// Place of the player who did better than expected.
    pub first: usize,
    /// Place of the other.
    pub second: usize,
    /// Games between them.
    pub games: u32,
    /// Points that the first made in them.
    pub points: f64,
    /// Points that it was expected to make.
    pub expected: f64,
    /// The deviation in standard deviations, with regard to what these games themselves did to the ratings.
    pub deviations: f64,
}

/// The games of one pair, as moments of the points that the player of lower place makes.
#[derive(Clone, Copy, Default)]
struct Cell {
    games: u32,
    points: f64,
    expected: f64,
    variance: f64,
    /// The variance with Black minus that with White: how the expectation hangs on the first move.
    first_move: f64,
    fourth_cumulant: f64,
}

/// Compares the results of every pair with the ratings that were fitted to them.
///
/// The residuals of a fit are smaller than the errors of the games: by the leverage that a pair has on its own
/// expectation (Pregibon, Annals of Statistics 9, 1981). With few games to a pair X² is not distributed as χ²; its mean
/// and variance are known, so it is compared with the multiple of a χ² that has both (Satterthwaite, Biometrics
/// Bulletin 2, 1946). `None` when the games leave nothing over to test with.
pub fn goodness_of_fit(results: &PairResults, ratings: &Ratings) -> Option<GoodnessOfFit> {
    let mut cells: BTreeMap<(usize, usize), Cell> = BTreeMap::new();
    for (black, white, score) in results.scores() {
        let chances = ratings.chances(black, white);
        let games = f64::from(score.games());
        let points = f64::from(score.black) + 0.5 * f64::from(score.draws);
        let cell = cells.entry((black.min(white), black.max(white))).or_default();
        let as_black = black < white;
        let turned = |points: f64| if as_black { points } else { games - points };
        cell.games += score.games();
        cell.points += turned(points);
        cell.expected += turned(games * chances.expected());
        cell.variance += games * chances.information();
        cell.first_move += games * if as_black { chances.information() } else { -chances.information() };
        cell.fourth_cumulant += games * chances.fourth_cumulant();
    }
    let (mut chi_squared, mut expected, mut variance) = (0.0, 0.0, 0.0);
    let mut residuals = Vec::new();
    for (&(first, second), cell) in cells.iter().filter(|(_, cell)| cell.variance > 0.0) {
        let leverage = ratings.leverage(first, second, cell.variance, cell.first_move) / cell.variance;
        let free = (1.0 - leverage).max(0.0);
        let residual = cell.points - cell.expected;
        chi_squared += residual * residual / cell.variance;
        expected += free;
        variance += 2.0 * free + cell.fourth_cumulant / (cell.variance * cell.variance) * free * free;
        // A pair that alone decides its own expectation cannot deviate from it.
        if free > 1e-6 {
            residuals.push(residual_of((first, second), cell, residual / (cell.variance * free).sqrt()));
        }
    }
    residuals.sort_by(|a, b| b.deviations.total_cmp(&a.deviations));
    (expected > 1e-6 && variance > 0.0).then(|| {
        let scale = variance / (2.0 * expected);
        let p = chi_squared_tail(expected / scale, chi_squared / scale);
        GoodnessOfFit { chi_squared, expected, p, residuals }
    })
}

fn residual_of((first, second): (usize, usize), cell: &Cell, deviations: f64) -> Residual {
    let &Cell { games, points, expected, .. } = cell;
    if deviations >= 0.0 {
        return Residual { first, second, games, points, expected, deviations };
    }
    let (points, expected) = (f64::from(games) - points, f64::from(games) - expected);
    Residual { first: second, second: first, games, points, expected, deviations: -deviations }
}

#[cfg(test)]
mod tests;
