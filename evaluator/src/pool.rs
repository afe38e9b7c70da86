//! Everything that was played in a run.

use std::collections::{BTreeMap, BTreeSet};

use config::PlayerId;
use go::Color;
use ratings::sprt::Outcomes;
use ratings::{PairResults, PlayerScore};
use record::{GameId, GameSummary, Outcome};

/// The results of a run, each game once.
#[derive(Clone, Debug, Default)]
pub(crate) struct Pool {
    games: usize,
    results: PairResults,
    /// By the places of two players in the results, the lower one first.
    pairs: BTreeMap<[usize; 2], Vec<GameOfPair>>,
}

/// A game in the series of a pair.
#[derive(Clone, Copy, Debug)]
struct GameOfPair {
    index: u64,
    /// The place of the player who had Black.
    black: usize,
    outcome: Outcome,
}

impl Pool {
    /// A pool of these results. Two evaluators that were given the same work have played the same games; each counts
    /// once.
    pub(crate) fn new(results: impl IntoIterator<Item = GameSummary>) -> Pool {
        let mut known: BTreeSet<GameId> = BTreeSet::new();
        let mut pool = Pool::default();
        for GameSummary { black, white, index, outcome, .. } in
            results.into_iter().filter(|result| known.insert(result.id))
        {
            pool.games += 1;
            pool.results.add(&black, &white, outcome);
            if let (Some(black), Some(white)) = (pool.results.place(&black), pool.results.place(&white)) {
                let pair = [black.min(white), black.max(white)];
                pool.pairs.entry(pair).or_default().push(GameOfPair { index, black, outcome });
            }
        }
        pool
    }

    /// Games in the pool.
    pub(crate) fn games(&self) -> usize {
        self.games
    }

    /// The results of every player with results, and of `others` who have not.
    pub(crate) fn results(&self, others: impl IntoIterator<Item = PlayerId>) -> PairResults {
        let mut pairs = self.results.clone();
        others.into_iter().for_each(|id| {
            pairs.enter(&id.to_string());
        });
        pairs
    }

    /// How `one` has done against `other`.
    pub(crate) fn score(&self, one: &PlayerId, other: &PlayerId) -> PlayerScore {
        self.places(one, other).map(|[one, other]| self.results.between(one, other)).unwrap_or_default()
    }

    /// How often `one` made 0, ½, 1, 1½ and 2 points in the two games of one opening against `other`, where both are
    /// over.
    pub(crate) fn pairs_of_games(&self, one: &PlayerId, other: &PlayerId) -> Outcomes<5> {
        let mut openings: BTreeMap<u64, Vec<usize>> = BTreeMap::new();
        if let Some([one, other]) = self.places(one, other) {
            for &GameOfPair { index, black, outcome } in self.games_of([one, other]) {
                let points = outcome.points(if black == one { Color::Black } else { Color::White });
                openings.entry(index / 2).or_default().push((2.0 * points) as usize);
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
        let pair = self.places(one, other);
        pair.into_iter().flat_map(|pair| self.games_of(pair)).map(|game| game.index).collect()
    }

    /// The places of two players in the results, if both have played.
    fn places(&self, one: &PlayerId, other: &PlayerId) -> Option<[usize; 2]> {
        let place = |id: &PlayerId| self.results.place(&id.to_string());
        Some([place(one)?, place(other)?])
    }

    fn games_of(&self, [one, other]: [usize; 2]) -> &[GameOfPair] {
        self.pairs.get(&[one.min(other), one.max(other)]).map(Vec::as_slice).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use config::ModelId;
    use record::EndReason;

    use super::*;

    #[test]
    fn games_of_a_pair_are_the_same_in_either_order() {
        let player = |name: &str| PlayerId::from(name.parse::<ModelId>().expect("the name of a model"));
        let [random, uniform, absent] = ["random", "uniform", "run-1"].map(player);
        let game = |index, black: &PlayerId, white: &PlayerId, outcome| GameSummary {
            id: GameId::of("random", "uniform", "", index),
            black: black.to_string(),
            white: white.to_string(),
            index,
            calibration: false,
            holdout: false,
            resign_threshold: None,
            would_resign_turn: None,
            winner_min_value: None,
            outcome,
            score: None,
            end: EndReason::Resignation,
            positions: 0,
        };
        let games = [
            game(0, &random, &uniform, Outcome::Black),
            game(1, &uniform, &random, Outcome::Draw),
            game(5, &uniform, &random, Outcome::Black),
        ];
        // The games of another evaluator.
        let pool = Pool::new(games.iter().chain(&games).cloned());
        assert_eq!(pool.games(), 3);
        let pairs = [(&random, &uniform, 1.5, [0, 0, 0, 1, 0]), (&uniform, &random, 1.5, [0, 1, 0, 0, 0])];
        for (one, other, points, openings) in pairs {
            assert_eq!(pool.score(one, other), PlayerScore { games: 3, points });
            assert_eq!(pool.played(one, other), BTreeSet::from([0, 1, 5]));
            assert_eq!(pool.pairs_of_games(one, other).0, openings);
        }
        assert_eq!(pool.score(&random, &absent), PlayerScore::default());
        assert!(pool.played(&random, &absent).is_empty());
        assert_eq!(pool.results([absent]).players(), ["random", "uniform", "run-1"]);
    }
}
