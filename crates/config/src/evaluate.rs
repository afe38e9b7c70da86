//! `[evaluate]`: matches.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::error::rule;
use crate::{ConfigError, Game, MOST_BATCH, MOST_VISITS, Search};

/// Games of a pair, at most. The numbers of those that are missing are in memory, 8 MB of them.
pub const MOST_GAMES_PER_PAIR: u64 = 1_000_000;

/// Matches between models.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Evaluate {
    /// Visits per move of a match game.
    #[schemars(range(min = 1, max = MOST_VISITS))]
    pub visits: u32,
    /// Positions in a batch of either player.
    ///
    /// A thread keeps `2 * batch / search.leaves` games in progress; at least `search.leaves`.
    #[schemars(range(min = 1, max = MOST_BATCH))]
    pub batch: usize,
    /// Random moves at the start of a game.
    ///
    /// Each opening is played with both colours. At most half of the points, and below `game.move_limit`.
    #[schemars(extend("multipleOf" = 2))]
    pub opening_moves: usize,
    /// Games per pairing.
    #[schemars(range(min = 2, max = MOST_GAMES_PER_PAIR), extend("multipleOf" = 2))]
    pub games_per_pair: usize,
    /// Pairs per new model in `tengen run`.
    pub pairs_per_model: usize,
    /// Evaluate every n-th model; the last of a run always.
    #[schemars(range(min = 1))]
    pub every: u32,
    /// Opponents of a new model in `tengen run`.
    pub pairing: Pairing,
}

/// Pairs that `tengen run` plays for a new model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Pairing {
    /// The new model and its ancestors at Fibonacci distances.
    Fibonacci,
    /// Any two rated models: the pairs whose games are expected to reduce the errors of the table most.
    Informed,
}

impl Evaluate {
    pub(crate) fn check(&self, search: &Search, game: &Game) -> Result<(), ConfigError> {
        rule(self.batch >= search.leaves, "evaluate.batch", self.batch, "must be at least search.leaves")?;
        // Longer ones decide the game, and one that reaches the limit is the game.
        rule(
            self.opening_moves <= game.board().area() / 2 && self.opening_moves < game.move_limit,
            "evaluate.opening_moves",
            self.opening_moves,
            "must be at most half of the points, and below game.move_limit",
        )
    }
}

#[cfg(test)]
mod tests {
    use crate::test::{error, minigo};

    #[test]
    fn values_out_of_range_are_errors() {
        assert_eq!(error(&["evaluate.visits=0"]), "evaluate.visits is 0: must be from 1 to 10000000");
        assert!(error(&["evaluate.visits=10000001"]).contains("must be from 1 to 10000000"));
        assert_eq!(error(&["evaluate.batch=7"]), "evaluate.batch is 7: must be at least search.leaves");
        assert_eq!(error(&["evaluate.opening_moves=3"]), "evaluate.opening_moves is 3: must be a multiple of 2");
        let long = "must be at most half of the points, and below game.move_limit";
        assert_eq!(error(&["evaluate.opening_moves=182"]), format!("evaluate.opening_moves is 182: {long}"));
        let limited = ["game.move_limit=180", "evaluate.opening_moves=180"];
        assert_eq!(error(&limited), format!("evaluate.opening_moves is 180: {long}"));
        minigo(&["game.move_limit=181", "evaluate.opening_moves=180"]);
        for games in [0, 1_000_002] {
            let problem = format!("evaluate.games_per_pair is {games}: must be from 2 to 1000000");
            assert_eq!(error(&[&format!("evaluate.games_per_pair={games}")]), problem);
        }
        assert!(error(&["evaluate.every=0"]).contains("must be at least 1"));
    }
}
