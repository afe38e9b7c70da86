//! `[selfplay]`: games for training.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::error::rule;
use crate::{Algorithm, ConfigError, MOST_MOVES, MOST_VISITS, Search};

/// The most positions that a batch may have.
pub const MOST_BATCH: usize = 65_536;

/// Games for training.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Selfplay {
    /// Games of the built-in model `random`, before training.
    #[schemars(range(min = 1))]
    pub first_games: usize,
    /// Games of every later model.
    #[schemars(range(min = 1))]
    pub games: usize,
    /// Positions in a batch.
    ///
    /// A thread keeps `batch / search.leaves` games in progress; at least `search.leaves`.
    #[schemars(range(min = 1, max = MOST_BATCH))]
    pub batch: usize,
    /// Fraction of full searches (playout-cap randomisation); KataGo: 0.25.
    ///
    /// A full search has `search.visits` visits with exploration and yields an example. The others are fast:
    /// `fast_visits`, no exploration, no example. Each move draws anew; the tree is kept between both; 1 is off. Games
    /// have fewer examples, so the same number of positions in the window needs more games. A fast Gumbel search
    /// considers the most probable moves. Worth it where searches have about 100 visits or more: 1.37 times the
    /// training efficiency (Wu 2019).
    #[schemars(range(max = 1.0), extend("exclusiveMinimum" = 0.0))]
    pub full_search_fraction: f32,
    /// Visits of a fast search, inherited ones included.
    ///
    /// Below `search.visits` when `full_search_fraction` is below 1. KataGo: a sixth of them.
    #[schemars(range(min = 1, max = MOST_VISITS))]
    pub fast_visits: u32,
    /// Fraction of games that open with moves sampled from the raw policy.
    ///
    /// The opening has no search, no passes and no examples. Worth it where games of one model resemble each other, and
    /// where values of unusual openings matter (KataGo). Not measured here.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub policy_opening_fraction: f32,
    /// Mean number of those moves; KataGo: 4 % of the points.
    ///
    /// Geometric: n moves with probability m^n / (1 + m)^(n + 1).
    #[schemars(range(min = 0.0, max = MOST_MOVES as f64))]
    pub policy_opening_moves: f32,
    /// Fraction of games that open with random moves, as match games do.
    ///
    /// Off the edge where possible. They yield no examples. Where matches begin so, the network has seen such
    /// positions. In four fifths of the games they had no significant effect (`experiments/0045-plateau-440-elo`).
    #[schemars(range(min = 0.0, max = 1.0))]
    pub random_opening_fraction: f32,
    /// Largest number of those moves, uniform from 1.
    ///
    /// Values above a quarter of the points mean that quarter. Fewer than `game.move_limit` are played.
    #[schemars(range(min = 1, max = 100))]
    pub random_opening_moves: usize,
    /// Standard deviation of komi from game to game; 0: constant.
    ///
    /// `game.komi` plus a normal number rounded to a whole one, at most the area of the board. Networks with komi as an
    /// input ("features", "tactics") model its effect; the values of others are averages.
    #[schemars(range(min = 0.0))]
    pub komi_deviation: f32,
    /// Weight of Dirichlet noise in the root prior (PUCT).
    #[schemars(range(min = 0.0, max = 1.0))]
    pub noise_weight: f32,
    /// Dirichlet concentration on 19x19, scaled by 361 / area.
    #[schemars(range(max = 1000.0), extend("exclusiveMinimum" = 0.0))]
    pub noise_alpha: f32,
    /// Moves sampled from the visits at the start of a game.
    ///
    /// Even, so that neither colour gains. 0 with Gumbel search, which samples by itself.
    /// Minigo: 2·⌊⌊N²/12⌋/2⌋ on an N×N board, which is 30 on 19x19.
    #[schemars(extend("multipleOf" = 2))]
    pub choice_moves: usize,
    /// Exponent of the visits when sampling moves, 1 / temperature; AlphaZero: 1.
    ///
    /// Above 1 is worth it where sampled moves lose too many games: good moves are preferred. Not measured here. The
    /// policy target has `train.policy_exponent`.
    #[schemars(extend("exclusiveMinimum" = 0.0))]
    pub choice_exponent: f32,
    /// Fraction of games in the validation set.
    #[schemars(range(min = 0.0, max = 0.5))]
    pub holdout_fraction: f32,
    /// Hand games in progress to a newer model instead of finishing them first.
    ///
    /// Only for workers (`selfplay`) that follow the newest model. The stages of `tengen run` take turns, so it
    /// finishes all games. The record says which model played from which move on. Worth it on 19x19 with many games per
    /// worker, where finishing them takes minutes.
    pub follow_within_games: bool,
    /// Games per file.
    #[schemars(range(min = 1))]
    pub games_per_file: usize,
}

impl Selfplay {
    /// Games of a model that the next one waits for; model 0 is `random`.
    pub fn games_of(&self, model: u32) -> usize {
        if model == 0 { self.first_games } else { self.games }
    }

    pub(crate) fn check(&self, search: &Search) -> Result<(), ConfigError> {
        rule(self.batch >= search.leaves, "selfplay.batch", self.batch, "must be at least search.leaves")?;
        rule(
            self.full_search_fraction == 1.0 || self.fast_visits < search.visits,
            "selfplay.fast_visits",
            self.fast_visits,
            "must be below search.visits with selfplay.full_search_fraction below 1",
        )?;
        rule(
            search.algorithm != Algorithm::Gumbel || self.choice_moves == 0,
            "selfplay.choice_moves",
            self.choice_moves,
            "must be 0 with search.algorithm = \"gumbel\"",
        )
    }
}

#[cfg(test)]
mod tests {
    use crate::test::error;

    #[test]
    fn values_out_of_range_are_errors() {
        assert_eq!(error(&["selfplay.choice_moves=7"]), "selfplay.choice_moves is 7: must be a multiple of 2");
        assert_eq!(
            error(&["search.algorithm=gumbel"]),
            "selfplay.choice_moves is 30: must be 0 with search.algorithm = \"gumbel\""
        );
        assert_eq!(
            error(&["selfplay.full_search_fraction=0"]),
            "selfplay.full_search_fraction is 0: must be above 0, up to 1"
        );
        assert_eq!(
            error(&["selfplay.full_search_fraction=0.25", "selfplay.fast_visits=800"]),
            "selfplay.fast_visits is 800: must be below search.visits with selfplay.full_search_fraction below 1"
        );
        assert!(error(&["selfplay.fast_visits=10000001"]).contains("must be from 1 to 10000000"));
        assert_eq!(error(&["selfplay.batch=7"]), "selfplay.batch is 7: must be at least search.leaves");
        assert!(error(&["selfplay.batch=65537"]).contains("must be from 1 to 65536"));
        assert!(error(&["selfplay.policy_opening_fraction=1.5"]).contains("must be from 0 to 1"));
        assert!(error(&["selfplay.policy_opening_moves=-1"]).contains("must be from 0 to 10000"));
        assert!(error(&["selfplay.policy_opening_moves=10001"]).contains("must be from 0 to 10000"));
        assert!(error(&["selfplay.noise_alpha=1001"]).contains("must be above 0, up to 1000"));
        assert!(error(&["selfplay.noise_alpha=0"]).contains("must be above 0, up to 1000"));
        assert!(error(&["selfplay.komi_deviation=inf"]).contains("selfplay.komi_deviation"));
        assert!(error(&["selfplay.holdout_fraction=0.6"]).contains("must be from 0 to 0.5"));
        assert_eq!(error(&["selfplay.games=0"]), "selfplay.games is 0: must be at least 1");
    }
}
