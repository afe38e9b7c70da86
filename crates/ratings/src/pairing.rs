//! Choice of the next pairs.
//!
//! [`pairs`] chooses the pairs whose games are expected to be most informative about an [`Objective`]. The
//! `ExpectedCovariance` counts games in progress as finished.

mod expected_covariance;
mod knowledge;
mod objective;
mod reason;

use rand::{Rng, RngExt};

use crate::bradley_terry::{Estimate, Ratings};
use expected_covariance::ExpectedCovariance;
pub use knowledge::{InFlight, Knowledge};
pub use objective::{Objective, by_age, fibonacci};
pub use reason::Reason;

/// Pairs with at least this share of the best pair's information gain are drawn with equal probability.
const EQUAL_CLAIM: f64 = 0.95;

/// The share of pairs that are drawn at random. A model of strengths that is wrong somewhere, as one number for each
/// player is wrong where A beats B beats C beats A, would never play there on its own.
const RANDOM_SHARE: f64 = 0.1;

/// Random pairs are drawn among players whose game is no foregone conclusion: within this many Elo, if any of those
/// who may play are.
const RANDOM_WITHIN: f64 = 400.0;

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

/// Chooses `count` pairs that may play at the same time; none where no two players may play.
///
/// Each choice counts the ones before it as if they were played. Pairs about as informative as the best one share
/// its claim, those of near rating and distant age more than others: workers with generators of their own then do not
/// all play the same pair. One choice in ten is drawn at random instead. The choices are a function of the
/// arguments.
///
/// # Panics
/// When there is not one age or none for each player.
pub fn pairs(knowledge: &Knowledge, objective: Objective, count: usize, rng: &mut impl Rng) -> Vec<Choice> {
    assert_eq!(knowledge.ages.len(), knowledge.ratings.players().len(), "every player has an age or none");
    let playable = playable(knowledge);
    if playable.is_empty() {
        return Vec::new();
    }
    let mut expected =
        ExpectedCovariance::new(knowledge, objective::contrasts(knowledge.ratings, knowledge.ages, objective));
    let mut choices = Vec::new();
    for _ in 0..count {
        let choice = if rng.random_bool(RANDOM_SHARE) {
            random(knowledge.ratings, &playable, rng)
        } else {
            most_instructive(knowledge, &playable, &expected, rng)
        };
        expected.foresee(choice.first, choice.second, knowledge.games);
        choices.push(choice);
    }
    choices
}

/// Two players who may play, and what a game between them costs.
type Playable = ((usize, usize), f64);

/// All pairs that may play.
fn playable(knowledge: &Knowledge) -> Vec<Playable> {
    let all = (0..knowledge.ages.len()).flat_map(|second| (0..second).map(move |first| (first, second)));
    all.filter_map(|(first, second)| Some(((first, second), (knowledge.cost)(first, second)?))).collect()
}

/// Any two players who may play and are near in rating, if there are such.
fn random(ratings: &Ratings, playable: &[Playable], rng: &mut impl Rng) -> Choice {
    let all = playable.iter().map(|&(pair, _)| pair);
    let is_near = |&(a, b): &(usize, usize)| ratings.difference(a, b).elo.abs() <= RANDOM_WITHIN;
    let near: Vec<(usize, usize)> = all.clone().filter(is_near).collect();
    let drawn = if near.is_empty() { all.collect() } else { near };
    let (first, second) = drawn[rng.random_range(0..drawn.len())];
    Choice { first, second, reason: Reason::Random { before: ratings.difference(first, second) } }
}

/// The pair whose games are expected to be most informative, or one of those about as informative.
fn most_instructive(
    knowledge: &Knowledge,
    playable: &[Playable],
    expected: &ExpectedCovariance,
    rng: &mut impl Rng,
) -> Choice {
    let reduction = |&((a, b), cost): &Playable| ((a, b), expected.reduction(a, b, knowledge.games) / cost);
    let reductions: Vec<((usize, usize), f64)> = playable.iter().map(reduction).collect();
    let best = reductions.iter().map(|&(_, reduction)| reduction).fold(0.0, f64::max);
    let equals = reductions.into_iter().filter(|&(_, reduction)| reduction >= EQUAL_CLAIM * best);
    let apart = |a: usize, b: usize| knowledge.ages[a].unwrap_or(0).abs_diff(knowledge.ages[b].unwrap_or(0));
    let claim = |(a, b)| near_and_distant(knowledge.ratings.difference(a, b), apart(a, b));
    let equals: Vec<((usize, usize), f64)> = equals.map(|(pair, _)| (pair, claim(pair))).collect();
    let (first, second) = draw(&equals, rng);
    let before = expected.difference(first, second);
    let [known, will_be] = expected.uncertainty(first, second, knowledge.games);
    Choice { first, second, reason: Reason::Instructive { before, known, will_be, equals: equals.len() } }
}

/// How near two players are in rating and how distant in age: ages apart for every 100 Elo between them, and one more
/// of each so that equal players do not claim everything and players of one age something.
fn near_and_distant(difference: Estimate, age: u32) -> f64 {
    (1.0 + f64::from(age)) / (1.0 + difference.elo.abs() / 100.0)
}

/// One of several, each as likely as its weight says.
fn draw<T: Copy>(weighed: &[(T, f64)], rng: &mut impl Rng) -> T {
    let total: f64 = weighed.iter().map(|(_, weight)| weight).sum();
    let mut left = rng.random::<f64>() * total;
    let reached = weighed.iter().find(|(_, weight)| {
        left -= weight;
        left < 0.0
    });
    reached.unwrap_or(&weighed[weighed.len() - 1]).0
}

#[cfg(test)]
mod simulation_tests;
#[cfg(test)]
mod tests;
