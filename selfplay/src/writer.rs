//! Finished games that are not published yet.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use record::GameRecord;
use store::Run;

use crate::SelfplayError;
use crate::handoff::{AcquiredFiles, number};

/// A finished game waits this long for others to share its file with. On a large board a file can take hours to fill,
/// and unpublished games are lost when the process is killed.
const PATIENCE: Duration = Duration::from_secs(120);

/// Collects games and publishes them in files of a given number, each file with the games that one worker began with one
/// model.
pub(crate) struct GameWriter<'a> {
    run: &'a Run,
    worker: &'a str,
    games_per_file: usize,
    /// By the id of the model and the series of the worker that began the games.
    piles: BTreeMap<(String, String), Batch>,
    acquired: &'a mut AcquiredFiles,
}

/// Games that wait for others; there is at least one.
struct Batch {
    games: Vec<GameRecord>,
    since: Instant,
}

impl<'a> GameWriter<'a> {
    pub(crate) fn new(
        run: &'a Run,
        worker: &'a str,
        games_per_file: usize,
        acquired: &'a mut AcquiredFiles,
    ) -> GameWriter<'a> {
        GameWriter { run, worker, games_per_file, piles: BTreeMap::new(), acquired }
    }

    /// Games that wait.
    pub(crate) fn games(&self) -> usize {
        self.piles.values().map(|pile| pile.games.len()).sum()
    }

    /// Adds a game, and publishes when there are enough for a file.
    pub(crate) fn put(&mut self, game: GameRecord) -> Result<(), SelfplayError> {
        let begun_by = (game.black.clone(), game.worker.clone());
        let pile = self.piles.entry(begun_by).or_insert_with(|| Batch { games: Vec::new(), since: Instant::now() });
        pile.games.push(game);
        let full = self.games_per_file;
        self.publish_those(|pile| pile.games.len() >= full || pile.is_old())
    }

    /// Publishes games of which one has waited long enough.
    pub(crate) fn publish_if_old(&mut self) -> Result<(), SelfplayError> {
        self.publish_those(Batch::is_old)
    }

    /// Publishes all games there are.
    pub(crate) fn publish(&mut self) -> Result<(), SelfplayError> {
        self.publish_those(|_| true)
    }

    /// Games go into a file in the order of their index, whichever finished first.
    fn publish_those(&mut self, due: impl Fn(&Batch) -> bool) -> Result<(), SelfplayError> {
        for ((_, series), mut pile) in self.piles.extract_if(.., |_, pile| due(pile)) {
            pile.games.sort_by_key(|game| game.index);
            let file = self.run.games().publish(number(&pile.games[0]), &series, &pile.games)?;
            self.acquired.note(self.run, self.worker, &pile.games)?;
            tracing::debug!(games = pile.games.len(), file = self.run.games().name(&file), "published games");
        }
        Ok(())
    }
}

impl Batch {
    fn is_old(&self) -> bool {
        self.since.elapsed() >= PATIENCE
    }
}
