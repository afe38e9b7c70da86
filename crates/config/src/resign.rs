//! `[resign]`: resignation and its calibration.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::ConfigError;
use crate::error::rule;

/// Resignation and its calibration.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Resign {
    /// Fraction of calibration games, in which resignation is disabled.
    ///
    /// At 0 no game resigns either: without calibration games there is no threshold.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub calibration_fraction: f32,
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
}

impl Resign {
    pub(crate) fn check(&self) -> Result<(), ConfigError> {
        rule(self.min_games <= self.games, "resign.min_games", self.min_games, "must be from 1 to resign.games")
    }
}

#[cfg(test)]
mod tests {
    use crate::test::error;

    #[test]
    fn values_out_of_range_are_errors() {
        assert!(error(&["resign.quantile=0.6"]).contains("must be from 0 to 0.5"));
        assert_eq!(error(&["resign.min_games=501"]), "resign.min_games is 501: must be from 1 to resign.games");
    }
}
