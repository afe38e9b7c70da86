//! Deletion of old games on request, beside readers and writers.
//!
//! ```text
//! pruned/000001.toml      games of models before 12 may be deleted, and archives before 3
//! ```
//!
//! A mark is published before anything that it names is deleted. Models are pruned as a whole, the oldest first, so a
//! mark is one number; marks only rise. Readers list games from the newest model backwards and do not come to models
//! before the mark: which models are old enough is decided by the caller, who knows what the stages need.
//!
//! - A file of games in its folder goes before its examples, as it committed them: examples that a kill keeps have no
//!   reader. The next call deletes them.
//! - An archive goes when all its files are of such models, and all archives before it are gone. Readers that find no
//!   archive of a number continue at the first that the mark keeps, and the next archive gets that number at least.
//! - Of compactions that read a file while it is deleted, none takes half of it: they read its games last.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;

use object_store::path::Path;

use crate::archive::ARCHIVE;
use crate::archives::Archives;
use crate::error::StoreError;
use crate::files::{EXAMPLES, FileRef, GAMES, HOLDOUT, PARQUET, SGF};
use crate::folder::RunFolder;
use crate::list::Listed;
use crate::marks::Pruned;
use crate::names::parse_number;
use crate::quarantine::QUARANTINE;
use crate::stored::{FileKind, FileOwner};

/// Files of a set whose games are not there are left over, unless their writer is at work: younger ones stay.
const LEFT_OVER: i64 = 3600 * 1000;

/// A file of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredFile {
    /// Its path in the folder of the run.
    pub path: String,
    /// What it belongs to; `None` for a damaged file, or one that no program of a run wrote.
    pub owner: Option<FileOwner>,
    /// Its size.
    pub bytes: u64,
    /// When it was written by the clock of the place, in milliseconds since 1970.
    pub written: i64,
}

/// An archive, and how many games of which models it has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArchiveContents {
    /// Its number.
    pub number: u32,
    /// Games by model.
    pub games: BTreeMap<u32, usize>,
    /// When the newest of its files of games was published, as its name has it, in milliseconds since 1970.
    pub newest: u64,
    /// The path of its SGF in the folder of the run.
    pub sgf: Option<String>,
}

/// Deleted files.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DeletedFiles {
    /// How many.
    pub files: usize,
    /// Their size.
    pub bytes: u64,
}

/// Deletion of old objects of a run, and of what killed writers left behind.
#[derive(Clone, Debug)]
pub struct Pruning {
    pub(crate) at: RunFolder,
    archives: Archives,
}

impl Pruning {
    pub(crate) fn new(at: RunFolder, archives: Archives) -> Pruning {
        Pruning { at, archives }
    }

    /// What was pruned so far.
    ///
    /// # Errors
    /// A store that cannot be reached.
    pub fn newest(&self) -> Result<Pruned, StoreError> {
        self.archives.marks.newest()
    }

    /// All files of a kind, in order of path.
    ///
    /// # Errors
    /// A store that cannot be reached.
    pub fn files(&self, kind: FileKind) -> Result<Vec<StoredFile>, StoreError> {
        let files = self.at.store.files_below(&self.at.path([kind.folder()]))?;
        let stored = |found: &Listed| {
            let path = path_in_run(found);
            StoredFile { owner: FileOwner::of(&path), path, bytes: found.bytes, written: found.written }
        };
        Ok(files.iter().map(stored).filter(|file| kind.has(&file.path)).collect())
    }

    /// The archives that are there, the oldest first.
    ///
    /// # Errors
    /// A store that cannot be reached, or an archive that cannot be opened.
    pub fn archives(&self) -> Result<Vec<ArchiveContents>, StoreError> {
        let archives = self.archives.list()?;
        let contents = archives.iter().map(|archive| {
            let mut games = BTreeMap::new();
            let mut newest = 0;
            for source in archive.sources.values() {
                *games.entry(source.file.model).or_default() += source.games.rows;
                newest = newest.max(source.file.stem.time());
            }
            let sgf = archive.part(SGF).map(|part| format!("{SGF}/{ARCHIVE}/{}", part.file));
            ArchiveContents { number: archive.number, games, newest, sgf }
        });
        Ok(contents.collect())
    }

    /// The first archive that is kept when games of models before `model` are deleted.
    ///
    /// # Errors
    /// As [`Pruning::archives`].
    pub fn first_archive(&self, model: u32) -> Result<u32, StoreError> {
        let archives = self.archives()?;
        let kept = archives.iter().find(|archive| archive.games.keys().any(|&of| of >= model));
        Ok(match (kept, archives.last()) {
            (Some(kept), _) => kept.number,
            (None, Some(newest)) => newest.number + 1,
            (None, None) => 0,
        })
    }

    /// Deletes the games of models before `games_before`, with everything that was published with them, and continues
    /// what an earlier call that was killed left. `progress` is called between files with what is deleted so far, and
    /// ends the work early when it breaks.
    ///
    /// # Errors
    /// A store that cannot be used.
    pub fn prune_games(
        &self,
        goal: &Pruned,
        progress: &dyn Fn(DeletedFiles) -> ControlFlow<()>,
    ) -> Result<DeletedFiles, StoreError> {
        let first_archive = match self.first_archive(goal.games_before)? {
            0 => goal.first_archive,
            first => first,
        };
        let pruned = self.archives.marks.raise(&Pruned { first_archive, ..*goal })?;
        let mut deleted = DeletedFiles::default();
        let is_old = |found: &Listed| model_of(found).is_some_and(|model| model < pruned.games_before);
        let mut stems = BTreeSet::new();
        for found in self.at.store.files_below(&self.at.path([GAMES]))?.iter().filter(|found| is_old(found)) {
            if progress(deleted).is_break() {
                return Ok(deleted);
            }
            self.delete(found, &mut deleted)?;
            stems.extend(stem_of(found));
        }
        self.prune_archives(&pruned, &mut deleted, progress)?;
        for folder in [EXAMPLES, HOLDOUT, SGF] {
            let files = self.at.store.files_below(&self.at.path([folder]))?;
            let newest =
                files.iter().map(|found| found.written).max().unwrap_or_default().max(self.at.store.now() as i64);
            for found in files.iter().filter(|found| is_old(found)) {
                let of_set = stem_of(found).is_some_and(|stem| stems.contains(&stem));
                if progress(deleted).is_break() {
                    return Ok(deleted);
                }
                if of_set || newest - found.written > LEFT_OVER {
                    self.delete(found, &mut deleted)?;
                }
            }
        }
        for folder in [GAMES, EXAMPLES, HOLDOUT, SGF] {
            let models = self.at.store.folders(&self.at.path([folder]))?;
            let old = models.iter().filter_map(|name| parse_number(name)).filter(|&model| model < pruned.games_before);
            old.for_each(|model| self.at.store.delete_empty_folder(&self.at.numbered(folder, model)));
        }
        Ok(deleted)
    }

    /// Deletes archives before the first that is kept: the games, which list it, and then its other files.
    fn prune_archives(
        &self,
        pruned: &Pruned,
        deleted: &mut DeletedFiles,
        progress: &dyn Fn(DeletedFiles) -> ControlFlow<()>,
    ) -> Result<(), StoreError> {
        for folder in [GAMES, EXAMPLES, HOLDOUT, SGF] {
            for found in self.at.store.files_below(&self.at.path([folder, ARCHIVE]))? {
                if progress(*deleted).is_break() {
                    return Ok(());
                }
                if let Some(FileOwner::Archive(number)) = FileOwner::of(&path_in_run(&found))
                    && number < pruned.first_archive
                {
                    self.delete(&found, deleted)?;
                }
            }
        }
        Ok(())
    }

    /// Deletes SGF records, those of archives before `sgf_from_archive` included. `progress` is that of
    /// [`Pruning::prune_games`].
    ///
    /// # Errors
    /// A store that cannot be used.
    pub fn prune_sgf(
        &self,
        files: &[StoredFile],
        sgf_from_archive: u32,
        progress: &dyn Fn(DeletedFiles) -> ControlFlow<()>,
    ) -> Result<DeletedFiles, StoreError> {
        self.archives.marks.raise(&Pruned { sgf_from_archive, ..Pruned::default() })?;
        self.delete_below(SGF, files, progress)
    }

    /// Deletes files in quarantine. `progress` is that of [`Pruning::prune_games`].
    ///
    /// # Errors
    /// A store that cannot be used.
    pub fn prune_quarantine(
        &self,
        files: &[StoredFile],
        progress: &dyn Fn(DeletedFiles) -> ControlFlow<()>,
    ) -> Result<DeletedFiles, StoreError> {
        self.delete_below(QUARANTINE, files, progress)
    }

    /// Deletes those of the files that are in a folder, for nothing else may be deleted one by one.
    fn delete_below(
        &self,
        folder: &str,
        files: &[StoredFile],
        progress: &dyn Fn(DeletedFiles) -> ControlFlow<()>,
    ) -> Result<DeletedFiles, StoreError> {
        let mut deleted = DeletedFiles::default();
        for file in files.iter().filter(|file| file.path.split('/').next() == Some(folder)) {
            if progress(deleted).is_break() {
                break;
            }
            let path: Path = self.at.path([]).parts().chain(Path::from(file.path.as_str()).parts()).collect();
            self.at.store.delete(&path)?;
            deleted.files += 1;
            deleted.bytes += file.bytes;
        }
        Ok(deleted)
    }

    fn delete(&self, found: &Listed, deleted: &mut DeletedFiles) -> Result<(), StoreError> {
        self.at.store.delete(&found.path)?;
        deleted.files += 1;
        deleted.bytes += found.bytes;
        Ok(())
    }
}

/// The path of a file in the folder of its run.
fn path_in_run(found: &Listed) -> String {
    found.path.parts().skip(1).collect::<Path>().to_string()
}

/// The model of a file in its folder; `None` for one of an archive or a match.
fn model_of(found: &Listed) -> Option<u32> {
    match FileOwner::of(&path_in_run(found))? {
        FileOwner::Model(model) => Some(model),
        _ => None,
    }
}

/// The set that a file in its folder belongs to.
fn stem_of(found: &Listed) -> Option<FileRef> {
    let name = found.path.filename()?;
    let (stem, extension) = name.rsplit_once('.')?;
    let known = extension == PARQUET || extension == SGF;
    Some(FileRef { model: model_of(found)?, stem: stem.parse().ok().filter(|_| known)? })
}
