//! How often positions have been drawn so far.

use std::collections::HashMap;

use config::{Growth, RunConfig};
use record::GameId;
use record::draws::Draws;
use store::Run;

use crate::ShufflerError;
use crate::window::Window;

/// Draws of each example of each game that was drawn from, in the generations before.
#[derive(Debug, Default)]
pub(crate) struct Past(HashMap<GameId, Vec<u8>>);

impl Past {
    /// What the shards of the generation before say.
    ///
    /// # Errors
    /// [`ShufflerError::NoPast`] when they are gone.
    pub(crate) fn before(run: &Run, generation: u32) -> Result<Past, ShufflerError> {
        let Some(before) = generation.checked_sub(1).filter(|&before| before > 0) else { return Ok(Past::default()) };
        let manifest = run.shards().manifest(before)?.ok_or(ShufflerError::NoPast { generation })?;
        let draws = run.shards().draws(&manifest)?.ok_or(ShufflerError::NoPast { generation })?;
        Ok(Past(draws.into_iter().collect()))
    }

    /// How often each example of a game has been drawn; nothing when none was.
    pub(crate) fn of(&self, game: GameId) -> &[u8] {
        self.0.get(&game).map(Vec::as_slice).unwrap_or_default()
    }

    /// What is known after one more draw, by game. A window that grows may take back games that it had left.
    pub(crate) fn after(
        mut self,
        config: &RunConfig,
        window: &Window,
        drawn: impl Fn(GameId) -> Option<Vec<u32>>,
    ) -> Vec<Draws> {
        let mut known: Vec<Draws> = Vec::new();
        for game in window.games() {
            let mut draws = self.0.remove(&game.id).unwrap_or_default();
            draws.resize(game.rows, 0);
            for (draws, more) in draws.iter_mut().zip(drawn(game.id).into_iter().flatten()) {
                *draws = u8::try_from(u32::from(*draws) + more).unwrap_or(u8::MAX);
            }
            if draws.iter().any(|&draws| draws > 0) {
                known.push((game.id, draws));
            }
        }
        if config.window.growth == Growth::Slow {
            known.extend(self.0);
        }
        known.sort_unstable_by_key(|(game, _)| *game);
        known
    }
}
