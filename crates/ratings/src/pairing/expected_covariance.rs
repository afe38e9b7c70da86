//! The ratings as they will be known when games without a result are over.

use std::rc::Rc;

use super::Knowledge;
use super::objective::{Contrast, Mean};
use crate::bradley_terry::{Chances, ELO, Estimate, Ratings};
use crate::matrix::Matrix;

/// The covariance Σ as it will be, and what it says about an objective Σ_k ω_k·aᵀ_k·Σ·a_k.
///
/// Games between i and j with information w, c = e_i − e_j and v = cᵀΣc take w·Σ_k ω_k·(aᵀ_kΣc)²/(1 + w·v) off the
/// objective: the V-optimal design (Chaloner and Verdinelli, Statistical Science 10, 1995). With M =
/// Σ_k ω_k·Σa_k·aᵀ_kΣ that is w·cᵀMc/(1 + w·v), a few operations for each pair.
pub(super) struct ExpectedCovariance<'a> {
    ratings: &'a Ratings,
    covariance: Matrix,
    goal: Vec<Contrast>,
    /// By contrast: √ω·Σa.
    lines: Vec<Vec<f64>>,
    /// M.
    relevance: Matrix,
}

impl<'a> ExpectedCovariance<'a> {
    pub(super) fn new(knowledge: &Knowledge<'a>, goal: Vec<Contrast>) -> ExpectedCovariance<'a> {
        let covariance = knowledge.ratings.covariance().clone();
        let lines: Vec<Vec<f64>> = lines(&goal, &covariance);
        let relevance = Matrix::sum_of_squares(covariance.side(), &lines);
        let mut expected = ExpectedCovariance { ratings: knowledge.ratings, covariance, goal, lines, relevance };
        for (&(a, b), &games) in &knowledge.in_flight.0 {
            expected.foresee(a, b, games);
        }
        expected
    }

    /// Narrows the covariance as `games` games between `a` and `b` will: Σ − k·u·uᵀ with u = Σc, k = w/(1 + w·v).
    ///
    /// Then Σa becomes Σa − k·u·(uᵀa), and M becomes M − k·(u·zᵀ + z·uᵀ) + k²·g·u·uᵀ with z = Σ_k ω_k·Σa_k·(aᵀ_ku) and
    /// g = Σ_k ω_k·(aᵀ_ku)².
    pub(super) fn foresee(&mut self, a: usize, b: usize, games: u32) {
        let information = self.information(a, b, games);
        let share = information / (1.0 + information * self.variance(a, b));
        let column: Vec<f64> = self.covariance.row(a).iter().zip(self.covariance.row(b)).map(|(a, b)| a - b).collect();
        let mut pull = vec![0.0; column.len()];
        let mut square = 0.0;
        for (contrast, line) in self.goal.iter().zip(&mut self.lines) {
            let seen = contrast.weight.sqrt() * contrast.of(&column);
            square += seen * seen;
            pull.iter_mut().zip(line.iter()).for_each(|(pull, entry)| *pull += seen * entry);
            line.iter_mut().zip(&column).for_each(|(entry, u)| *entry -= share * seen * u);
        }
        pull.iter_mut().zip(&column).for_each(|(z, u)| *z = share * *z - 0.5 * share * share * square * u);
        self.relevance.subtract_both(&column, &pull);
        self.covariance.subtract_outer(share, &column);
    }

    /// What `games` games between `a` and `b` are expected to take off the variance of the objective, in natural
    /// units.
    pub(super) fn reduction(&self, a: usize, b: usize, games: u32) -> f64 {
        let information = self.information(a, b, games);
        information * form(&self.relevance, a, b) / (1.0 + information * self.variance(a, b))
    }

    /// The error of the objective, now and after `games` games between `a` and `b`: the root of the mean variance, in
    /// Elo.
    pub(super) fn uncertainty(&self, a: usize, b: usize, games: u32) -> [f64; 2] {
        let now: f64 =
            self.goal.iter().zip(&self.lines).map(|(contrast, line)| contrast.weight.sqrt() * contrast.of(line)).sum();
        [now, now - self.reduction(a, b, games)].map(|variance| ELO * variance.max(0.0).sqrt())
    }

    pub(super) fn difference(&self, a: usize, b: usize) -> Estimate {
        Estimate { error: ELO * self.variance(a, b).sqrt(), ..self.ratings.difference(a, b) }
    }

    /// Whether what was updated is what the covariance says.
    #[cfg(test)]
    pub(super) fn is_consistent(&self) -> bool {
        let lines: Vec<Vec<f64>> = lines(&self.goal, &self.covariance);
        let relevance = Matrix::sum_of_squares(self.covariance.side(), &lines);
        let near = |a: &[f64], b: &[f64]| a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-9);
        let rows = 0..self.covariance.side();
        lines.iter().zip(&self.lines).all(|(a, b)| near(a, b))
            && rows.into_iter().all(|row| near(relevance.row(row), self.relevance.row(row)))
    }

    fn variance(&self, a: usize, b: usize) -> f64 {
        form(&self.covariance, a, b)
    }

    /// The information of `games` games, expected over what the difference may be. Colours alternate, so the first
    /// move is omitted.
    fn information(&self, a: usize, b: usize, games: u32) -> f64 {
        let (mean, sd) = (self.ratings.difference(a, b).elo / ELO, self.variance(a, b).sqrt());
        let draws = self.ratings.draws();
        f64::from(games) * normal_mean(|z| Chances::of(mean + sd * z, draws).information())
    }
}

impl Contrast {
    /// aᵀx.
    fn of(&self, x: &[f64]) -> f64 {
        x[self.plus] - self.minus.iter().map(|&(player, weight)| weight * x[player]).sum::<f64>()
    }
}

/// √ω·Σa of every contrast. What several subtract is computed once.
fn lines(goal: &[Contrast], covariance: &Matrix) -> Vec<Vec<f64>> {
    let mut subtracted: Option<(&Mean, Vec<f64>)> = None;
    let mut lines = Vec::new();
    for contrast in goal {
        let mean = match subtracted.take() {
            Some((minus, mean)) if Rc::ptr_eq(minus, &contrast.minus) => mean,
            _ => mean_row(&contrast.minus, covariance),
        };
        let root = contrast.weight.sqrt();
        lines
            .push(covariance.row(contrast.plus).iter().zip(&mean).map(|(plus, minus)| root * (plus - minus)).collect());
        subtracted = Some((&contrast.minus, mean));
    }
    lines
}

/// A mean of rows, which are also columns.
fn mean_row(players: &[(usize, f64)], covariance: &Matrix) -> Vec<f64> {
    let mut mean = vec![0.0; covariance.side()];
    for &(player, weight) in players {
        mean.iter_mut().zip(covariance.row(player)).for_each(|(mean, entry)| *mean += weight * entry);
    }
    mean
}

/// cᵀMc with c = e_a − e_b.
fn form(matrix: &Matrix, a: usize, b: usize) -> f64 {
    (matrix.at(a, a) + matrix.at(b, b) - 2.0 * matrix.at(a, b)).max(0.0)
}

/// The mean of `f` under the standard normal distribution, by Gauss and Hermite's nine points, as in Abramowitz and
/// Stegun table 25.10 with x·√2 and w/√π. Exact for polynomials of degree 17.
pub(super) fn normal_mean(f: impl Fn(f64) -> f64) -> f64 {
    const POINTS: [(f64, f64); 4] = [
        (1.023_255_663_789_132_6, 0.244_097_502_894_939_4),
        (2.076_847_978_677_830_5, 0.049_916_406_765_217_9),
        (3.205_429_002_856_47, 0.002_789_141_321_231_8),
        (4.512_745_863_399_783, 0.000_022_345_844_007_7),
    ];
    const MIDDLE: f64 = 0.406_349_206_349_206_3;
    MIDDLE * f(0.0) + POINTS.iter().map(|&(z, weight)| weight * (f(z) + f(-z))).sum::<f64>()
}
