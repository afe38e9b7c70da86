//! The machine-readable report of ratings.

use std::fmt;

use ratings::{Bound, Estimate, GoodnessOfFit, Leaderboard, PairResults};
use serde::Serialize;

/// Ratings with everything that belongs to them. It prints as JSON.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RatingReport {
    /// What every `elo` and `error` is against.
    pub against: &'static str,
    /// The prior, as it can be requested.
    pub prior: String,
    /// Elo from one model of a run to the next, where the results chose it.
    pub step: Option<f64>,
    /// Games, each once.
    pub games: u32,
    /// Of them drawn.
    pub draws: u32,
    /// The players, group by group, strongest first.
    pub ratings: Vec<Rated>,
    /// What playing Black is worth, in Elo.
    pub first_move: Option<Estimate>,
    /// ln ν of Davidson's model: equal players draw ν/(2 + ν) of their games. `None` when no game was drawn.
    pub ln_nu: Option<f64>,
    /// The mean of the players beside the anchors, on the scale of these.
    pub link: Option<Estimate>,
    /// Whether one number for each player is enough.
    pub goodness_of_fit: Option<Fit>,
    /// What the numbers do not say.
    pub warnings: Vec<String>,
}

/// How well the ratings fit the results of every pair.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Fit {
    /// Pearson's X² over the pairs.
    pub chi_squared: f64,
    /// What it would be on average if one number for each player were enough.
    pub expected: f64,
    /// The probability that it would be at least as large then.
    pub p: f64,
}

/// One player.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Rated {
    /// Its name.
    pub player: String,
    /// Its rating; `None` when there is no finite one.
    pub elo: Option<f64>,
    /// One standard error of the rating.
    pub error: Option<f64>,
    /// The ends of the interval that holds the true rating with 95 %.
    pub interval: Option<[f64; 2]>,
    /// With a perfect score: the rating at which half a point less would have been expected.
    pub at_least: Option<f64>,
    /// Without a point: the rating at which half a point would have been expected.
    pub at_most: Option<f64>,
    /// Only players of one group can be compared.
    pub group: usize,
    /// Games played.
    pub games: u32,
    /// Points made in them; a draw is half a point.
    pub points: f64,
    /// The probability that it is stronger than the player below it in the same group.
    pub superiority: Option<f64>,
}

/// The players, group by group, strongest first.
pub(super) fn rated(results: &PairResults, leaderboard: &Leaderboard) -> Vec<Rated> {
    let elo = |player: usize| leaderboard.players[player].rating.map_or(f64::NEG_INFINITY, |rating| rating.elo);
    let mut order: Vec<usize> = (0..leaderboard.players.len()).collect();
    order.sort_by(|&a, &b| {
        let group = |player: usize| leaderboard.players[player].group;
        let names = results.players();
        group(a).cmp(&group(b)).then(elo(b).total_cmp(&elo(a))).then_with(|| names[a].cmp(&names[b]))
    });
    let scores = results.player_scores();
    let below = |place: usize| {
        let (&player, &next) = (order.get(place)?, order.get(place + 1)?);
        let same = leaderboard.players[player].group == leaderboard.players[next].group;
        same.then(|| leaderboard.ratings.superiority(player, next))
    };
    let rated = order.iter().enumerate().map(|(place, &player)| {
        let standing = leaderboard.players[player];
        Rated {
            player: results.players()[player].clone(),
            elo: standing.rating.map(|rating| rating.elo),
            error: standing.rating.map(|rating| rating.error),
            interval: standing.rating.map(|rating| [rating.elo - rating.margin(), rating.elo + rating.margin()]),
            at_least: standing.bound.and_then(|bound| if let Bound::AtLeast(elo) = bound { Some(elo) } else { None }),
            at_most: standing.bound.and_then(|bound| if let Bound::AtMost(elo) = bound { Some(elo) } else { None }),
            group: standing.group,
            games: scores[player].games,
            points: scores[player].points,
            superiority: below(place),
        }
    });
    rated.collect()
}

impl From<&GoodnessOfFit> for Fit {
    fn from(&GoodnessOfFit { chi_squared, expected, p, .. }: &GoodnessOfFit) -> Fit {
        Fit { chi_squared, expected, p }
    }
}

impl fmt::Display for RatingReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&serde_json::to_string_pretty(self).map_err(|_| fmt::Error)?)
    }
}
