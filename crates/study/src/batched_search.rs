//! Searches of many positions with one model, batch after batch.

use go::Game;
use mcts::{Evaluator, Exploration, Settings};
use play::{Budget, SearchDriver, Seed, game_seed, generator};

/// Positions that are evaluated together.
pub(crate) const BATCH: usize = 64;

/// How positions are thought about.
pub(crate) struct BatchedSearch<'a> {
    pub(crate) model: &'a mut dyn Evaluator,
    pub(crate) settings: Settings,
    pub(crate) budget: Budget,
    /// How self-play explores; without it, searches are for the best move.
    pub(crate) exploration: Option<Exploration>,
    pub(crate) seed: u64,
}

impl BatchedSearch<'_> {
    /// Searches each of these positions and shows it with its number when its budget is spent. Results do not
    /// depend on the other positions.
    ///
    /// # Errors
    /// The model fails.
    pub(crate) fn on(&mut self, games: &[Game], finish: &mut dyn FnMut(usize, &SearchDriver)) -> anyhow::Result<()> {
        let slots = (BATCH / self.budget.leaves).max(1);
        let mut next = games.iter().enumerate();
        let mut open: Vec<(usize, SearchDriver, Seed)> = Vec::with_capacity(slots);
        loop {
            open.extend(next.by_ref().take(slots - open.len()).map(|(index, game)| self.begin(index, game)));
            if open.is_empty() {
                return Ok(());
            }
            open.iter_mut().for_each(|(_, driver, rng)| driver.submit(self.model, rng));
            self.model.flush().map_err(|error| anyhow::anyhow!(error))?;
            open.retain_mut(|(index, driver, _)| {
                driver.take(self.model);
                if driver.is_done() {
                    finish(*index, driver);
                }
                !driver.is_done()
            });
        }
    }

    fn begin(&self, index: usize, game: &Game) -> (usize, SearchDriver, Seed) {
        let rng = generator(game_seed(self.seed, "", "thoughts", index as u64));
        (index, SearchDriver::new(game.clone(), self.settings, self.budget, self.exploration), rng)
    }
}
