//! `[window]`: which positions the next model is trained on.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::ConfigError;
use crate::error::rule;

/// Slow growth: added to the number of the model before, and games or positions per model (Minigo).
const SLOW_OFFSET: usize = 5;
const SLOW_STEP: usize = 10_000;

/// The window (replay buffer) and the sampling of positions from it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Window {
    /// Size in games, newest first; the largest size when it grows.
    #[schemars(range(min = 1))]
    pub games: usize,
    /// Size in positions of whole games instead; 0: `games`.
    ///
    /// Worth it where the lengths of games change during a run: the number of examples stays (KataGo). Not
    /// measured here.
    pub positions: usize,
    /// Growth of the window.
    ///
    /// Worth it in long runs: the games of the first models leave early, and later windows hold more. A part of
    /// `experiments/0101-one-run-on-two-cores`, not measured alone.
    pub growth: Growth,
    /// Start m of the power law, in games or positions; KataGo: 250000.
    ///
    /// Until then the window holds everything. Worth it below the games of the first minutes: the window is short while
    /// every model is far better than the last.
    #[schemars(range(min = 1))]
    pub growth_start: usize,
    /// Mean examples per game of the window, at most; Minigo: 4; 0: unbounded.
    #[schemars(range(min = 0.0))]
    pub samples_per_game: f32,
    /// Maximum uses of one position over its time in the window, on average.
    #[schemars(extend("exclusiveMinimum" = 0.0))]
    pub reuse_limit: f32,
    /// Exact fraction of examples from calibration games; 0: as sampled.
    ///
    /// As long as the window has such games. Worth it where calibration games are rare: positions beyond the resign
    /// threshold keep their share (Minigo: 0.1). Not measured here.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub calibration_fraction: f32,
    /// Value surprise weighting: |root value − network value|; KataGo: 0.1.
    ///
    /// Share of a position's sampling weight in proportion to this surprise relative to the mean of its game. The rest,
    /// less `policy_surprise_weight`, is uniform. Worth it in short runs (`experiments/0047-value-surprise`). In a
    /// strong model both surprise weights together flattened the priors, and had no significant effect in matches
    /// (`experiments/0056-48-visits-and-surprise`).
    #[schemars(range(min = 0.0, max = 1.0))]
    pub value_surprise_weight: f32,
    /// Policy surprise weighting: KL divergence of target and prior; KataGo: 0.5.
    ///
    /// As `value_surprise_weight`; both together at most 1. Worth it in the first minutes; whole runs with it made no
    /// more points against GNU Go than runs before (`experiments/0049-batch-size-policy-surprise`).
    /// `value_surprise_weight` says what was measured in a strong model.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub policy_surprise_weight: f32,
}

/// Growth of the window.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Growth {
    /// Full size from the beginning.
    None,
    /// (model + 5) · 10,000: the first games leave it early (Minigo).
    Slow,
    /// (n^e − m^e) / (e·m^(e − 1)) · 0.4 + m of all n games or positions, with m = `growth_start` and e = 0.65
    /// (KataGo).
    PowerLaw,
}

/// The largest size of a window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WindowLimit {
    /// So many games.
    Games(usize),
    /// Whole games until they have so many positions.
    Positions(usize),
}

impl Window {
    /// The size of the window when it no longer grows.
    pub fn full(&self) -> WindowLimit {
        match self.positions {
            0 => WindowLimit::Games(self.games),
            positions => WindowLimit::Positions(positions),
        }
    }

    /// The largest size of the window after a model.
    ///
    /// The power law depends on what is played, and stays below this bound.
    pub fn limit(&self, model: u32) -> WindowLimit {
        match self.growth {
            Growth::None | Growth::PowerLaw => self.full(),
            Growth::Slow => self.full().at_most((model as usize + SLOW_OFFSET).saturating_mul(SLOW_STEP)),
        }
    }

    pub(crate) fn check(&self) -> Result<(), ConfigError> {
        rule(
            self.value_surprise_weight + self.policy_surprise_weight <= 1.0,
            "window.policy_surprise_weight",
            self.policy_surprise_weight,
            "must be at most 1 together with window.value_surprise_weight",
        )
    }
}

impl WindowLimit {
    /// The number of games or positions.
    pub fn size(self) -> usize {
        match self {
            WindowLimit::Games(size) | WindowLimit::Positions(size) => size,
        }
    }

    /// Which of these two counts it bounds.
    pub fn of<T>(self, games: T, positions: T) -> T {
        match self {
            WindowLimit::Games(_) => games,
            WindowLimit::Positions(_) => positions,
        }
    }

    /// The limit, or this size where it is less.
    #[must_use]
    pub fn at_most(self, size: usize) -> WindowLimit {
        match self {
            WindowLimit::Games(games) => WindowLimit::Games(games.min(size)),
            WindowLimit::Positions(positions) => WindowLimit::Positions(positions.min(size)),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::test::error;

    #[test]
    fn values_out_of_range_are_errors() {
        assert_eq!(error(&["window.games=0"]), "window.games is 0: must be at least 1");
        assert!(error(&["window.reuse_limit=0"]).contains("must be above 0"));
        let both = error(&["window.value_surprise_weight=0.6", "window.policy_surprise_weight=0.5"]);
        assert_eq!(
            both,
            "window.policy_surprise_weight is 0.5: must be at most 1 together with window.value_surprise_weight"
        );
    }
}
