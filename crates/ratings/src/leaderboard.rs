//! Ratings as a table: what games alone cannot give a number gets none.

mod colours;

use crate::bradley_terry::{Anchor, Belief, Chances, ELO, Estimate, Prior, RatingError, Ratings};
use crate::results::PairResults;
use crate::win_graph::WinGraph;

/// Ratings with what each of them stands against.
#[derive(Clone, Debug)]
pub struct Leaderboard {
    /// The strengths. Without a prior only players of one group may be compared.
    pub ratings: Ratings,
    /// Every player, in the order of the results.
    pub players: Vec<Placing>,
    /// First-move advantage; `None` where it was not requested, or the games do not determine it.
    pub first_move: Option<Estimate>,
}

/// Where a player stands.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Placing {
    /// The group of players that it can be compared with, from 0; those of anchors come first, then the larger ones.
    pub group: usize,
    /// Its rating: on the scale of the anchors where its group has one, else above the mean of its group. `None` where
    /// the games give it no finite one.
    pub rating: Option<Estimate>,
    /// Bounds, where there is no rating.
    pub bound: Option<Bound>,
}

/// A bound for a player with a perfect score: the rating at which half a point less, or more, would
/// have been expected. It is on the scale of the group that the player's opponents are in.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Bound {
    /// It won every game.
    AtLeast(f64),
    /// It lost every game.
    AtMost(f64),
}

impl Leaderboard {
    /// All players on one scale: that of the anchors, else the pool's, whose mean is 0.
    ///
    /// # Errors
    /// As [`Ratings::fit`].
    pub fn with_prior(results: &PairResults, prior: &Prior) -> Result<Leaderboard, RatingError> {
        Ratings::fit(results, prior).map(|ratings| Leaderboard::on_one_scale(ratings, prior))
    }

    /// All players on one scale, from ratings under such a prior.
    pub fn on_one_scale(ratings: Ratings, prior: &Prior) -> Leaderboard {
        let players = 0..ratings.players().len();
        let rated = if prior.has_anchors {
            players.map(|player| ratings.rating(player)).collect()
        } else {
            ratings.above_pool()
        };
        let stand = |rating| Placing { group: 0, rating: Some(rating), bound: None };
        let players = rated.into_iter().map(stand).collect();
        let first_move = (prior.first_move != Belief::Zero).then(|| ratings.first_move());
        Leaderboard { ratings, players, first_move }
    }

    /// Maximum likelihood of the games alone, where it has a finite solution.
    ///
    /// That is so among players who all took points from each other, round about (Ford, American Mathematical Monthly
    /// 64, 1957). Games between such groups, won by one side only, put infinitely much between them and do not affect
    /// finite differences. Nor does the first move where colours and strengths explain the results equally well.
    ///
    /// # Errors
    /// As [`Ratings::fit`].
    pub fn without_prior(
        results: &PairResults,
        anchors: &[Anchor],
        first_move: bool,
    ) -> Result<Leaderboard, RatingError> {
        let groups = groups(results, anchors);
        let mut group_of = vec![0; results.players().len()];
        groups.iter().enumerate().for_each(|(group, players)| players.iter().for_each(|&p| group_of[p] = group));
        let inside = results.filtered(|black, white| group_of[black] == group_of[white]);
        let anchored = |group: &[usize]| anchors.iter().any(|anchor| group.contains(&anchor.player));
        let known = first_move && colours::tell_the_first_move(&inside, anchors);
        let mut prior = Prior { first_move: if known { Belief::Free } else { Belief::Zero }, ..Prior::none(results) };
        prior.fixed.clear();
        let mut prior = prior.anchored(anchors);
        prior.fixed.extend(groups.iter().filter(|group| !anchored(group)).map(|group| (group[0], 0.0)));
        let ratings = Ratings::fit(&inside, &prior)?;
        let mut players = vec![Placing { group: 0, rating: None, bound: None }; group_of.len()];
        for (group, members) in groups.iter().enumerate() {
            let rated: Vec<Option<Estimate>> = match (anchored(members), members.len()) {
                (true, _) => members.iter().map(|&player| Some(ratings.rating(player))).collect(),
                (false, 1) => vec![None],
                (false, _) => ratings.above_mean(members).into_iter().map(Some).collect(),
            };
            for (&player, rating) in members.iter().zip(rated) {
                players[player] = Placing { group, rating, bound: None };
            }
        }
        bound(results, &ratings, &mut players);
        Ok(Leaderboard { first_move: known.then(|| ratings.first_move()), ratings, players })
    }
}

/// The players in groups that games without a prior can compare.
fn groups(results: &PairResults, anchors: &[Anchor]) -> Vec<Vec<usize>> {
    let mut graph = WinGraph::new(results);
    let anchored: Vec<usize> = anchors.iter().map(|anchor| anchor.player).collect();
    graph.join(&anchored);
    let all: Vec<usize> = (0..results.players().len()).collect();
    let mut groups = graph.classes(&all);
    let holds_anchor = |group: &[usize]| anchored.iter().any(|player| group.contains(player));
    groups.sort_by_key(|group| (!holds_anchor(group), std::cmp::Reverse(group.len())));
    groups
}

/// Bounds for players without a rating whose opponents all have one, on one scale, and whose score is perfect.
fn bound(results: &PairResults, ratings: &Ratings, players: &mut [Placing]) {
    let scores = results.player_scores();
    for player in (0..players.len()).filter(|&player| players[player].rating.is_none()).collect::<Vec<_>>() {
        let games: Vec<(usize, f64, u32)> = results
            .scores()
            .filter_map(|(black, white, score)| match player {
                _ if player == black => Some((white, 1.0, score.games())),
                _ if player == white => Some((black, -1.0, score.games())),
                _ => None,
            })
            .collect();
        let Some(&(first, ..)) = games.first() else { continue };
        let on_one_scale = |&(other, ..): &(usize, f64, u32)| {
            players[other].rating.is_some() && players[other].group == players[first].group
        };
        if !games.iter().all(on_one_scale) {
            continue;
        }
        let first_move = ratings.first_move().elo;
        let expected = |elo: f64| -> f64 {
            let points = games.iter().map(|&(other, colour, games)| {
                let opponent = players[other].rating.map_or(0.0, |rating| rating.elo);
                let d = (elo - opponent + colour * first_move) / ELO;
                f64::from(games) * Chances::of(d, ratings.draws()).expected()
            });
            points.sum()
        };
        let score = scores[player];
        players[player].bound = match score.points {
            0.0 => Some(Bound::AtMost(bisect(|elo| expected(elo) >= 0.5))),
            points if points == f64::from(score.games) => {
                Some(Bound::AtLeast(bisect(|elo| expected(elo) >= points - 0.5)))
            }
            _ => None,
        };
    }
}

/// The Elo at which a condition that is false far below and true far above begins to hold.
fn bisect(holds: impl Fn(f64) -> bool) -> f64 {
    let (mut below, mut above) = (-1e5, 1e5);
    while above - below > 1e-6 {
        let middle = 0.5 * (below + above);
        if holds(middle) { above = middle } else { below = middle }
    }
    0.5 * (below + above)
}

#[cfg(test)]
mod tests;
