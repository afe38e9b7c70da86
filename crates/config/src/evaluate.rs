//! `[evaluate]`: matches.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Matches between models.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Evaluate {
    /// Visits per move of a match game.
    #[schemars(range(min = 1))]
    pub visits: u32,
    /// Time limit per move in seconds; 0: none.
    ///
    /// With a limit a thread plays one game at a time, and games are not reproducible.
    #[schemars(range(min = 0.0, max = 86_400.0))]
    pub seconds_per_move: f32,
    /// Root value below which a model resigns a match game; -1: never.
    ///
    /// Saves time, and costs results where values are inaccurate.
    #[schemars(range(min = -1.0, max = 0.0))]
    pub resign_below: f32,
    /// Random moves at the start of a game.
    ///
    /// Each opening is played with both colours.
    #[schemars(extend("multipleOf" = 2))]
    pub opening_moves: usize,
    /// Games per pairing.
    #[schemars(range(min = 2), extend("multipleOf" = 2))]
    pub games_per_pair: usize,
    /// Pairs per new model in `tengen run`.
    pub pairs_per_model: usize,
    /// Evaluate every n-th model; the last of a run always.
    #[schemars(range(min = 1), extend("x-neutral" = "1"))]
    pub every: u32,
    /// Opponents of a new model in `tengen run`.
    #[schemars(extend("x-neutral" = "\"fibonacci\""))]
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

#[cfg(test)]
mod tests {
    use crate::test::error;

    #[test]
    fn values_out_of_range_are_errors() {
        assert_eq!(error(&["evaluate.visits=0"]), "evaluate.visits is 0: must be at least 1");
        assert_eq!(error(&["evaluate.opening_moves=3"]), "evaluate.opening_moves is 3: must be a multiple of 2");
        assert_eq!(error(&["evaluate.games_per_pair=0"]), "evaluate.games_per_pair is 0: must be at least 2");
        assert!(error(&["evaluate.resign_below=0.5"]).contains("must be from -1 to 0"));
        assert!(error(&["evaluate.every=0"]).contains("must be at least 1"));
    }
}
