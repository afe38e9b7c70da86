//! Compaction: many small files of games become an archive.
//!
//! 1. The examples, the holdout examples and the readable games of some files are published as parts of the next
//!    archive.
//! 2. Its games are published under its number, naming the parts. They are the commit: from then on all these files are
//!    in the archive. Another compactor that was about to make an archive of this number finds the name taken, and
//!    begins anew.
//! 3. Every file is read again, from its folder and from the archive, and deleted only where both are the same: its
//!    games last, since readers list those.
//!
//! A kill before the second step leaves only parts without a reader, which are deleted when an archive of their number
//! exists. After a later kill the files are in two places and are seen once, until the next compaction continues.
//!
//! A file takes a dozen requests, most of the time waited for, so several files at a time are read and deleted.

use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::sync::Arc;

use arrow_array::RecordBatch;

use crate::archive::{ARCHIVE, Archive, archive_path};
use crate::archives::Archives;
use crate::error::StoreError;
use crate::files::{EXAMPLES, FileRef, GAMES, HOLDOUT, PARQUET, SGF};
use crate::names::{number_name, parse_number};
use crate::packing::{Builder, Loaded, Weighed};
use crate::projection::decode;

/// The result of a compaction.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Compaction {
    /// Archives made.
    pub archives: usize,
    /// Games in them.
    pub games: usize,
    /// Files of games in them.
    pub files: usize,
    /// Deleted files of games, including those of an interrupted earlier compaction.
    pub deleted: usize,
    /// Files of games that were not archived, with the reason.
    pub left: Vec<(FileRef, String)>,
}

impl Archives {
    /// Archives the files of games that are in no archive, in their order, up to `most` games per archive. An archive
    /// needs at least `least` games, or enough bytes for a full one. An unreadable file stays in place.
    ///
    /// May be called at any time, by several processes at once, and be killed at any time: see the module.
    ///
    /// # Errors
    /// A store that cannot be reached, or an archive that is not what its sources are: nothing is deleted then.
    pub fn compact(&self, least: usize, most: usize) -> Result<Compaction, StoreError> {
        let mut done = Compaction::default();
        self.finish_archives(&mut done)?;
        while let Some(made) = self.make_archive(least, most, &mut done)? {
            done.archives += usize::from(made);
            self.finish_archives(&mut done)?;
        }
        Ok(done)
    }

    /// Files of games in their folders, which a compaction may put into archives.
    ///
    /// # Errors
    /// A store that cannot be reached.
    pub fn loose_files(&self) -> Result<Vec<FileRef>, StoreError> {
        let mut files = Vec::new();
        for (folder, names) in self.at.store.after(&self.at.path([GAMES]), None)? {
            files.extend(FileRef::all_in(&folder, &names));
        }
        files.sort_unstable();
        Ok(files)
    }

    /// Makes the next archive; `None` when there is too little for one, and whether it was this process that made it.
    fn make_archive(&self, least: usize, most: usize, done: &mut Compaction) -> Result<Option<bool>, StoreError> {
        let loose = self.loose_files()?;
        let archives = self.list()?;
        // Also where all archives before it were pruned.
        let number = archives.last().map_or(1, |archive| archive.number + 1).max(self.marks.newest()?.first_archive);
        let (mut batch, mut full) = (Builder::new(&self.at.store), false);
        let known = |file: &FileRef| archives.iter().any(|archive| archive.sources.contains_key(file));
        let left = |file: &FileRef| done.left.iter().any(|(left, _)| left == file);
        let files: Vec<FileRef> = loose.into_iter().filter(|file| !known(file) && !left(file)).collect();
        'files: for some in files.chunks(self.at.store.at_once()) {
            for (file, loaded) in some.iter().zip(self.at.store.each(some, |file| self.load(file))) {
                match loaded {
                    Ok(loaded) if batch.is_full(&loaded, most) => {
                        full = true;
                        break 'files;
                    }
                    Ok(loaded) => {
                        if let Err(why) = batch.put(file, loaded) {
                            done.left.push((file.clone(), why));
                        }
                    }
                    Err(error) if error.is_damage() => done.left.push((file.clone(), error.to_string())),
                    Err(error) => return Err(error),
                }
            }
        }
        let (games, files) = (batch.games.rows, batch.sources.len());
        if games < least.max(1) && !full {
            return Ok(None);
        }
        match batch.publish(&self.at, number) {
            Ok(()) => {
                done.games += games;
                done.files += files;
                Ok(Some(true))
            }
            Err(StoreError::AlreadyExists { path })
                if path.ends_with(&format!("{}.{PARQUET}", number_name(number))) =>
            {
                Ok(Some(false))
            }
            Err(error) => Err(error),
        }
    }

    fn load(&self, file: &FileRef) -> Result<Loaded, StoreError> {
        let optional = |folder| match self.load_table(folder, file) {
            Ok(table) => Ok(Some(table)),
            Err(StoreError::NotFound { .. }) => Ok(None),
            Err(error) => Err(error),
        };
        let (examples, holdout) = (optional(EXAMPLES)?, optional(HOLDOUT)?);
        let sgf = self.at.store.find(&self.at.file(SGF, file, SGF))?;
        // Last: of a set that is being pruned they go first, so that no set is taken without its examples.
        Ok(Loaded { games: self.load_table(GAMES, file)?, examples, holdout, sgf })
    }

    fn load_table(&self, folder: &str, file: &FileRef) -> Result<Weighed, StoreError> {
        let path = self.at.file(folder, file, PARQUET);
        let bytes = self.at.store.get(&path)?;
        let size = bytes.len();
        let table =
            decode(bytes, None).map_err(|reason| StoreError::Damaged { path: self.at.store.name(&path), reason })?;
        Ok(Weighed { table, bytes: size })
    }

    /// Deletes the files that are in archives, and the parts of archives that never were.
    fn finish_archives(&self, done: &mut Compaction) -> Result<(), StoreError> {
        let loose = self.loose_files()?;
        let archives = self.list()?;
        let sgf_from = self.marks.newest()?.sgf_from_archive;
        for archive in &archives {
            let sources: Vec<&FileRef> = loose.iter().filter(|file| archive.sources.contains_key(file)).collect();
            if sources.is_empty() {
                continue;
            }
            // The readable games of an archive may be pruned while sources of it are left.
            if let Some(part) = archive.part(SGF).filter(|_| archive.number >= sgf_from) {
                self.at.store.read_part(&self.at.path([SGF, ARCHIVE]), part)?;
            }
            for some in sources.chunks(self.at.store.at_once()) {
                self.replace(archive, some)?;
                done.deleted += some.len();
            }
        }
        self.delete_leftovers(&archives)
    }

    /// Deletes files, since an archive has the same.
    fn replace(&self, archive: &Archive, files: &[&FileRef]) -> Result<(), StoreError> {
        for (file, loose) in files.iter().zip(self.at.store.each(files, |file| self.load_tables(file))) {
            for (folder, loose) in loose? {
                // One after the other: they share the row group that was read last.
                if self.read_archived(archive, folder, file, None)? != loose {
                    let path = self.at.store.name(&self.at.file(folder, file, PARQUET));
                    let archive = number_name(archive.number);
                    return Err(StoreError::Damaged { path, reason: format!("it is another in archive {archive}") });
                }
            }
        }
        let all = [(SGF, SGF), (HOLDOUT, PARQUET), (EXAMPLES, PARQUET), (GAMES, PARQUET)];
        let delete = |file: &&FileRef| {
            all.iter().try_for_each(|(folder, extension)| self.at.store.delete(&self.at.file(folder, file, extension)))
        };
        self.at.store.each(files, delete).into_iter().collect()
    }

    /// The tables of a file that are still in their folders.
    fn load_tables(&self, file: &FileRef) -> Result<Vec<(&'static str, RecordBatch)>, StoreError> {
        let mut tables = Vec::new();
        for folder in [EXAMPLES, HOLDOUT, GAMES] {
            match self.load_table(folder, file) {
                // A compaction that was killed had gone on to the next.
                Err(StoreError::NotFound { .. }) => {}
                loose => tables.push((folder, loose?.table)),
            }
        }
        Ok(tables)
    }

    /// Deletes parts with the number of an archive that does not name them: their writer was killed or came late, and
    /// cannot commit them any more.
    fn delete_leftovers(&self, archives: &[Arc<Archive>]) -> Result<(), StoreError> {
        for folder in [EXAMPLES, HOLDOUT, SGF] {
            let path = self.at.path([folder, ARCHIVE]);
            for name in self.at.store.files(&path)? {
                let number = name.split(['.', '-']).next().and_then(parse_number);
                let archive = archives.iter().find(|archive| Some(archive.number) == number);
                if archive.is_some_and(|archive| archive.part(folder).is_none_or(|part| part.file != name)) {
                    self.at.store.delete(&path.clone().join(name.as_str()))?;
                }
            }
        }
        Ok(())
    }

    /// Problems of the archives: files that differ from the published ones, and files of games in two of them. Returns
    /// how many archives were read, too.
    ///
    /// An archive may have more than a gigabyte, so `progress` is called before each with the number of those that were
    /// read and of all, and ends the check where it breaks.
    ///
    /// # Errors
    /// A store that cannot be reached; an archive that cannot be opened.
    pub fn check(
        &self,
        progress: &dyn Fn(usize, usize) -> ControlFlow<()>,
    ) -> Result<(usize, Vec<StoreError>), StoreError> {
        let archives = self.list()?;
        let (mut read, mut problems, mut seen) = (0, Vec::new(), BTreeSet::new());
        let sgf_from = self.marks.newest()?.sgf_from_archive;
        for archive in &archives {
            if progress(read, archives.len()).is_break() {
                break;
            }
            read += 1;
            let parts = [EXAMPLES, HOLDOUT, SGF].into_iter().filter_map(|folder| Some((folder, archive.part(folder)?)));
            let parts = parts.filter(|(folder, _)| *folder != SGF || archive.number >= sgf_from);
            for (folder, part) in parts {
                match self.at.store.read_part(&self.at.path([folder, ARCHIVE]), part) {
                    Err(error) if error.is_damage() => problems.push(error),
                    part => drop(part?),
                }
            }
            for file in archive.sources.keys().filter(|file| !seen.insert((*file).clone())) {
                let path = self.at.store.name(&archive_path(&self.at, GAMES, archive.number));
                problems.push(StoreError::Damaged { path, reason: format!("an archive before it has {file}, too") });
            }
        }
        Ok((read, problems))
    }
}
