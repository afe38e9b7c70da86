//! A game of the worker that viewers see as it is played.
//!
//! The first thread notes the state of one of its games, at most once in an interval, and the collector publishes it.
//! Viewers cost the search nothing but a comparison in each round.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use play::Selfplay;
use record::GameRecord;
use store::{LiveGames, Run, Stem, StoreError};

/// The state on its way from the thread to the collector.
#[derive(Debug)]
pub(crate) struct LiveGame {
    interval: Duration,
    state: Mutex<Option<GameRecord>>,
}

impl LiveGame {
    /// A game whose states follow each other after this time at least.
    pub(crate) fn new(interval: Duration) -> LiveGame {
        LiveGame { interval, state: Mutex::default() }
    }

    fn set(&self, state: Option<GameRecord>) -> Option<GameRecord> {
        std::mem::replace(&mut *self.state.lock().unwrap_or_else(PoisonError::into_inner), state)
    }
}

/// Follows one of a thread's games to its end, and then another.
#[derive(Debug)]
pub(crate) struct Follower<'a> {
    live: &'a LiveGame,
    seed: Option<u64>,
    turns: usize,
    noted: Option<Instant>,
}

impl<'a> Follower<'a> {
    pub(crate) fn new(live: &'a LiveGame) -> Follower<'a> {
        Follower { live, seed: None, turns: 0, noted: None }
    }

    /// Notes the state of the game when it is another. The next game is the one that has just begun.
    pub(crate) fn follow(&mut self, games: &[Selfplay]) {
        let followed = games.iter().find(|game| Some(game.seed()) == self.seed);
        let Some(game) = followed.or_else(|| games.iter().min_by_key(|game| game.turns())) else { return };
        let is_known = followed.is_some() && game.turns() == self.turns;
        if is_known || self.noted.is_some_and(|noted| noted.elapsed() < self.live.interval) {
            return;
        }
        (self.seed, self.turns, self.noted) = (Some(game.seed()), game.turns(), Some(Instant::now()));
        self.live.set(Some(game.record()));
    }
}

/// Publishes the states of the game, each in place of the one before.
#[derive(Debug)]
pub(crate) struct LivePublisher<'a> {
    live: Option<&'a LiveGame>,
    games: &'a LiveGames,
    worker: &'a str,
    shown: Option<Stem>,
}

impl<'a> LivePublisher<'a> {
    /// A publisher for a worker, which deletes what a killed process of its name has left. Without a game it does
    /// nothing.
    pub(crate) fn new(
        run: &'a Run,
        worker: &'a str,
        live: Option<&'a LiveGame>,
    ) -> Result<LivePublisher<'a>, StoreError> {
        let games = run.live();
        if live.is_some() {
            games.clear(worker)?;
        }
        Ok(LivePublisher { live, games, worker, shown: None })
    }

    /// Publishes the newest state if there is another.
    pub(crate) fn publish(&mut self) -> Result<(), StoreError> {
        let Some(game) = self.live.and_then(|live| live.set(None)) else { return Ok(()) };
        if let Some(stem) = self.games.publish(self.worker, &game, self.shown.as_ref())? {
            self.shown = Some(stem);
        }
        Ok(())
    }
}

impl Drop for LivePublisher<'_> {
    fn drop(&mut self) {
        self.shown.iter().for_each(|shown| self.games.end(shown));
    }
}
