//! Searches of many positions with one model, batch after batch.

use std::ops::ControlFlow;

use anyhow::anyhow;
use go::Game;
use mcts::{Evaluator, LARGEST_TREE, Purpose, Search, Settings};
use play::{BatchedGame, Budget, GameRng, SearchDriver, game_seed, generator};
use runtime::{Classify, Progress, Stop};

/// Positions that are evaluated together.
pub(crate) const BATCH: usize = 64;

/// How positions are thought about.
pub(crate) struct BatchedSearch<'a> {
    pub(crate) model: &'a mut dyn Evaluator,
    pub(crate) settings: Settings,
    pub(crate) budget: Budget,
    pub(crate) purpose: Purpose,
    pub(crate) seed: u64,
    /// The searches end early when it is requested.
    pub(crate) stop: &'a Stop,
}

impl BatchedSearch<'_> {
    /// Searches each of these positions and shows it with its number when its budget is spent. Results do not depend on
    /// the other positions. When a stop is requested, positions whose searches have not ended are never shown.
    ///
    /// # Errors
    /// The model fails, or a tree exceeds [`LARGEST_TREE`] before the budget is spent.
    pub(crate) fn on(self, games: &[Game], finish: &mut dyn FnMut(usize, &SearchDriver)) -> anyhow::Result<()> {
        self.up_to(LARGEST_TREE, games, finish)
    }

    /// The same with another bound of trees, in bytes.
    fn up_to(self, largest: usize, games: &[Game], finish: &mut dyn FnMut(usize, &SearchDriver)) -> anyhow::Result<()> {
        let BatchedSearch { model, settings, budget, purpose, seed, stop } = self;
        let slots = (BATCH / budget.leaves).max(1);
        let mut next = games.iter().enumerate();
        let mut start = || {
            let (index, game) = next.next()?;
            let rng = generator(game_seed(seed, "", "thoughts", index as u64));
            let driver = SearchDriver::new(game.clone(), settings, budget, purpose);
            Some(Position { index, driver: Some(driver), rng, stop, largest })
        };
        let (progress, mut done) = (Progress::new("positions", Some(games.len() as u64)), 0);
        let mut finish = |(index, driver): (usize, SearchDriver)| {
            finish(index, &driver);
            done += 1;
            progress.set(done);
        };
        let mut full = None;
        let mut watch = |positions: &[Position<'_>]| {
            let mut searches =
                positions.iter().filter_map(|position| position.driver.as_ref()).map(SearchDriver::search);
            full = searches.find(|search| search.is_full(largest)).map(Search::visits);
            if full.is_some() || stop.requested() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        play::run(&mut [model], &mut Vec::new(), slots, &mut start, &mut finish, &mut watch)
            .map_err(|error| anyhow!(error))?;
        let Some(visits) = full else { return Ok(()) };
        let size = runtime::format::bytes(largest as u64);
        let remedy = "lower --visits, or search.visits where there is no --visits";
        Err(anyhow!("the tree of a search has {size} after {visits} visits; {remedy}")).misconfigured()
    }
}

/// A position that is searched.
struct Position<'a> {
    index: usize,
    /// `None` when its budget is spent.
    driver: Option<SearchDriver>,
    rng: GameRng,
    stop: &'a Stop,
    /// Bytes of its tree, at most.
    largest: usize,
}

impl BatchedGame for Position<'_> {
    type Finished = (usize, SearchDriver);

    fn model(&self) -> Option<usize> {
        self.driver.is_some().then_some(0)
    }

    fn submit(&mut self, models: &mut [&mut dyn Evaluator]) {
        if let Some(driver) = &mut self.driver {
            // Where evaluations are ready at once, this is the whole search.
            let mut stop = |search: &Search| self.stop.requested() || search.is_full(self.largest);
            driver.submit_until(models[0], &mut self.rng, &mut stop);
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
    fn shown(stop_after: usize, largest: usize) -> Result<Vec<usize>, String> {
        let config = Preset::NineByNine.config();
        let (stop, mut shown) = (Stop::never(), Vec::new());
        let games = vec![Game::new(Size::new(9).expect("a size")); 3];
        let searches = BatchedSearch {
            model: &mut Uniform::new(),
            settings: Settings::new(&config.search, &config.game),
            // One position after the other.
            budget: Budget { visits: 100, leaves: BATCH },
            purpose: Purpose::Win,
            seed: 1,
            stop: &stop,
        };
        let mut finish = |index, _: &SearchDriver| {
            shown.push(index);
            if shown.len() == stop_after {
                stop.request();
            }
        };
        searches.up_to(largest, &games, &mut finish).map_err(|error| error.to_string())?;
        Ok(shown)
    }

    #[test]
    fn searches_end_when_a_stop_is_requested() {
        let shown = |stop_after| shown(stop_after, LARGEST_TREE);
        assert_eq!((shown(1), shown(9)), (Ok(vec![0]), Ok(vec![0, 1, 2])));
    }

    #[test]
    fn tree_that_exceeds_the_bound_is_an_error() {
        let error = shown(9, 1).expect_err("a tree has more than a byte");
        assert!(error.contains(" visits; lower --visits, or search.visits where there is no --visits"), "{error}");
    }
}
