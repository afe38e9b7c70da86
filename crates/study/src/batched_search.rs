//! Searches of many positions with one model, batch after batch.

use std::ops::ControlFlow;

use go::Game;
use mcts::{Evaluator, Exploration, Settings};
use play::{BatchedGame, Budget, GameRng, SearchDriver, game_seed, generator};
use runtime::Progress;

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
    pub(crate) fn on(self, games: &[Game], finish: &mut dyn FnMut(usize, &SearchDriver)) -> anyhow::Result<()> {
        let BatchedSearch { model, settings, budget, exploration, seed } = self;
        let slots = (BATCH / budget.leaves).max(1);
        let mut next = games.iter().enumerate();
        let mut start = || {
            let (index, game) = next.next()?;
            let rng = generator(game_seed(seed, "", "thoughts", index as u64));
            Some(Position { index, driver: Some(SearchDriver::new(game.clone(), settings, budget, exploration)), rng })
        };
        let (progress, mut done) = (Progress::new("positions", Some(games.len() as u64)), 0);
        let mut finish = |(index, driver): (usize, SearchDriver)| {
            finish(index, &driver);
            done += 1;
            progress.set(done);
        };
        let mut watch = |_: &[Position]| ControlFlow::Continue(());
        play::run(&mut [model], &mut Vec::new(), slots, &mut start, &mut finish, &mut watch)
            .map_err(|error| anyhow::anyhow!(error))
    }
}

/// A position that is searched.
struct Position {
    index: usize,
    /// `None` when its budget is spent.
    driver: Option<SearchDriver>,
    rng: GameRng,
}

impl BatchedGame for Position {
    type Finished = (usize, SearchDriver);

    fn model(&self) -> Option<usize> {
        self.driver.is_some().then_some(0)
    }

    fn submit(&mut self, models: &mut [&mut dyn Evaluator]) {
        if let Some(driver) = &mut self.driver {
            driver.submit(models[0], &mut self.rng);
        }
    }

    fn take(&mut self, models: &[&mut dyn Evaluator]) -> Option<(usize, SearchDriver)> {
        self.driver.as_mut()?.take(models[0]);
        let done = self.driver.take_if(|driver| driver.is_done())?;
        Some((self.index, done))
    }
}
