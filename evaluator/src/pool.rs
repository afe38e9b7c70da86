//! Everything that was played in a run.

use std::collections::{BTreeMap, BTreeSet};

use config::PlayerId;
use go::Color;
use ratings::PairResults;
use ratings::sprt::Outcomes;
use record::{GameId, GameSummary};

/// The results of a run, each game once.
#[derive(Clone, Debug, Default)]
pub(crate) struct Pool {
    results: Vec<GameSummary>,
}

impl Pool {
    /// A pool of these results. Two evaluators that were given the same work have played the same games; each counts
    /// once.
    pub(crate) fn new(results: impl IntoIterator<Item = GameSummary>) -> Pool {
        let mut known: BTreeSet<GameId> = BTreeSet::new();
        Pool { results: results.into_iter().filter(|result| known.insert(result.id)).collect() }
    }

    /// Games in the pool.
    pub(crate) fn games(&self) -> usize {
        self.results.len()
    }

    /// The results of every player with results, and of `others` who have not.
    pub(crate) fn results(&self, others: impl IntoIterator<Item = PlayerId>) -> PairResults {
        let mut pairs = PairResults::default();
        for result in &self.results {
            pairs.add(&result.black, &result.white, result.outcome);
        }
        others.into_iter().for_each(|id| {
            pairs.enter(&id.to_string());
        });
        pairs
    }

    /// How often `one` made 0, ½, 1, 1½ and 2 points in the two games of one opening against `other`, where both are
    /// over.
    pub(crate) fn pairs_of_games(&self, one: &PlayerId, other: &PlayerId) -> Outcomes<5> {
        let (one, other) = (one.to_string(), other.to_string());
        let mut openings: BTreeMap<u64, Vec<usize>> = BTreeMap::new();
        for result in &self.results {
            let as_black = result.black == one && result.white == other;
            if as_black || (result.black == other && result.white == one) {
                let points = result.outcome.points(if as_black { Color::Black } else { Color::White });
                openings.entry(result.index / 2).or_default().push((2.0 * points) as usize);
            }
        }
        let mut outcomes = Outcomes([0; 5]);
        for halves in openings.values().filter(|halves| halves.len() == 2) {
            outcomes.0[halves.iter().sum::<usize>()] += 1;
        }
        outcomes
    }

    /// The numbers of the games that two players have played, in the series of the pair.
    pub(crate) fn played(&self, one: &PlayerId, other: &PlayerId) -> BTreeSet<u64> {
        let (one, other) = (one.to_string(), other.to_string());
        let met = |result: &&GameSummary| {
            (result.black == one && result.white == other) || (result.black == other && result.white == one)
        };
        self.results.iter().filter(met).map(|result| result.index).collect()
    }
}
