//! Searches of many positions with one model, batch after batch.

use std::ops::ControlFlow;

use go::Game;
use mcts::{Evaluator, Exploration, Settings};
use play::{BatchedGame, Budget, GameRng, SearchDriver, game_seed, generator};
use runtime::{Progress, Stop};

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
    /// The searches end early when it is requested.
    pub(crate) stop: &'a Stop,
}

impl BatchedSearch<'_> {
    /// Searches each of these positions and shows it with its number when its budget is spent. Results do not
    /// depend on the other positions. When a stop is requested, positions that are being searched are never shown.
    ///
    /// # Errors
    /// The model fails.
    pub(crate) fn on(self, games: &[Game], finish: &mut dyn FnMut(usize, &SearchDriver)) -> anyhow::Result<()> {
        let BatchedSearch { model, settings, budget, exploration, seed, stop } = self;
        let slots = (BATCH / budget.leaves).max(1);
        let mut next = games.iter().enumerate();
        let mut start = || {
            let (index, game) = next.next()?;
            let rng = generator(game_seed(seed, "", "thoughts", index as u64));
            let driver = SearchDriver::new(game.clone(), settings, budget, exploration);
            Some(Position { index, driver: Some(driver), rng, stop })
        };
        let (progress, mut done) = (Progress::new("positions", Some(games.len() as u64)), 0);
        let mut finish = |(index, driver): (usize, SearchDriver)| {
            finish(index, &driver);
            done += 1;
            progress.set(done);
        };
        let mut watch = |_: &[Position<'_>]| match stop.requested() {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        };
        play::run(&mut [model], &mut Vec::new(), slots, &mut start, &mut finish, &mut watch)
            .map_err(|error| anyhow::anyhow!(error))
    }
}

/// A position that is searched.
struct Position<'a> {
    index: usize,
    /// `None` when its budget is spent.
    driver: Option<SearchDriver>,
    rng: GameRng,
    stop: &'a Stop,
}

impl BatchedGame for Position<'_> {
    type Finished = (usize, SearchDriver);

    fn model(&self) -> Option<usize> {
        self.driver.is_some().then_some(0)
    }

    fn submit(&mut self, models: &mut [&mut dyn Evaluator]) {
        if let Some(driver) = &mut self.driver {
            // Where evaluations are ready at once, this is the whole search.
            driver.submit_until(models[0], &mut self.rng, &mut |_| self.stop.requested());
        }
    }

    fn take(&mut self, models: &[&mut dyn Evaluator]) -> Option<(usize, SearchDriver)> {
        self.driver.as_mut()?.take(models[0]);
        let done = self.driver.take_if(|driver| driver.is_done())?;
        Some((self.index, done))
    }
}

#[cfg(test)]
mod tests {
    use config::Preset;
    use go::Size;
    use play::Uniform;

    use super::*;

    /// The numbers of the positions that are shown, of three; a stop is requested when `stop_after` of them are.
    fn shown(stop_after: usize) -> Vec<usize> {
        let config = Preset::NineByNine.config();
        let (stop, mut shown) = (Stop::never(), Vec::new());
        let games = vec![Game::new(Size::new(9).expect("a size")); 3];
        let searches = BatchedSearch {
            model: &mut Uniform::new(),
            settings: Settings::new(&config.search, &config.game),
            // One position after the other.
            budget: Budget { visits: 100, leaves: BATCH },
            exploration: None,
            seed: 1,
            stop: &stop,
        };
        let mut finish = |index, _: &SearchDriver| {
            shown.push(index);
            if shown.len() == stop_after {
                stop.request();
            }
        };
        searches.on(&games, &mut finish).expect("it cannot fail");
        shown
    }

    #[test]
    fn searches_end_when_a_stop_is_requested() {
        assert_eq!((shown(1), shown(9)), (vec![0], vec![0, 1, 2]));
    }
}
