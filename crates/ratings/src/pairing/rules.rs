//! Rules that do not ask what games teach.

use rand::{Rng, RngExt};

use super::{Choice, Reason};
use crate::strengths::Ratings;

/// Players of largest error that Minigo's rule looks at, and the neighbours among which it draws an opponent.
const LEAST_KNOWN: usize = 10;
const NEIGHBOURS: usize = 19;

/// Minigo's pairs: the least known players in turn, each against one of those nearest in rating. The error is that
/// against the pool; Minigo took one that a prior dominates.
pub(super) fn minigo(ratings: &Ratings, count: usize, rng: &mut impl Rng) -> Vec<Choice> {
    let places = ratings.above_pool();
    let mut players: Vec<usize> = (0..places.len()).collect();
    players.sort_by(|&a, &b| places[b].error.total_cmp(&places[a].error));
    let least_known = &players[..players.len().min(LEAST_KNOWN)];
    let of = |&player: &usize| {
        let mut others: Vec<usize> = (0..places.len()).filter(|&other| other != player).collect();
        others.sort_by(|&a, &b| {
            let apart = |other: usize| (places[other].elo - places[player].elo).abs();
            apart(a).total_cmp(&apart(b))
        });
        (player, others[rng.random_range(0..others.len().min(NEIGHBOURS))])
    };
    let pairs = least_known.iter().cycle().take(count).map(of);
    pairs.map(|(a, b)| choice(ratings, a, b, |before| Reason::LittleKnown { before })).collect()
}

/// Any two players, each pair as likely as any other.
pub(super) fn random(ratings: &Ratings, count: usize, rng: &mut impl Rng) -> Vec<Choice> {
    (0..count).map(|_| near(ratings, f64::INFINITY, rng)).collect()
}

/// Any two players who are within so many Elo, if a few draws find such.
pub(super) fn near(ratings: &Ratings, within: f64, rng: &mut impl Rng) -> Choice {
    const DRAWS: usize = 100;
    let players = ratings.players().len();
    let mut draw = || {
        let one = rng.random_range(0..players);
        (one, (one + rng.random_range(1..players)) % players)
    };
    let any = draw();
    let close = |&(a, b): &(usize, usize)| ratings.difference(a, b).elo.abs() <= within;
    let (a, b) = std::iter::once(any).chain((0..DRAWS).map(|_| draw())).find(close).unwrap_or(any);
    choice(ratings, a, b, |before| Reason::Random { before })
}

fn choice(ratings: &Ratings, a: usize, b: usize, why: impl Fn(crate::Estimate) -> Reason) -> Choice {
    let (first, second) = (a.min(b), a.max(b));
    Choice { first, second, reason: why(ratings.difference(first, second)) }
}
