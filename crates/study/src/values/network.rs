//! A network without a search, beside deep searches.

use std::fmt;

use config::RunConfig;
use mcts::Evaluator;
use record::DeepPosition;
use serde::Serialize;

use super::spread::Spread;

/// What is measured of a network once, whatever the visits.
#[derive(Serialize)]
pub(super) struct NetworkReport {
    symmetries: Spread,
}

impl NetworkReport {
    /// Evaluates the positions in all symmetries.
    ///
    /// # Errors
    /// The model fails.
    pub(super) fn measure(
        config: &RunConfig,
        references: &[DeepPosition],
        model: &mut dyn Evaluator,
    ) -> anyhow::Result<NetworkReport> {
        Ok(NetworkReport { symmetries: Spread::measure(config.game.komi, references, model)? })
    }
}

impl fmt::Display for NetworkReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\n{}", self.symmetries)
    }
}
