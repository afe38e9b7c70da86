//! Games in progress that a process handed off.
//!
//! They lie in files like those of finished games: `unfinished/000330/<worker>-<time>.parquet` has games that `worker`
//! began with model 330. A taker claims a file first, by one `….taken.toml` beside it, and deletes both when the games
//! are published or handed off again. Before the claim a taker notes the file (`unfinished/by/<taker>-<time>.toml`), so
//! that a killed taker finds it after a restart. One of the two is enough for that: the other may be damaged.
//!
//! A worker that is killed, or cannot publish, while it hands games off again may leave them in two files. The file
//! with the latest name counts; a hand-off chooses a name after all others of its series.
//!
//! So a handed-off game is in progress in one place at most, unless a taker's list lacks the latest file, as that of a
//! cache may: what is then played twice counts once. It is played to its end unless a worker that acquired it is killed
//! and never comes back.

use std::collections::BTreeSet;
use std::sync::{Mutex, MutexGuard, PoisonError};

use object_store::path::Path;
use record::GameRecord;
use record::games::unfinished;
use serde::{Deserialize, Serialize};

use crate::error::StoreError;
use crate::files::{FileRef, PARQUET};
use crate::folder::RunFolder;
use crate::games::Games;
use crate::lookup::Lookup;
use crate::names::{Stem, TOML, number_name, parse_number};
use crate::quarantine::Quarantine;

const UNFINISHED: &str = "unfinished";
const BY: &str = "by";
const TAKEN: &str = "taken.toml";

/// Handed-off games, for the taker to resume.
#[derive(Clone, Debug, PartialEq)]
pub struct AcquiredGames {
    /// Their file: the number of the model that began them, and the worker.
    pub file: FileRef,
    /// The games that are neither published nor handed off again later.
    pub games: Vec<GameRecord>,
}

/// The taker of a file.
#[derive(Serialize, Deserialize)]
struct TakerClaim {
    taker: String,
}

/// Which file a taker is about to acquire.
#[derive(Serialize, Deserialize)]
struct Intent {
    file: String,
}

/// The handed-off files and their takers.
#[derive(Default)]
struct Listing {
    files: BTreeSet<FileRef>,
    claimed: BTreeSet<FileRef>,
    /// Of all takers.
    intents: BTreeSet<Stem>,
}

/// The games of a run that are in progress.
#[derive(Debug)]
pub struct UnfinishedGames {
    at: RunFolder,
    games: Games,
    quarantine: Quarantine,
    /// Files of another version that were met: each is claimed and named once.
    foreign: Mutex<BTreeSet<FileRef>>,
}

impl UnfinishedGames {
    pub(crate) fn new(at: RunFolder, games: Games) -> UnfinishedGames {
        let quarantine = Quarantine { at: at.clone() };
        UnfinishedGames { at, games, quarantine, foreign: Mutex::default() }
    }

    /// Hands off games that one worker began with one model, for any worker to resume. Their file is later than all
    /// others of that worker and model, whatever clocks say.
    ///
    /// # Errors
    /// A store that cannot be written, or a worker whose name cannot be that of a file.
    pub fn hand_off(&self, model: u32, worker: &str, games: &[GameRecord]) -> Result<FileRef, StoreError> {
        let table = unfinished::to_batch(games);
        let before = self.files_of(model, worker)?;
        let mut later = before.iter().map(|file| file.stem.time() + 1).max().unwrap_or(0);
        loop {
            let file = FileRef { model, stem: Stem::new(worker, self.at.store.now().max(later))? };
            match self.at.store.publish_table(&self.file(&file, PARQUET), &table) {
                // Another process was quicker in this millisecond, or a cache does not list its file yet.
                Err(StoreError::AlreadyExists { .. }) => later = file.stem.time() + 1,
                done => return done.map(|()| file),
            }
        }
    }

    /// Acquires handed-off games: those first that a taker of this name had acquired when it was killed, then those
    /// that it began itself, then any others, all of models that `wanted` agrees to. The files in `held` are omitted:
    /// the process that requests has them already. `None` when there are none. Files of another version are for
    /// processes of that one: they are skipped, and stay without a claim.
    ///
    /// # Errors
    /// A store that cannot be used, or [`StoreError::Damaged`] for a file that cannot be read, which stays claimed.
    /// Damaged bytes are moved to quarantine.
    pub fn acquire(
        &self,
        taker: &str,
        held: &[&FileRef],
        wanted: impl Fn(u32) -> bool,
    ) -> Result<Option<AcquiredGames>, StoreError> {
        let there = self.listing()?;
        for file in self.acquired_before(taker, &there)?.into_iter().filter(|file| !held.contains(&file)) {
            if let Some(acquired) = self.open_acquired(taker, &file, &there)? {
                return Ok(Some(acquired));
            }
        }
        let foreign = self.foreign().clone();
        let may_open = |file: &&FileRef| wanted(file.model) && !foreign.contains(*file);
        let mut open: Vec<&FileRef> = there.files.difference(&there.claimed).filter(may_open).collect();
        // Thousands of readers of the same list begin at different places of it.
        let first = self.at.store.now() % open.len().max(1) as u64;
        open.rotate_left(first as usize);
        open.sort_by_key(|file| file.stem.worker() != taker);
        for file in open {
            if self.claim(file, taker)?
                && let Some(acquired) = self.open_acquired(taker, file, &there)?
            {
                return Ok(Some(acquired));
            }
        }
        Ok(None)
    }

    /// What a taker of this name had acquired when it was killed. Its intents that came to nothing are deleted.
    fn acquired_before(&self, taker: &str, there: &Listing) -> Result<Vec<FileRef>, StoreError> {
        let mut acquired = Vec::new();
        for intent in there.intents.iter().filter(|stem| stem.worker() == taker) {
            let before = acquired.len();
            match self.intended(intent) {
                // Of takers of one file all but one delete their intents at once: a claim that cannot be read is
                // this taker's.
                Ok(Some(file)) => {
                    let is_own = match self.taker(&file)? {
                        Lookup::Found(by) => by == taker,
                        Lookup::Unreadable => true,
                        Lookup::Gone => false,
                    };
                    if is_own {
                        acquired.push(file);
                    }
                }
                Ok(None) => {}
                // A process of that version will find them by it.
                Err(error @ StoreError::OtherVersion { .. }) => {
                    tracing::warn!(%error, "skipped games that a worker of another version had acquired");
                    continue;
                }
                Err(error @ StoreError::Damaged { .. }) => {
                    tracing::warn!(%error, "searching all claims for the games that this worker had acquired");
                    for file in &there.claimed {
                        if self.taker(file)?.found().as_deref() == Some(taker) {
                            acquired.push(file.clone());
                        }
                    }
                }
                Err(error) => return Err(error),
            }
            // It was killed before its claim, or another taker was quicker.
            if acquired.len() == before {
                self.at.store.delete(&self.intent_path(intent))?;
            }
        }
        Ok(acquired)
    }

    /// Deletes an acquired file whose games are all published or handed off again.
    ///
    /// # Errors
    /// A store that cannot be written.
    pub fn complete(&self, taker: &str, file: &FileRef) -> Result<(), StoreError> {
        // First: without its claim another process would acquire it.
        self.at.store.delete(&self.file(file, PARQUET))?;
        self.release(taker, file)
    }

    /// Releases the claim on a file.
    ///
    /// # Errors
    /// A store that cannot be written.
    pub fn release(&self, taker: &str, file: &FileRef) -> Result<(), StoreError> {
        self.at.store.delete(&self.file(file, TAKEN))?;
        self.forget_intent(taker, file)
    }

    fn forget_intent(&self, taker: &str, file: &FileRef) -> Result<(), StoreError> {
        for intent in self.listing()?.intents.iter().filter(|stem| stem.worker() == taker) {
            match self.intended(intent) {
                Ok(Some(intended)) if intended != *file => {}
                // Of a process of that version.
                Err(StoreError::OtherVersion { .. }) => {}
                // One that cannot be read has led to this file.
                Ok(_) | Err(StoreError::Damaged { .. }) => self.at.store.delete(&self.intent_path(intent))?,
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// The numbers of the games that this worker began with this model and handed off, so that it does not begin them
    /// again. Read them before [`Games::indices`](crate::Games::indices), for games go from here to there. Those in a
    /// file of another version are not known; what is then played twice counts once.
    ///
    /// # Errors
    /// A store that cannot be used, or [`StoreError::Damaged`] for a file that cannot be read. Damaged bytes are moved
    /// to quarantine.
    pub fn indices(&self, model: u32, worker: &str) -> Result<BTreeSet<u64>, StoreError> {
        let mut indices = BTreeSet::new();
        for file in self.files_of(model, worker)? {
            indices.extend(self.games_or_quarantine(&file)?.into_iter().flatten().map(|game| game.index));
        }
        Ok(indices)
    }

    /// The files of games that were handed off, each with its taker, if one is known.
    ///
    /// # Errors
    /// A store that cannot be reached.
    pub fn files(&self) -> Result<Vec<(FileRef, Option<String>)>, StoreError> {
        let there = self.listing()?;
        there.files.into_iter().map(|file| Ok((file.clone(), self.taker(&file)?.found()))).collect()
    }

    /// When a file was claimed by the clock of the place, in milliseconds since 1970; `None` when it is not.
    ///
    /// # Errors
    /// A store that cannot be reached.
    pub fn claimed_at(&self, file: &FileRef) -> Result<Option<i64>, StoreError> {
        self.at.store.written_at(&self.file(file, TAKEN))
    }

    /// The handed-off games of a file; they have no outcome.
    ///
    /// # Errors
    /// [`StoreError::NotFound`] when they were acquired and completed, [`StoreError::Damaged`] when they cannot be
    /// read.
    pub fn read(&self, file: &FileRef) -> Result<Vec<GameRecord>, StoreError> {
        self.at.store.read_records(&self.file(file, PARQUET), None, unfinished::from_batch)
    }

    /// The full name of a file of handed-off games, for messages.
    pub fn name(&self, file: &FileRef) -> String {
        self.at.store.name(&self.file(file, PARQUET))
    }

    /// Moves a file of unfinished games to quarantine; returns how many files moved.
    ///
    /// # Errors
    /// As [`Games::quarantine`](crate::Games::quarantine).
    pub fn quarantine(&self, file: &FileRef) -> Result<usize, StoreError> {
        let moved = self.quarantine.put([self.at.file(UNFINISHED, file, PARQUET)])?;
        self.at.store.delete(&self.at.file(UNFINISHED, file, TAKEN))?;
        Ok(moved)
    }

    /// Whether the bytes of a file are not those that were published. A file of another version is not altered.
    ///
    /// # Errors
    /// A store that cannot be reached.
    pub fn is_altered(&self, file: &FileRef) -> Result<bool, StoreError> {
        self.quarantine.is_altered(&self.at.file(UNFINISHED, file, PARQUET))
    }

    /// The games of a file of unfinished games; `None` when there are none any more, or none that this version reads. A
    /// file whose bytes are damaged is moved to quarantine.
    fn games_or_quarantine(&self, file: &FileRef) -> Result<Option<Vec<GameRecord>>, StoreError> {
        match self.read(file) {
            Err(error @ StoreError::OtherVersion { .. }) => {
                if self.foreign().insert(file.clone()) {
                    tracing::warn!(%error, "skipped handed-off games");
                }
                Ok(None)
            }
            read => {
                let path = self.file(file, PARQUET);
                self.quarantine.read_or_move(read, || self.read(file), &path, || self.quarantine(file))
            }
        }
    }

    /// Claims a file; `false` when another taker has it.
    fn claim(&self, file: &FileRef, taker: &str) -> Result<bool, StoreError> {
        let intent = self.intent_path(&Stem::new(taker, self.at.store.now())?);
        self.at.store.publish_toml(&intent, &Intent { file: file.to_string() })?;
        match self.at.store.publish_toml(&self.file(file, TAKEN), &TakerClaim { taker: taker.to_owned() }) {
            Err(StoreError::AlreadyExists { .. }) => {
                self.at.store.delete(&intent)?;
                Ok(false)
            }
            done => done.map(|()| true),
        }
    }

    /// The games of a file that is claimed; `None` when none remains, and then it is deleted.
    fn open_acquired(&self, taker: &str, file: &FileRef, there: &Listing) -> Result<Option<AcquiredGames>, StoreError> {
        let mut games = match self.games_or_quarantine(file) {
            Ok(Some(games)) => games,
            Ok(None) => {
                self.release(taker, file)?;
                return Ok(None);
            }
            Err(error) => {
                if error.is_damage() {
                    // Next time it is to acquire others.
                    self.forget_intent(taker, file)?;
                }
                return Err(error);
            }
        };
        let worker = file.stem.worker();
        let mut known = BTreeSet::new();
        let others = there.files.iter().filter(|other| other.model == file.model && other.stem.worker() == worker);
        // A game in two files is that of the later one. Earlier ones do not count, or takers of the two would each drop
        // it.
        for other in others.filter(|other| *other > file) {
            known.extend(self.games_or_quarantine(other)?.into_iter().flatten().map(|game| game.index));
        }
        known.extend(self.games.indices(file.model, worker)?);
        games.retain(|game| !known.contains(&game.index));
        if games.is_empty() {
            self.complete(taker, file)?;
            return Ok(None);
        }
        Ok(Some(AcquiredGames { file: file.clone(), games }))
    }

    /// The taker of a file, by its claim.
    fn taker(&self, file: &FileRef) -> Result<Lookup<String>, StoreError> {
        match self.at.store.find_toml::<TakerClaim>(&self.file(file, TAKEN)) {
            Err(error @ (StoreError::Damaged { .. } | StoreError::OtherVersion { .. })) => {
                tracing::warn!(%error, "the claim on handed-off games cannot be read");
                Ok(Lookup::Unreadable)
            }
            found => Ok(found?.map(|claim| claim.taker).into()),
        }
    }

    /// What a taker was about to acquire; `None` when that is not known any more.
    fn intended(&self, intent: &Stem) -> Result<Option<FileRef>, StoreError> {
        let path = self.intent_path(intent);
        let found = self.at.store.find_toml::<Intent>(&path)?;
        let damaged = |e: StoreError| StoreError::Damaged { path: self.at.store.name(&path), reason: e.to_string() };
        found.map(|intent| intent.file.parse::<FileRef>().map_err(damaged)).transpose()
    }

    fn listing(&self) -> Result<Listing, StoreError> {
        let mut there = Listing::default();
        for (folder, names) in self.at.store.after(&self.at.path([UNFINISHED]), None)? {
            if folder == BY {
                there.intents.extend(names.iter().filter_map(|name| name.strip_suffix(TOML)?.parse::<Stem>().ok()));
            }
            let Some(model) = parse_number(&folder) else { continue };
            there.files.extend(FileRef::all_in(&folder, &names));
            let taken = names.iter().filter_map(|name| Stem::of_file(name, TAKEN));
            there.claimed.extend(taken.map(|stem| FileRef { model, stem }));
        }
        Ok(there)
    }

    /// The files with games that this worker began with this model.
    fn files_of(&self, model: u32, worker: &str) -> Result<Vec<FileRef>, StoreError> {
        let names = self.at.store.files_beginning(&self.at.numbered(UNFINISHED, model), &format!("{worker}-"))?;
        let files = FileRef::all_in(&number_name(model), &names);
        Ok(files.filter(|file| file.stem.worker() == worker).collect())
    }

    fn foreign(&self) -> MutexGuard<'_, BTreeSet<FileRef>> {
        self.foreign.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn file(&self, file: &FileRef, extension: &str) -> Path {
        self.at.file(UNFINISHED, file, extension)
    }

    fn intent_path(&self, intent: &Stem) -> Path {
        self.at.path([UNFINISHED, BY]).join(format!("{intent}{TOML}"))
    }
}

#[cfg(test)]
mod tests;
