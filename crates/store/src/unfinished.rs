//! Games that a process left before their end, for others to go on with.
//!
//! They lie in files like those of finished games: `unfinished/000330/<worker>-<time>.parquet` has games that `worker`
//! began with model 330. Whoever goes on with those of a file claims it first, by a file `….taken.toml` beside it that
//! exists once, and deletes both when the games are published or left again. Before the claim a taker notes what it is about to take
//! (`unfinished/by/<taker>-<time>.toml`), so that one that was killed finds it when it is started again.
//!
//! So a game that was left is in progress in one place at most, and it is played to its end unless a worker that took it is
//! killed and never comes back.

use std::collections::BTreeSet;

use object_store::path::Path;
use record::GameRecord;
use record::games::unfinished;
use serde::{Deserialize, Serialize};

use crate::games::PARQUET;
use crate::names::{number_name, parse_number};
use crate::{FileRef, Run, Stem, StoreError};

pub(crate) const UNFINISHED: &str = "unfinished";
const BY: &str = "by";
const TOML: &str = "toml";
pub(crate) const TAKEN: &str = "taken.toml";

/// Games that were left, and are the taker's to go on with.
#[derive(Clone, Debug, PartialEq)]
pub struct TakenGames {
    /// Their file: the number of the model that began them, and the worker.
    pub file: FileRef,
    /// Those that are neither published nor left once more.
    pub games: Vec<GameRecord>,
}

/// Who goes on with the games of a file.
#[derive(Serialize, Deserialize)]
struct Claim {
    taker: String,
}

/// Which file a taker is about to take.
#[derive(Serialize, Deserialize)]
struct Intent {
    file: String,
}

/// What there is of unfinished games.
#[derive(Default)]
struct Listing {
    files: BTreeSet<FileRef>,
    claimed: BTreeSet<FileRef>,
    /// Of all takers.
    intents: BTreeSet<Stem>,
}

impl Run {
    /// Keeps games that one worker began with one model, for any worker to go on with.
    ///
    /// # Errors
    /// A store that cannot be written, or a worker whose name cannot be that of a file.
    pub fn leave_games(&self, model: u32, worker: &str, games: &[GameRecord]) -> Result<FileRef, StoreError> {
        let table = unfinished::to_batch(games);
        self.publish_now(model, worker, |file| self.store().publish_table(&self.unfinished_path(file, PARQUET), &table))
    }

    /// Takes games that some process left: those first that a taker of this name had taken when it was killed, then those that
    /// it began itself, then any others, all of models that `wanted` agrees to. `None` when there are none.
    ///
    /// # Errors
    /// A store that cannot be used, or [`StoreError::Damaged`] for a file that this version cannot read, which stays claimed. A
    /// damaged one is moved to quarantine.
    pub fn take_games(&self, taker: &str, wanted: impl Fn(u32) -> bool) -> Result<Option<TakenGames>, StoreError> {
        let there = self.unfinished_listing()?;
        for intent in there.intents.iter().filter(|stem| stem.worker() == taker) {
            match self.intended(intent)? {
                Some(file) if self.taker(&file)?.as_deref() == Some(taker) => {
                    if let Some(taken) = self.take(taker, &file, &there)? {
                        return Ok(Some(taken));
                    }
                }
                // It was killed before its claim, or somebody else was quicker.
                _ => self.store().delete(&self.intent_path(intent))?,
            }
        }
        let mut open: Vec<&FileRef> =
            there.files.difference(&there.claimed).filter(|file| wanted(file.model)).collect();
        // Thousands who look at the same list begin at different places of it.
        let first = self.store().now() % open.len().max(1) as u64;
        open.rotate_left(first as usize);
        open.sort_by_key(|file| file.stem.worker() != taker);
        for file in open {
            if self.claim_unfinished(file, taker)?
                && let Some(taken) = self.take(taker, file, &there)?
            {
                return Ok(Some(taken));
            }
        }
        Ok(None)
    }

    /// The games of a file that was taken are published, or have been left once more: it is of no use any more.
    ///
    /// # Errors
    /// A store that cannot be written.
    pub fn end_taken(&self, taker: &str, file: &FileRef) -> Result<(), StoreError> {
        // First, for without its claim somebody else would take it.
        self.store().delete(&self.unfinished_path(file, PARQUET))?;
        self.give_back(taker, file)
    }

    /// Somebody else may take the games of this file.
    ///
    /// # Errors
    /// A store that cannot be written.
    pub fn give_back(&self, taker: &str, file: &FileRef) -> Result<(), StoreError> {
        self.store().delete(&self.unfinished_path(file, TAKEN))?;
        self.forget_intent(taker, file)
    }

    fn forget_intent(&self, taker: &str, file: &FileRef) -> Result<(), StoreError> {
        for intent in self.unfinished_listing()?.intents.iter().filter(|stem| stem.worker() == taker) {
            if self.intended(intent)?.is_none_or(|intended| intended == *file) {
                self.store().delete(&self.intent_path(intent))?;
            }
        }
        Ok(())
    }

    /// The numbers of the games that this worker began with this model and that were left, whoever goes on with them: what
    /// is not to be begun again. Ask for them before [`Run::published_indices`], for games go from here to there.
    ///
    /// # Errors
    /// [`StoreError::Damaged`] for a file that this version cannot read. A damaged one is moved to quarantine.
    pub fn unfinished_indices(&self, model: u32, worker: &str) -> Result<BTreeSet<u64>, StoreError> {
        let mut indices = BTreeSet::new();
        for file in self.unfinished_of(model, worker)? {
            indices.extend(self.unfinished_or_quarantine(&file)?.into_iter().flatten().map(|game| game.index));
        }
        Ok(indices)
    }

    /// The files of games that were left, each with who has taken it, if somebody has.
    ///
    /// # Errors
    /// A store that cannot be reached.
    pub fn unfinished_files(&self) -> Result<Vec<(FileRef, Option<String>)>, StoreError> {
        let there = self.unfinished_listing()?;
        there.files.into_iter().map(|file| Ok((file.clone(), self.taker(&file)?))).collect()
    }

    /// The games of a file that were left; their ends mean nothing.
    ///
    /// # Errors
    /// [`StoreError::NotFound`] when they were taken and ended, [`StoreError::Damaged`] when they cannot be read.
    pub fn read_unfinished(&self, file: &FileRef) -> Result<Vec<GameRecord>, StoreError> {
        self.store().read_records(&self.unfinished_path(file, PARQUET), None, unfinished::from_batch)
    }

    /// The full name of a file of games that were left, for people.
    pub fn unfinished_name(&self, file: &FileRef) -> String {
        self.store().name(&self.unfinished_path(file, PARQUET))
    }

    /// Claims a file; `false` when somebody else has it.
    fn claim_unfinished(&self, file: &FileRef, taker: &str) -> Result<bool, StoreError> {
        let intent = self.intent_path(&Stem::new(taker, self.store().now())?);
        self.store().publish_toml(&intent, &Intent { file: file.to_string() })?;
        match self.store().publish_toml(&self.unfinished_path(file, TAKEN), &Claim { taker: taker.to_owned() }) {
            // One that is gone when it is to be compared with this one was somebody else's, who is done.
            Err(StoreError::AlreadyExists { .. } | StoreError::NotFound { .. }) => {
                self.store().delete(&intent)?;
                Ok(false)
            }
            done => done.map(|()| true),
        }
    }

    /// The games of a file that is claimed; `None` when none is left to play, and then it is ended.
    fn take(&self, taker: &str, file: &FileRef, there: &Listing) -> Result<Option<TakenGames>, StoreError> {
        let mut games = match self.unfinished_or_quarantine(file) {
            Ok(Some(games)) => games,
            Ok(None) => {
                self.give_back(taker, file)?;
                return Ok(None);
            }
            Err(error) => {
                if error.is_damage() {
                    // Next time it is to take others.
                    self.forget_intent(taker, file)?;
                }
                return Err(error);
            }
        };
        let worker = file.stem.worker();
        let mut known = BTreeSet::new();
        let others = there.files.iter().filter(|other| other.model == file.model && other.stem.worker() == worker);
        for other in others.filter(|other| *other != file) {
            known.extend(self.unfinished_or_quarantine(other)?.into_iter().flatten().map(|game| game.index));
        }
        known.extend(self.published_indices(file.model, worker)?);
        games.retain(|game| !known.contains(&game.index));
        if games.is_empty() {
            self.end_taken(taker, file)?;
            return Ok(None);
        }
        Ok(Some(TakenGames { file: file.clone(), games }))
    }

    fn taker(&self, file: &FileRef) -> Result<Option<String>, StoreError> {
        let claim = self.store().find_toml::<Claim>(&self.unfinished_path(file, TAKEN))?;
        Ok(claim.map(|claim| claim.taker))
    }

    /// What a taker was about to take; `None` when that is not known any more.
    fn intended(&self, intent: &Stem) -> Result<Option<FileRef>, StoreError> {
        let found = self.store().find_toml::<Intent>(&self.intent_path(intent))?;
        found.map(|intent| intent.file.parse()).transpose()
    }

    fn unfinished_listing(&self) -> Result<Listing, StoreError> {
        let mut there = Listing::default();
        for (folder, names) in self.store().after(&self.path([UNFINISHED]), None)? {
            if folder == BY {
                there.intents.extend(names.iter().filter_map(|name| Stem::of_file(name, TOML)));
            }
            let Some(model) = parse_number(&folder) else { continue };
            there.files.extend(FileRef::all_in(&folder, &names));
            let taken = names.iter().filter_map(|name| Stem::of_file(name, TAKEN));
            there.claimed.extend(taken.map(|stem| FileRef { model, stem }));
        }
        Ok(there)
    }

    /// The files with games that this worker began with this model.
    fn unfinished_of(&self, model: u32, worker: &str) -> Result<Vec<FileRef>, StoreError> {
        let names = self.store().files_beginning(&self.numbered(UNFINISHED, model), &format!("{worker}-"))?;
        let files = FileRef::all_in(&number_name(model), &names);
        Ok(files.filter(|file| file.stem.worker() == worker).collect())
    }

    fn unfinished_path(&self, file: &FileRef, extension: &str) -> Path {
        self.file(UNFINISHED, file, extension)
    }

    fn intent_path(&self, intent: &Stem) -> Path {
        self.path([UNFINISHED, BY]).join(format!("{intent}.{TOML}"))
    }
}

#[cfg(test)]
mod tests {
    use go::Size;
    use record::synthetic;

    use super::*;
    use crate::Store;

    fn run() -> Run {
        Store::in_memory().unwrap().run(&"run".parse().unwrap())
    }

    fn games(worker: &str, indices: std::ops::Range<u64>) -> Vec<GameRecord> {
        let game = |index| synthetic::game("run-1", worker, index, Size::new(5).unwrap(), 8);
        indices.map(|index| GameRecord { turns: game(index).turns[..4].to_vec(), ..game(index) }).collect()
    }

    fn any(_: u32) -> bool {
        true
    }

    fn taken_by(run: &Run, taker: &str) -> Option<(FileRef, Vec<u64>)> {
        let taken = run.take_games(taker, any).unwrap()?;
        Some((taken.file, taken.games.iter().map(|game| game.index).collect()))
    }

    #[test]
    fn games_that_are_left_are_taken_once_and_by_their_own_worker_first() {
        let run = run();
        assert_eq!(run.take_games("a", any).unwrap(), None);
        let a = run.leave_games(1, "a", &games("a", 0..3)).unwrap();
        let b = run.leave_games(1, "b", &games("b", 5..7)).unwrap();
        assert_eq!(taken_by(&run, "b"), Some((b.clone(), vec![5, 6])));
        assert_eq!(run.take_games("c", |model| model > 1).unwrap(), None, "other models are not asked for");
        assert_eq!(taken_by(&run, "c"), Some((a.clone(), vec![0, 1, 2])));
        assert_eq!(taken_by(&run, "d"), None);
        let there = [(a.clone(), Some("c".to_owned())), (b, Some("b".to_owned()))];
        assert_eq!(run.unfinished_files().unwrap(), there);
        assert_eq!(run.unfinished_indices(1, "a").unwrap(), (0..3).collect(), "whoever goes on with them");
        run.end_taken("c", &a).unwrap();
        assert_eq!(run.unfinished_indices(1, "a").unwrap(), BTreeSet::new());
        assert_eq!(run.unfinished_files().unwrap().len(), 1);
        assert_eq!(taken_by(&run, "d"), None);
    }

    #[test]
    fn take_games_returns_games_as_they_were_left() {
        let run = run();
        let left = games("a", 0..3);
        run.leave_games(1, "a", &left).unwrap();
        let read = run.take_games("a", any).unwrap().unwrap().games;
        for (read, left) in read.iter().zip(&left) {
            assert_eq!(
                (read.id, &read.turns, read.seed, &read.worker),
                (left.id, &left.turns, left.seed, &left.worker)
            );
        }
    }

    #[test]
    fn a_taker_that_was_killed_finds_what_it_had_taken_and_nobody_else_does() {
        let run = run();
        let file = run.leave_games(1, "a", &games("a", 0..4)).unwrap();
        assert!(taken_by(&run, "b").is_some());
        // It had published one of them before.
        run.publish_games(1, "a", &games("a", 1..2)).unwrap();
        assert_eq!(taken_by(&run, "c"), None);
        assert_eq!(taken_by(&run, "b"), Some((file.clone(), vec![0, 2, 3])));
        run.end_taken("b", &file).unwrap();
        assert_eq!((taken_by(&run, "b"), run.unfinished_listing().unwrap().intents.len()), (None, 0));
    }

    #[test]
    fn games_that_were_left_twice_are_in_one_place() {
        let run = run();
        let first = run.leave_games(1, "a", &games("a", 0..4)).unwrap();
        assert!(taken_by(&run, "b").is_some());
        // Killed between leaving what was not finished and ending what was taken.
        let second = run.leave_games(1, "a", &games("a", 2..4)).unwrap();
        run.publish_games(1, "a", &games("a", 0..2)).unwrap();
        assert_eq!(taken_by(&run, "b"), Some((second, vec![2, 3])), "of the first, nothing is left");
        assert!(!run.unfinished_files().unwrap().iter().any(|(file, _)| *file == first));
    }

    #[test]
    fn what_kills_leave_behind_is_cleared_away() {
        let run = run();
        let files: Vec<FileRef> =
            (0..2).map(|first| run.leave_games(1, "a", &games("a", first..first + 1)).unwrap()).collect();
        // Killed after it had noted what it was about to take, and before it had deleted the claim on what was finished.
        let intent = |file: &FileRef| Intent { file: file.to_string() };
        run.store().publish_toml(&run.intent_path(&Stem::new("b", 1).unwrap()), &intent(&files[0])).unwrap();
        assert!(run.claim_unfinished(&files[1], "b").unwrap());
        run.store().delete(&run.unfinished_path(&files[1], PARQUET)).unwrap();
        assert_eq!(taken_by(&run, "b"), Some((files[0].clone(), vec![0])));
        let there = run.unfinished_listing().unwrap();
        assert_eq!((there.claimed, there.intents.len()), (BTreeSet::from([files[0].clone()]), 1));
    }

    #[test]
    fn games_that_are_given_back_are_there_for_others() {
        let run = run();
        let file = run.leave_games(1, "a", &games("a", 0..1)).unwrap();
        assert!(taken_by(&run, "b").is_some());
        run.give_back("b", &file).unwrap();
        assert_eq!(taken_by(&run, "c"), Some((file, vec![0])));
    }
}
