//! What the files of games hold, each read once.

use std::collections::{BTreeMap, HashSet};

use record::GameSummary;
use store::{FileRef, Manifest, Run, StoreError};

use crate::eta::File;
use crate::window_size::Played;

/// Files that a process that has just started reads together: more than it has threads for, and not many more than a
/// window needs.
const AHEAD: usize = 64;

/// Reads each file of games once, since files do not change.
#[derive(Debug)]
pub(crate) struct GameIndex {
    run: Run,
    known: BTreeMap<FileRef, Vec<GameSummary>>,
    /// What all files hold, where the size of the window depends on it.
    played: BTreeMap<FileRef, Played>,
    /// The oldest model of the last window. Windows move on, so the next is searched from here only.
    oldest: Option<u32>,
}

/// Games of a model that have arrived.
#[derive(Debug, Default)]
pub(crate) struct Arrived {
    /// All of them, with the validation set; one that was published before does not count.
    pub(crate) games: usize,
    /// Files of self-play. The times of imported ones say nothing about games that are missing.
    pub(crate) files: Vec<File>,
}

/// The files of games that were listed, by model.
#[derive(Debug)]
pub(crate) struct Listed(BTreeMap<u32, Vec<FileRef>>);

impl GameIndex {
    pub(crate) fn new(run: &Run) -> GameIndex {
        GameIndex { run: run.clone(), known: BTreeMap::new(), played: BTreeMap::new(), oldest: None }
    }

    /// The games of a model.
    pub(crate) fn arrived(&mut self, model: u32) -> Result<Arrived, StoreError> {
        let mut seen = HashSet::new();
        let mut arrived = Arrived::default();
        let files = self.run.games().files(model)?;
        self.read_summaries(files.iter());
        for file in files {
            match self.summaries(&file) {
                Ok(games) => {
                    let new = games.iter().filter(|game| seen.insert(game.id)).count();
                    arrived.games += new;
                    if !games.iter().all(GameSummary::is_imported) {
                        arrived.files.push((file.stem.time(), new));
                    }
                }
                // The window reports the problem with it.
                Err(error) if error.is_skippable() => {}
                Err(error) => return Err(error),
            }
        }
        Ok(arrived)
    }

    /// All games of models before a generation, without the validation set and unreadable files; those that were
    /// deleted on request count. Each file is read once by a process; what it holds is remembered.
    pub(crate) fn played_before(&mut self, generation: u32) -> Result<Played, StoreError> {
        loop {
            let pruned = self.run.pruning().newest()?;
            let files = self.run.games().files_since(pruned.games_before)?;
            let files: Vec<FileRef> = files.into_iter().filter(|file| file.model < generation).collect();
            let new: Vec<FileRef> = files.iter().filter(|file| !self.played.contains_key(file)).cloned().collect();
            for (file, games) in
                new.iter().zip(self.run.games().read_each(&new, |file| self.run.games().summaries(file)))
            {
                match games {
                    Ok(games) => drop(self.played.insert(file.clone(), Played::of(&games))),
                    Err(error) if error.is_skippable() => {}
                    Err(error) => return Err(error),
                }
            }
            let mut all = Played { games: pruned.games as usize, positions: pruned.positions as usize };
            for played in files.iter().filter_map(|file| self.played.get(file)) {
                all.games += played.games;
                all.positions += played.positions;
            }
            // What a prune has deleted meanwhile is counted in its mark.
            if self.run.pruning().newest()?.games_before == pruned.games_before {
                return Ok(all);
            }
        }
    }

    /// Lists what may be in the window of a generation and is not known to be out of it.
    pub(crate) fn list(&self, generation: u32) -> Result<Listed, StoreError> {
        let from = self.oldest.map_or(generation, |oldest| oldest.min(generation));
        let mut files: BTreeMap<u32, Vec<FileRef>> = (from..generation).map(|model| (model, Vec::new())).collect();
        for file in self.run.games().files_since(from)? {
            files.entry(file.model).or_default().push(file);
        }
        Ok(Listed(files))
    }

    /// The manifest of the generation before, which says what its window had; `None` where it is gone or damaged.
    pub(crate) fn manifest_before(&self, generation: u32) -> Result<Option<Manifest>, StoreError> {
        match self.run.shards().manifest(generation - 1) {
            Err(error) if error.is_skippable() => Ok(None),
            found => found,
        }
    }

    /// The full name of a file, for messages.
    pub(crate) fn name(&self, file: &FileRef) -> String {
        self.run.games().name(file)
    }

    /// Reads the files that were not read before, several at once. What cannot be read is read again by who needs it,
    /// and said then.
    fn read_summaries<'a>(&mut self, files: impl Iterator<Item = &'a FileRef>) {
        let new: Vec<FileRef> = files.filter(|file| !self.known.contains_key(file)).cloned().collect();
        let read = self.run.games().read_each(&new, |file| self.run.games().summaries(file));
        self.known.extend(new.into_iter().zip(read).filter_map(|(file, read)| Some((file, read.ok()?))));
    }

    /// The games of a file.
    pub(crate) fn summaries(&mut self, file: &FileRef) -> Result<&[GameSummary], StoreError> {
        if !self.known.contains_key(file) {
            let games = self.run.games().summaries(file)?;
            self.known.insert(file.clone(), games);
        }
        Ok(&self.known[file])
    }

    /// Files that are out of the window do not come back, but for those of a window that grows, which are read again.
    pub(crate) fn forget_before(&mut self, model: u32) {
        self.known.retain(|file, _| file.model >= model);
        self.oldest = Some(model);
    }
}

impl Played {
    /// What these games hold, without the validation set.
    pub fn of(games: &[GameSummary]) -> Played {
        let games = games.iter().filter(|game| !game.holdout);
        Played { games: games.clone().count(), positions: games.map(|game| game.positions as usize).sum() }
    }
}

impl Listed {
    /// The files of a model, oldest first. What was not listed is, and files of the models before it with it, to be
    /// read together: a pass over the models down to the oldest of a window needs most of them.
    pub(crate) fn of(&mut self, index: &mut GameIndex, model: u32) -> Result<Vec<FileRef>, StoreError> {
        if !self.0.contains_key(&model) {
            let mut files = 0;
            for older in (0..=model).rev() {
                let found = index.run.games().files(older)?;
                files += found.len();
                self.0.insert(older, found);
                if files >= AHEAD {
                    break;
                }
            }
            index.read_summaries(self.0.range(..=model).flat_map(|(_, files)| files));
        }
        Ok(self.0.remove(&model).unwrap_or_default())
    }
}

#[cfg(test)]
mod tests {
    use std::ops::ControlFlow;
    use std::sync::atomic::{AtomicBool, Ordering};

    use go::Size;
    use record::synthetic;
    use store::{Pruned, Store};

    use super::*;

    #[test]
    fn games_that_are_pruned_while_they_are_counted_count() {
        let store = Store::in_memory().unwrap();
        let run = store.run(&"r".parse().unwrap());
        let game = |index| synthetic::game("r-1", "w", index, Size::new(5).unwrap(), 8);
        for model in 0..2 {
            run.games().publish(model, "w", &(0..10).map(game).collect::<Vec<_>>()).unwrap();
        }
        let all = GameIndex::new(&run).played_before(2).unwrap();
        let old = GameIndex::new(&run).played_before(1).unwrap();
        let goal =
            Pruned { games_before: 1, games: old.games as u64, positions: old.positions as u64, ..Pruned::default() };
        let (other, began) = (store.clone(), AtomicBool::new(false));
        // After the first response: the mark is read by then, and the games are not.
        let prune = move || {
            if !began.swap(true, Ordering::Relaxed) {
                let run = other.run(&"r".parse().unwrap());
                run.pruning().prune_games(&goal, &|_| ControlFlow::Continue(())).unwrap();
            }
        };
        let beside = store.with_progress(prune).run(run.name());
        assert_eq!(GameIndex::new(&beside).played_before(2).unwrap(), all);
        assert_eq!(run.games().files(0).unwrap(), []);
    }
}
