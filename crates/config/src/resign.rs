//! `[resign]`: resignation and its calibration.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::error::rule;
use crate::{ConfigError, Search};

/// Resignation and its calibration.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Resign {
    /// Fraction of calibration games, in which resignation is disabled.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub calibration: f32,
    /// Fraction of calibration games whose winner would have resigned.
    ///
    /// The threshold in force is this quantile of the winners' minimum root values.
    #[schemars(range(min = 0.0, max = 0.5))]
    pub quantile: f32,
    /// Newest calibration games that set the threshold.
    #[schemars(range(min = 1))]
    pub games: usize,
    /// Calibration games before the first resignation; at most `games`.
    #[schemars(range(min = 1))]
    pub min_games: usize,
    /// Reduced searches instead of resignation after this many agreeing moves; 0: off.
    ///
    /// When the searches of so many moves, of both sides, agree on the winner, the following searches are reduced while they agree.
    /// No game is resigned. KataGo: 3, of one side. Not 1.
    /// Worth it where searches have many visits: every game then has an ownership and a score to train on, for few visits more.
    pub decided_moves: usize,
    /// Root value on which they agree; KataGo: 0.8.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub decided_value: f32,
    /// Visits of a reduced search, inherited ones included; below `search.visits`.
    #[schemars(range(min = 1))]
    pub decided_visits: u32,
    /// Weight in the loss of examples of reduced searches; KataGo: 0.1.
    #[schemars(range(max = 1.0), extend("exclusiveMinimum" = 0.0))]
    pub decided_weight: f32,
}

impl Resign {
    pub(crate) fn check(&self, search: &Search) -> Result<(), ConfigError> {
        rule(self.min_games <= self.games, "resign.min_games", self.min_games, "must be from 1 to resign.games")?;
        let moves = self.decided_moves;
        rule(moves != 1, "resign.decided_moves", moves, "must be 0 or at least 2, so that both sides agree")?;
        rule(
            moves == 0 || self.decided_visits < search.visits,
            "resign.decided_visits",
            self.decided_visits,
            "must be below search.visits with resign.decided_moves",
        )
    }
}

#[cfg(test)]
mod tests {
    use crate::test::error;

    #[test]
    fn values_out_of_range_are_errors() {
        assert!(error(&["resign.quantile=0.6"]).contains("must be from 0 to 0.5"));
        assert_eq!(error(&["resign.min_games=501"]), "resign.min_games is 501: must be from 1 to resign.games");
        assert!(error(&["resign.decided_moves=1"]).contains("so that both sides agree"));
        assert!(error(&["resign.decided_moves=4", "resign.decided_visits=800"]).contains("below search.visits"));
        assert_eq!(error(&["resign.decided_weight=0"]), "resign.decided_weight is 0: must be above 0, up to 1");
    }
}
