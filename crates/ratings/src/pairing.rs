//! Which two players should meet next.

use std::collections::BTreeMap;
use std::fmt;

use rand::{Rng, RngExt};

use crate::matrix::Matrix;
use crate::strengths::{Chances, ELO, Estimate, Ratings};

/// Pairs that teach at least this share of what the best pair teaches have an equal claim.
const EQUAL_CLAIM: f64 = 0.95;

/// The share of pairs that are drawn at random. A model of strengths that is wrong somewhere, as one number for each
/// player is wrong where A beats B beats C beats A, would never look there on its own.
const RANDOM_SHARE: f64 = 0.1;

/// Random pairs are drawn among players whose game is no foregone conclusion: within this many Elo, if there are any.
const RANDOM_WITHIN: f64 = 400.0;

/// Games that are being played and have no result yet, by pair.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct InFlight(BTreeMap<(usize, usize), u32>);

impl InFlight {
    /// Counts `games` more between two players, in either order.
    pub fn add(&mut self, one: usize, other: usize, games: u32) {
        *self.0.entry((one.min(other), one.max(other))).or_default() += games;
    }

    /// Games being played between two players.
    pub fn between(&self, one: usize, other: usize) -> u32 {
        self.0.get(&(one.min(other), one.max(other))).copied().unwrap_or_default()
    }
}

/// Two players who should meet, the one that joined the pool first named first, and why.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Choice {
    /// Place of the first player in the ratings.
    pub first: usize,
    /// Place of the second player.
    pub second: usize,
    /// Why these two.
    pub reason: Reason,
}

/// Why two players should meet. It prints as a sentence.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Reason {
    /// Their games teach more than others.
    Instructive {
        /// What is known of the difference now, the games in flight counted as if they were over.
        before: Estimate,
        /// The expected error of the difference after the games, in Elo.
        after: f64,
        /// Pairs whose games teach about as much.
        equals: usize,
    },
    /// Drawn at random, to find out where the ratings mislead.
    Random {
        /// What is known of the difference now.
        before: Estimate,
    },
}

/// Chooses the pair whose next `games` games are expected to teach the ratings most.
///
/// What they teach is the information ½·ln(1 + w·v) of the D-optimal design: v is the variance of the difference in
/// natural units, w the expected Fisher information of the games, p(1 − p) each without draws (Glickman and Jensen,
/// Journal of Statistical Planning and Inference 127, 2005). Games in flight have already narrowed v. `ages` are the
/// players' model numbers; among equal claims those of near rating and distant age come first.
///
/// One choice in ten is drawn at random instead. The choice is a function of the arguments. `None` when there are
/// fewer than two players.
///
/// # Panics
/// When there is not one age for each player.
pub fn pair_uncertain(
    ratings: &Ratings,
    ages: &[u32],
    in_flight: &InFlight,
    games: u32,
    rng: &mut impl Rng,
) -> Option<Choice> {
    assert_eq!(ages.len(), ratings.players().len(), "every player has an age");
    let outlook = Outlook::new(ratings, in_flight);
    let all: Vec<(usize, usize)> =
        (0..ages.len()).flat_map(|second| (0..second).map(move |first| (first, second))).collect();
    if rng.random_bool(RANDOM_SHARE) {
        let near = |&&(a, b): &&(usize, usize)| outlook.difference(a, b).elo.abs() <= RANDOM_WITHIN;
        let close: Vec<(usize, usize)> = all.iter().filter(near).copied().collect();
        let (first, second) = draw(if close.is_empty() { &all } else { &close }, rng)?;
        return Some(Choice { first, second, reason: Reason::Random { before: outlook.difference(first, second) } });
    }
    let lessons: Vec<f64> = all.iter().map(|&(a, b)| outlook.lesson(a, b, games)).collect();
    let best = lessons.iter().copied().fold(0.0, f64::max);
    let equals: Vec<(usize, usize)> = all
        .into_iter()
        .zip(&lessons)
        .filter(|&(_, &lesson)| lesson >= EQUAL_CLAIM * best)
        .map(|(pair, _)| pair)
        .collect();
    let claim = |&(a, b): &(usize, usize)| near_and_distant(outlook.difference(a, b), ages[a].abs_diff(ages[b]));
    let top = equals.iter().map(claim).fold(f64::NEG_INFINITY, f64::max);
    let favourites: Vec<(usize, usize)> = equals.iter().copied().filter(|pair| claim(pair) >= top).collect();
    let (first, second) = draw(&favourites, rng)?;
    let before = outlook.difference(first, second);
    let after = before.error / outlook.narrowing(first, second, games).sqrt();
    Some(Choice { first, second, reason: Reason::Instructive { before, after, equals: equals.len() } })
}

/// How near two players are in rating and how distant in age: ages apart for every 100 Elo between them, and one more
/// so that equal players do not claim everything.
fn near_and_distant(difference: Estimate, age: u32) -> f64 {
    f64::from(age) / (1.0 + difference.elo.abs() / 100.0)
}

fn draw(pairs: &[(usize, usize)], rng: &mut impl Rng) -> Option<(usize, usize)> {
    if pairs.is_empty() { None } else { Some(pairs[rng.random_range(0..pairs.len())]) }
}

/// The ratings as they will be known when the games in flight are over.
struct Outlook<'a> {
    ratings: &'a Ratings,
    covariance: Matrix,
}

impl<'a> Outlook<'a> {
    fn new(ratings: &'a Ratings, in_flight: &InFlight) -> Outlook<'a> {
        let mut outlook = Outlook { ratings, covariance: ratings.covariance().clone() };
        for (&(a, b), &games) in &in_flight.0 {
            outlook.foresee(a, b, games);
        }
        outlook
    }

    /// Narrows the covariance as `games` games between `a` and `b` will: Σ − w·Σccᵀ·Σ / (1 + w·cᵀΣc), c = e_a − e_b.
    fn foresee(&mut self, a: usize, b: usize, games: u32) {
        let weight = self.information(a, b, games) / self.narrowing(a, b, games);
        let column: Vec<f64> = self.covariance.row(a).iter().zip(self.covariance.row(b)).map(|(a, b)| a - b).collect();
        self.covariance.subtract_outer(weight, &column);
    }

    /// Nats that `games` games teach about the difference.
    fn lesson(&self, a: usize, b: usize, games: u32) -> f64 {
        0.5 * self.narrowing(a, b, games).ln()
    }

    /// 1 + w·v: what the games divide the variance of the difference by.
    fn narrowing(&self, a: usize, b: usize, games: u32) -> f64 {
        1.0 + self.information(a, b, games) * self.variance(a, b)
    }

    fn variance(&self, a: usize, b: usize) -> f64 {
        (self.covariance.at(a, a) + self.covariance.at(b, b) - 2.0 * self.covariance.at(a, b)).max(0.0)
    }

    fn difference(&self, a: usize, b: usize) -> Estimate {
        Estimate { error: ELO * self.variance(a, b).sqrt(), ..self.ratings.difference(a, b) }
    }

    /// The information of `games` games, expected over what the difference may be. Colours alternate, so the first
    /// move is left out.
    fn information(&self, a: usize, b: usize, games: u32) -> f64 {
        let (mean, sd) = (self.ratings.difference(a, b).elo / ELO, self.variance(a, b).sqrt());
        let draws = self.ratings.draws();
        f64::from(games) * normal_mean(|z| Chances::of(mean + sd * z, draws).information())
    }
}

/// The mean of `f` under the standard normal distribution, by Gauss and Hermite's nine points, as in Abramowitz and
/// Stegun table 25.10 with x·√2 and w/√π. Exact for polynomials of degree 17.
fn normal_mean(f: impl Fn(f64) -> f64) -> f64 {
    const POINTS: [(f64, f64); 4] = [
        (1.023_255_663_789_132_6, 0.244_097_502_894_939_4),
        (2.076_847_978_677_830_5, 0.049_916_406_765_217_9),
        (3.205_429_002_856_47, 0.002_789_141_321_231_8),
        (4.512_745_863_399_783, 0.000_022_345_844_007_7),
    ];
    const MIDDLE: f64 = 0.406_349_206_349_206_3;
    MIDDLE * f(0.0) + POINTS.iter().map(|&(z, weight)| weight * (f(z) + f(-z))).sum::<f64>()
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Reason::Instructive { before, after, equals } => {
                write!(
                    f,
                    "the difference of {:+.0} Elo is known to ±{:.0} and will be to ±{:.0}",
                    before.elo,
                    before.margin(),
                    Estimate { error: *after, ..*before }.margin()
                )?;
                match equals {
                    0 | 1 => Ok(()),
                    _ => write!(f, ", nearest in rating and farthest in age of {equals} such pairs"),
                }
            }
            Reason::Random { before } => {
                write!(
                    f,
                    "drawn at random to test the ratings, which say {:+.0} ±{:.0} Elo",
                    before.elo,
                    before.margin()
                )
            }
        }
    }
}

#[cfg(test)]
mod simulation;
#[cfg(test)]
mod tests;
