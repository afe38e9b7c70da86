//! A network without a search, beside deep searches.

use std::fmt;

use config::RunConfig;
use mcts::Evaluator;
use record::DeepPosition;
use runtime::Stop;
use serde::Serialize;

use super::one_ply::OnePly;
use super::spread::Spread;

/// What is measured of a network once, whatever the visits.
#[derive(Serialize)]
pub(super) struct NetworkReport {
    symmetries: Spread,
    one_ply: OnePly,
}

impl NetworkReport {
    /// Evaluates the positions in all symmetries, and those after their moves; none when the program is to stop.
    ///
    /// # Errors
    /// The model fails.
    pub(super) fn measure(
        config: &RunConfig,
        references: &[DeepPosition],
        model: &mut dyn Evaluator,
        stop: &Stop,
    ) -> anyhow::Result<Option<NetworkReport>> {
        let Some(symmetries) = Spread::measure(config.game.komi, references, model, stop)? else { return Ok(None) };
        let one_ply = OnePly::measure(config, references, model, stop)?;
        Ok(one_ply.map(|one_ply| NetworkReport { symmetries, one_ply }))
    }
}

impl fmt::Display for NetworkReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\n{}\n\n{}", self.symmetries, self.one_ply)
    }
}
