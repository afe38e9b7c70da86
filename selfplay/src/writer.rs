//! Finished games that are not published yet.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use record::GameRecord;
use store::{FileRef, Run};

use crate::SelfplayError;
use crate::handoff::{AcquiredFiles, number};

/// A finished game waits this long for others to share its file with. On a large board a file can take hours to fill,
/// and unpublished games are lost when the process is killed.
const PATIENCE: Duration = Duration::from_secs(120);

/// Collects games and publishes them in files of a given number, each file with the games that one worker began with
/// one model.
pub(crate) struct GameWriter<'a> {
    run: &'a Run,
    worker: &'a str,
    games_per_file: usize,
    /// By the id of the model and the series of the worker that began the games.
    piles: BTreeMap<(String, String), Pile>,
    /// Those that are due. They stay the same until they are published: a publication that failed may have written its
    /// file.
    due: Vec<Pile>,
    acquired: &'a mut AcquiredFiles,
}

/// Games that wait for others; there is at least one.
struct Pile {
    games: Vec<GameRecord>,
    since: Instant,
    /// The name of the file, once a publication was tried.
    tried: Option<FileRef>,
}

impl<'a> GameWriter<'a> {
    pub(crate) fn new(
        run: &'a Run,
        worker: &'a str,
        games_per_file: usize,
        acquired: &'a mut AcquiredFiles,
    ) -> GameWriter<'a> {
        GameWriter { run, worker, games_per_file, piles: BTreeMap::new(), due: Vec::new(), acquired }
    }

    /// Games that wait.
    pub(crate) fn games(&self) -> usize {
        self.piles.values().chain(&self.due).map(|pile| pile.games.len()).sum()
    }

    /// Adds a game.
    pub(crate) fn put(&mut self, game: GameRecord) {
        let begun_by = (game.black.clone(), game.worker.clone());
        let new = || Pile { games: Vec::new(), since: Instant::now(), tried: None };
        self.piles.entry(begun_by).or_insert_with(new).games.push(game);
    }

    /// Publishes games of which there are enough for a file, or of which one has waited long enough.
    pub(crate) fn publish_due(&mut self) -> Result<(), SelfplayError> {
        let full = self.games_per_file;
        self.publish_those(|pile| pile.games.len() >= full || pile.is_old())
    }

    /// Publishes all games there are.
    pub(crate) fn publish(&mut self) -> Result<(), SelfplayError> {
        self.publish_those(|_| true)
    }

    /// Games go into a file in the order of their index, whichever finished first. Those that cannot be published wait
    /// on.
    fn publish_those(&mut self, due: impl Fn(&Pile) -> bool) -> Result<(), SelfplayError> {
        for (_, mut pile) in self.piles.extract_if(.., |_, pile| due(pile)) {
            pile.games.sort_by_key(|game| game.index);
            self.due.push(pile);
        }
        while let Some(Pile { games, tried, .. }) = self.due.first_mut() {
            let (model, series) = (number(&games[0]), games[0].worker.as_str());
            let file = self.run.games().publish_noting(model, series, games, tried)?;
            let pile = self.due.remove(0);
            self.acquired.note(self.run, self.worker, &pile.games)?;
            tracing::debug!(games = pile.games.len(), file = self.run.games().name(&file), "published games");
        }
        Ok(())
    }
}

impl Pile {
    fn is_old(&self) -> bool {
        self.since.elapsed() >= PATIENCE
    }
}

#[cfg(test)]
mod tests {
    use go::Size;
    use record::synthetic;
    use store::Store;

    use super::*;

    #[test]
    fn games_that_cannot_be_published_wait_on() {
        let folder = tempfile::tempdir().expect("a folder");
        let store = Store::open(folder.path().to_str().expect("its name")).expect("a store");
        let run = store.run(&"r".parse().expect("a name"));
        // A file where a folder belongs.
        let obstacle = folder.path().join("r").join("games");
        std::fs::create_dir_all(folder.path().join("r")).expect("the folder of the run");
        std::fs::write(&obstacle, "").expect("the file");
        let mut acquired = AcquiredFiles::default();
        let mut writer = GameWriter::new(&run, "w", 2, &mut acquired);
        let size = Size::new(5).expect("a size");
        for index in [1, 0] {
            writer.put(synthetic::game("r-1", "w", index, size, 8));
        }
        assert!(writer.publish_due().is_err());
        writer.put(synthetic::game("r-1", "w", 2, size, 8));
        assert_eq!(writer.games(), 3);
        std::fs::remove_file(&obstacle).expect("the file");
        writer.publish_due().expect("the store can be written");
        assert_eq!(writer.games(), 1);
        let files = run.games().files(1).expect("the store can be read");
        let games: Vec<u64> = run.games().read(&files[0]).expect("games").iter().map(|game| game.index).collect();
        assert_eq!((files.len(), games), (1, vec![0, 1]));
        // The readable games were written by the first try: the second one has the same name.
        let readable = std::fs::read_dir(folder.path().join("r/sgf/000001")).expect("the folder").count();
        assert_eq!(readable, 1);
    }

    #[test]
    fn game_that_has_waited_for_two_minutes_is_published_alone() {
        let run = Store::in_memory().expect("a store").run(&"r".parse().expect("a name"));
        let mut acquired = AcquiredFiles::default();
        let mut writer = GameWriter::new(&run, "w", 2, &mut acquired);
        writer.put(synthetic::game("r-1", "w", 0, Size::new(5).expect("a size"), 8));
        writer.publish_due().expect("the store can be written");
        assert_eq!(writer.games(), 1, "it waits for another one");
        writer.piles.values_mut().for_each(|pile| pile.since -= Duration::from_secs(120));
        writer.publish_due().expect("the store can be written");
        assert_eq!(writer.games(), 0);
    }
}
