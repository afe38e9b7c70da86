//! The prior of the fit.

use std::collections::BTreeMap;

use config::{ModelId, RunName};

use crate::results::PairResults;

/// Elo between players of whom nothing is known, one standard deviation. Random play and the first models of a run
/// lie this far apart on 9x9.
const UNKNOWN: f64 = 1000.0;

/// Elo that the first move may be worth, one standard deviation. On small boards it can decide the game.
const FIRST_MOVE: f64 = 200.0;

/// Elo from one model of a run to the next, one standard deviation, before the games. Between 100 and 150
/// gave the smallest errors on simulated runs (`experiments/0007-rating-errors-and-priors`).
const STEP: f64 = 125.0;

/// How far the true step may be from [`STEP`], as one standard deviation of its logarithm.
const STEP_DOUBT: f64 = 0.7;

/// Standard deviation of ln ν, where ν says how often equal players draw: wide, and only there so that a table of
/// nothing but draws has a solution.
const DRAWS: f64 = 3.0;

/// The same where nothing is to be believed. It moves no rating by a hundredth of an Elo as long as the games say
/// anything of draws.
const DRAWS_FREE: f64 = 100.0;

/// The reference of a difference.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    /// Another player, by its place in the results.
    Player(usize),
    /// The middle of the pool. It is the zero of the scale, unless something else holds the scale: then it may be
    /// anywhere.
    Middle,
    /// The zero of the scale.
    Zero,
}

/// A belief that a player is a normal amount above a mark.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tie {
    /// Place of the player in the results.
    pub player: usize,
    /// What it is compared with.
    pub to: Mark,
    /// Mean of the difference, in Elo.
    pub elo: f64,
    /// Standard deviation of the difference, in Elo.
    pub sd: f64,
}

/// The prior of a number beside the strengths, with mean 0.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Belief {
    /// It is 0.
    Zero,
    /// It is normally distributed with this standard deviation.
    Normal(f64),
    /// It may be anything.
    Free,
}

/// A player whose rating is known from elsewhere.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Anchor {
    /// Place of the player in the results.
    pub player: usize,
    /// Its rating, in Elo.
    pub elo: f64,
    /// Standard deviation of that, in Elo; `None` where the rating is to be kept exactly.
    pub sd: Option<f64>,
}

/// The prior of the strengths: known ratings, and normal differences between some of them.
#[derive(Clone, Debug, PartialEq)]
pub struct Prior {
    /// Players with known ratings, in Elo.
    pub fixed: Vec<(usize, f64)>,
    /// The beliefs about strengths.
    pub ties: Vec<Tie>,
    /// The first-move advantage, in Elo.
    pub first_move: Belief,
    /// ln ν, where ν says how often equal players draw, in natural units.
    pub draws: Belief,
    /// Whether anchors hold the scale.
    pub has_anchors: bool,
}

impl Prior {
    /// Nothing is believed; the first player is the zero of the scale.
    pub fn none(results: &PairResults) -> Prior {
        let fixed = (0..results.players().len().min(1)).map(|player| (player, 0.0)).collect();
        let draws = Belief::Normal(DRAWS_FREE);
        Prior { fixed, ties: Vec::new(), first_move: Belief::Free, draws, has_anchors: false }
    }

    /// Nothing is believed but that every player is within a normal distance of the middle of the pool.
    pub fn normal(results: &PairResults, sd: f64) -> Prior {
        let tie = |player| Tie { player, to: Mark::Middle, elo: 0.0, sd };
        let ties = (0..results.players().len()).map(tie).collect();
        let (first_move, draws) = (Belief::Normal(FIRST_MOVE), Belief::Normal(DRAWS));
        Prior { fixed: Vec::new(), ties, first_move, draws, has_anchors: false }
    }

    /// For the models of runs: a random walk from each model to the next of its run, `step` Elo for each number
    /// between them. Built-in models, other programs, models with other settings and the first model of a run may be
    /// anywhere around the player whose rating is 0: `random` where it takes part, else the oldest.
    ///
    /// A prior that pulls every player to the middle would bend a long strength curve; this one does not, and half of
    /// the error of a young run goes away with it.
    pub fn walk(results: &PairResults, step: f64) -> Prior {
        let zero = zero(results);
        let before = predecessors(results);
        let others = (0..results.players().len()).filter(|&player| Some(player) != zero);
        let ties = others.filter_map(|player| {
            let (to, sd) = match before[player] {
                Some((before, steps)) => (before, step * f64::from(steps).sqrt()),
                None => (zero?, UNKNOWN),
            };
            Some(Tie { player, to: Mark::Player(to), elo: 0.0, sd })
        });
        let fixed = zero.map(|player| (player, 0.0)).into_iter().collect();
        let (first_move, draws) = (Belief::Normal(FIRST_MOVE), Belief::Normal(DRAWS));
        Prior { ties: ties.collect(), fixed, first_move, draws, has_anchors: false }
    }

    /// The same beliefs on the scale of these anchors. A player that was only called 0 to hold the scale is not held
    /// any more: it is where the beliefs about differences put it. Another belief about it would count one of them
    /// twice.
    #[must_use]
    pub fn anchored(mut self, anchors: &[Anchor]) -> Prior {
        if !anchors.is_empty() {
            self.fixed.clear();
            self.has_anchors = true;
        }
        for anchor in anchors {
            match anchor.sd {
                None => self.fixed.push((anchor.player, anchor.elo)),
                Some(sd) => self.ties.push(Tie { player: anchor.player, to: Mark::Zero, elo: anchor.elo, sd }),
            }
        }
        self
    }

    /// Candidates for the step of [`Prior::walk`], in Elo, with the logarithm of their own prior probability.
    pub(crate) fn steps() -> impl Iterator<Item = (f64, f64)> {
        (0..9).map(|half_octave| {
            let step = 50.0 * 2.0_f64.powf(0.5 * f64::from(half_octave));
            (step, -0.5 * ((step / STEP).ln() / STEP_DOUBT).powi(2))
        })
    }
}

/// The player called 0: random play where it takes part, else the oldest player.
fn zero(results: &PairResults) -> Option<usize> {
    let rank = |&player: &usize| {
        let id = id(results, player);
        (id != Some(ModelId::Random), id.is_none(), id, player)
    };
    (0..results.players().len()).min_by_key(rank)
}

/// For each player the nearest older model of the same run in the pool, and how many numbers lie between.
fn predecessors(results: &PairResults) -> Vec<Option<(usize, u32)>> {
    let mut runs: BTreeMap<RunName, BTreeMap<u32, usize>> = BTreeMap::new();
    for player in 0..results.players().len() {
        if let Some(ModelId::Trained { run, number }) = id(results, player) {
            runs.entry(run).or_default().insert(number, player);
        }
    }
    let mut before = vec![None; results.players().len()];
    for run in runs.values() {
        for ((older, &to), (newer, &player)) in run.iter().zip(run.iter().skip(1)) {
            before[player] = Some((to, newer - older));
        }
    }
    before
}

/// `None` for a player that is no model of ours.
fn id(results: &PairResults, player: usize) -> Option<ModelId> {
    results.players()[player].parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn walk(players: &[&str]) -> Prior {
        Prior::walk(&PairResults::new(players.iter().copied()), 100.0)
    }

    fn tie(player: usize, to: usize, sd: f64) -> Tie {
        Tie { player, to: Mark::Player(to), elo: 0.0, sd }
    }

    #[test]
    fn each_model_is_tied_to_the_one_before_it() {
        let prior = walk(&["v1-9", "random", "v1-5", "v2-3", "uniform", "v1-1"]);
        assert_eq!(prior.fixed, [(1, 0.0)]);
        let unknown = [3, 4, 5].map(|player| tie(player, 1, UNKNOWN));
        assert_eq!(prior.ties, [[tie(0, 2, 200.0), tie(2, 5, 200.0)].as_slice(), &unknown].concat());
    }

    #[test]
    fn without_random_the_oldest_model_is_the_anchor() {
        assert_eq!([walk(&["v1-9", "v1-5"]).fixed, walk(&["gnugo", "v1-2"]).fixed], [[(1, 0.0)], [(1, 0.0)]]);
        assert_eq!(walk(&["v1-9", "v1-5"]).ties, [tie(0, 1, 200.0)]);
        assert_eq!(walk(&["gnugo", "v1-2"]).ties, [tie(0, 1, UNKNOWN)]);
        assert_eq!((walk(&[]).fixed, walk(&[]).ties), (vec![], vec![]));
    }

    #[test]
    fn anchors_take_the_scale_over() {
        let anchors = [Anchor { player: 1, elo: 1800.0, sd: None }, Anchor { player: 0, elo: 900.0, sd: Some(50.0) }];
        let prior = walk(&["random", "gnugo", "v1-1"]).anchored(&anchors);
        assert_eq!(prior.fixed, [(1, 1800.0)]);
        let expected =
            [tie(1, 0, UNKNOWN), tie(2, 0, UNKNOWN), Tie { player: 0, to: Mark::Zero, elo: 900.0, sd: 50.0 }];
        assert_eq!(prior.ties, expected);
        assert!(prior.has_anchors);
        assert_eq!(walk(&["random", "v1-1"]).anchored(&[]), walk(&["random", "v1-1"]));
    }

    #[test]
    fn steps_cover_what_runs_do() {
        let steps: Vec<(f64, f64)> = Prior::steps().collect();
        let (likely, _) = steps.iter().copied().max_by(|a, b| a.1.total_cmp(&b.1)).expect("there are steps");
        assert!((100.0..150.0).contains(&likely));
        assert!(steps[0].0 == 50.0 && steps[8].0 == 800.0);
    }
}
