//! Finished games that are not published yet.

use std::time::{Duration, Instant};

use record::GameRecord;
use store::Run;

use crate::SelfplayError;

/// A finished game waits this long for others to share its file with. On a large board a file can take hours to fill,
/// and what is not published is lost when the process is killed.
const PATIENCE: Duration = Duration::from_secs(120);

/// Collects games and publishes them in files of a given number.
pub(crate) struct Shelf<'a> {
    run: &'a Run,
    model: u32,
    worker: &'a str,
    games_per_file: usize,
    games: Vec<GameRecord>,
    oldest: Instant,
}

impl<'a> Shelf<'a> {
    pub(crate) fn new(run: &'a Run, model: u32, worker: &'a str, games_per_file: usize) -> Shelf<'a> {
        Shelf { run, model, worker, games_per_file, games: Vec::new(), oldest: Instant::now() }
    }

    /// Adds a game, and publishes when there are enough for a file.
    pub(crate) fn put(&mut self, game: GameRecord) -> Result<(), SelfplayError> {
        if self.games.is_empty() {
            self.oldest = Instant::now();
        }
        self.games.push(game);
        if self.games.len() >= self.games_per_file { self.publish() } else { self.publish_if_old() }
    }

    /// Publishes when the oldest game has waited long enough.
    pub(crate) fn publish_if_old(&mut self) -> Result<(), SelfplayError> {
        if !self.games.is_empty() && self.oldest.elapsed() >= PATIENCE { self.publish() } else { Ok(()) }
    }

    /// Publishes all games there are, in the order of their index, whichever finished first.
    pub(crate) fn publish(&mut self) -> Result<(), SelfplayError> {
        if self.games.is_empty() {
            return Ok(());
        }
        self.games.sort_by_key(|game| game.index);
        let file = self.run.publish_games(self.model, self.worker, &self.games)?;
        tracing::debug!(games = self.games.len(), file = self.run.games_name(&file), "published games");
        self.games.clear();
        Ok(())
    }
}
