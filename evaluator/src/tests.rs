//! Test support shared by the modules of this crate.

use config::PlayerId;
use runtime::Stop;

use crate::{Arena, EvaluatorError, MatchProgress};

pub(crate) mod fixture;

impl Arena {
    /// Plays games between two players until there are `wanted`, those of earlier matches included.
    pub(crate) fn play_match(
        &mut self,
        pair: [&PlayerId; 2],
        wanted: u64,
        stop: &Stop,
        watch: &mut dyn FnMut(MatchProgress),
    ) -> Result<MatchProgress, EvaluatorError> {
        let missing = self.missing(pair, wanted)?;
        self.play_missing(pair, missing, stop, watch)
    }
}
