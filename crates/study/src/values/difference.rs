//! The errors of two models on the same positions.

use std::fmt;

use record::Stage;
use serde::Serialize;

use crate::statistics::{Estimate, three_places};

/// The squared error of a model less that of another on the same positions: means with half of their 95 % intervals.
/// Two models are often wrong on the same positions, so that the interval may be far narrower than those of both
/// errors.
#[derive(Serialize)]
pub(super) struct Difference {
    /// The other model.
    less: String,
    squared_error: Estimate,
    /// This by the [`Stage`] of a game; none without positions of a stage.
    squared_error_by_move: [Option<Estimate>; Stage::ALL.len()],
}

impl Difference {
    /// Of two positions at least, each with the moves before it and the difference.
    pub(super) fn of(less: String, seen: &[(usize, f64)]) -> Difference {
        let of_stage = |stage: Stage| {
            let those = seen.iter().filter(|(turn, _)| Stage::of(*turn) == stage);
            Estimate::of_any(those.map(|&(_, difference)| difference))
        };
        Difference {
            less,
            squared_error: Estimate::of(seen.iter().map(|&(_, difference)| difference)),
            squared_error_by_move: Stage::ALL.map(of_stage),
        }
    }
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:>15}", three_places(Some(self.squared_error)))?;
        self.squared_error_by_move.iter().try_for_each(|&stage| write!(f, " {:>15}", three_places(stage)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn interval_is_that_of_the_paired_differences() {
        // The errors are 0.1, 0.9, 0.4 and 0.6 beside 0.2, 1, 0.5 and 0.5.
        let found = Difference::of("m".to_owned(), &[(3, -0.1), (14, -0.1), (27, -0.1), (40, 0.1)]);
        // scipy.stats.norm.interval(0.95, -0.05, 0.05)
        let Estimate { mean, half } = found.squared_error;
        assert!((mean + 0.05).abs() < 1e-12 && (half - 0.097_998_199_227_002_7).abs() < 1e-9, "{mean} {half}");
        assert_eq!(found.to_string(), " -0.050 ± 0.098  -0.100 ± 0.000               –   0.000 ± 0.196");
    }
}
