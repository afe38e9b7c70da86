//! Everything that was played in a run.

use std::collections::BTreeSet;

use config::{ModelId, RunName};
use ratings::Tally;
use record::{GameId, GameSummary};

/// The results of a run, each game once.
#[derive(Clone, Debug, Default)]
pub struct Pool {
    results: Vec<GameSummary>,
}

impl Pool {
    /// A pool of these results. Two evaluators that were given the same work have played the same games; each counts
    /// once.
    pub fn new(results: impl IntoIterator<Item = GameSummary>) -> Pool {
        let mut known: BTreeSet<GameId> = BTreeSet::new();
        Pool { results: results.into_iter().filter(|result| known.insert(result.id)).collect() }
    }

    /// Games in the pool.
    pub fn games(&self) -> usize {
        self.results.len()
    }

    /// The results of everybody who has played, and of `others` who have not.
    pub fn tally(&self, others: impl IntoIterator<Item = ModelId>) -> Tally {
        let mut tally = Tally::default();
        for result in &self.results {
            tally.add(&result.black, &result.white, result.outcome);
        }
        others.into_iter().for_each(|id| {
            tally.enter(&id.to_string());
        });
        tally
    }

    /// The numbers of the games that two players have played, in the series of the pair.
    pub(crate) fn played(&self, one: &ModelId, other: &ModelId) -> BTreeSet<u64> {
        let (one, other) = (one.to_string(), other.to_string());
        let met = |result: &&GameSummary| {
            (result.black == one && result.white == other) || (result.black == other && result.white == one)
        };
        self.results.iter().filter(met).map(|result| result.index).collect()
    }
}

/// The age of a player among the models of a run: its number. Others have none.
pub(crate) fn age(run: &RunName, player: &str) -> Option<u32> {
    match player.parse() {
        Ok(ModelId::Trained { run: of, number }) if of == *run => Some(number),
        _ => None,
    }
}
