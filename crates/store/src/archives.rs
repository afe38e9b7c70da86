//! The archives of a run, and files of games wherever they are: in their folders or in an archive.

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use arrow_array::RecordBatch;
use lru::LruCache;
use object_store::path::Path;
use record::RecordError;

use crate::archive::{ARCHIVE, Archive, ArchivedFile, CONTENTS, Contents, FORMAT, archive_path};
use crate::error::StoreError;
use crate::files::{FileRef, GAMES, PARQUET};
use crate::folder::RunFolder;
use crate::marks::Marks;
use crate::metadata::of_format;
use crate::names::{number_name, parse_number};
use crate::partial_read::OpenTable;

/// Tables of archives whose footers are in memory, at most. That of an archive takes up to a megabyte, and a long run
/// has hundreds of archives; readers go from one to the next.
const TABLES: NonZeroUsize = NonZeroUsize::new(16).expect("above 0");

/// What to do about the games of an archive, which say what it holds, where they are damaged or missing.
const REMEDY: &str = "restore the file from a backup; without it the games of the archive cannot be found";

/// A table of an archive: the number of the archive, and the folder.
type TableKey = (u32, &'static str);

/// The archives of a run.
#[derive(Clone, Debug)]
pub struct Archives {
    pub(crate) at: RunFolder,
    pub(crate) marks: Marks,
    known: Arc<Mutex<Known>>,
}

/// The archives that were read so far.
#[derive(Debug)]
struct Known {
    opened: BTreeMap<u32, Arc<Archive>>,
    /// Whether a listing has shown that none is missing before a later one.
    listed: bool,
    /// The tables that were used last.
    tables: LruCache<TableKey, Arc<OpenTable>>,
    /// The row group that was read last of each folder, for the sources that follow.
    last: BTreeMap<&'static str, Decoded>,
}

#[derive(Debug)]
struct Decoded {
    number: u32,
    group: usize,
    columns: Option<Vec<String>>,
    table: RecordBatch,
}

impl Default for Known {
    fn default() -> Known {
        Known { opened: BTreeMap::new(), listed: false, tables: LruCache::new(TABLES), last: BTreeMap::new() }
    }
}

impl Archives {
    pub(crate) fn new(at: RunFolder, marks: Marks) -> Archives {
        Archives { at, marks, known: Arc::default() }
    }

    /// All archives, the oldest first. They are numbered without gaps from the first that was not pruned, so this
    /// requests the next until there is none, and lists the folder once in a process. A reader that lists files first
    /// and archives after misses no game.
    pub(crate) fn list(&self) -> Result<Vec<Arc<Archive>>, StoreError> {
        let newest = self.open_new()?;
        let listed = self.known().listed;
        if !listed {
            self.check_gaps(newest)?;
        }
        Ok(self.known().opened.values().cloned().collect())
    }

    /// Fails where an archive is missing and there are later ones, which nothing would find.
    fn check_gaps(&self, newest: u32) -> Result<(), StoreError> {
        let names = self.at.store.files(&self.at.path([GAMES, ARCHIVE]))?;
        let number = |name: &String| parse_number(name.strip_suffix(PARQUET)?.strip_suffix('.')?);
        let there: BTreeSet<u32> = names.iter().filter_map(number).collect();
        let after_gap = |newest: u32| there.range(newest + 1..).next().copied().filter(|&next| next > newest + 1);
        // Others may have been made, or pruned, between the requests and the listing.
        if after_gap(newest).is_some() {
            let newest = self.open_new()?;
            if let Some(next) = after_gap(newest) {
                let path = self.at.store.name(&archive_path(&self.at, GAMES, newest + 1));
                let reason = format!("it is missing, and archive {} exists; {REMEDY}", number_name(next));
                return Err(StoreError::Damaged { path, reason });
            }
        }
        self.known().listed = true;
        Ok(())
    }

    /// Opens the archives that are not known yet, and returns the number of the newest, or of the last that was pruned.
    ///
    /// The next is requested alone. Where it is there others may be, and more and more are requested at once: a process
    /// that has just started opens hundreds.
    fn open_new(&self) -> Result<u32, StoreError> {
        let mut known = self.known().opened.last_key_value().map_or(0, |(&number, _)| number);
        let mut ahead = 1;
        loop {
            let numbers: Vec<u32> = (known + 1..=known + ahead).collect();
            let opened = self.at.store.each(&numbers, |&number| self.open_archive(number));
            let mut missing = false;
            for (&number, archive) in numbers.iter().zip(opened) {
                match archive {
                    Ok(archive) => drop(self.known().opened.insert(number, Arc::new(archive))),
                    Err(StoreError::NotFound { .. }) => {
                        missing = true;
                        break;
                    }
                    Err(error) => return Err(error),
                }
                known = number;
            }
            if !missing {
                ahead = (2 * ahead).min(self.at.store.at_once() as u32);
                continue;
            }
            let first = self.marks.newest()?.first_archive;
            self.known().opened.retain(|&number, _| number >= first);
            // Otherwise it was pruned.
            if known + 1 >= first {
                return Ok(known);
            }
            known = first - 1;
        }
    }

    /// The archive that holds a file, if one does that is known or has been made meanwhile.
    pub(crate) fn holding(&self, file: &FileRef) -> Result<Option<Arc<Archive>>, StoreError> {
        match self.known_holding(file) {
            Some(archive) => Ok(Some(archive)),
            None => Ok(self.list()?.into_iter().find(|archive| archive.sources.contains_key(file))),
        }
    }

    pub(crate) fn known_holding(&self, file: &FileRef) -> Option<Arc<Archive>> {
        let known = self.known();
        known.opened.values().find(|archive| archive.sources.contains_key(file)).cloned()
    }

    fn open_archive(&self, number: u32) -> Result<Archive, StoreError> {
        let path = archive_path(&self.at, GAMES, number);
        let damaged = |reason: String| StoreError::Damaged { path: self.at.store.name(&path), reason };
        let unusable = |reason: String| damaged(reason).with_remedy(REMEDY);
        let table = self.at.store.open_table(&path).map_err(|error| error.with_remedy(REMEDY))?;
        let text =
            table.entry(CONTENTS).ok_or_else(|| unusable("metadata key `tengen.archive` is missing".to_owned()))?;
        let contents = of_format(text, FORMAT.into()).map_err(|problem| problem.of(self.at.store.name(&path)));
        let mut contents: Contents = contents.map_err(|error| error.with_remedy(REMEDY))?;
        let sources = contents.sources.iter().map(|line| line.parse::<ArchivedFile>());
        let sources: Result<BTreeMap<FileRef, ArchivedFile>, StoreError> =
            sources.map(|source| source.map(|source| (source.file.clone(), source))).collect();
        let sources = sources.map_err(|e| unusable(e.to_string()))?;
        contents.sources = Vec::new();
        self.known().tables.put((number, GAMES), table.into());
        Ok(Archive { number, contents, sources })
    }

    /// Reads rows of one of an archive's tables.
    ///
    /// # Errors
    /// [`StoreError::NotFound`] when the source has none.
    pub(crate) fn read_archived(
        &self,
        archive: &Archive,
        folder: &'static str,
        file: &FileRef,
        columns: Option<&[&str]>,
    ) -> Result<RecordBatch, StoreError> {
        let none = || StoreError::NotFound { path: self.at.store.name(&self.at.file(folder, file, PARQUET)) };
        let range = archive.sources.get(file).map(|source| source.range(folder)).unwrap_or_default();
        let path = archive.path(&self.at, folder).filter(|_| range.rows > 0).ok_or_else(none)?;
        let whole = self.read_group(archive, folder, &path, range.group, columns)?;
        if range.first + range.rows > whole.num_rows() {
            let reason = format!("it has no rows {} to {}", range.first, range.first + range.rows);
            return Err(StoreError::Damaged { path: self.at.store.name(&path), reason });
        }
        Ok(whole.slice(range.first, range.rows))
    }

    fn read_group(
        &self,
        archive: &Archive,
        folder: &'static str,
        path: &Path,
        group: usize,
        columns: Option<&[&str]>,
    ) -> Result<RecordBatch, StoreError> {
        let wanted: Option<Vec<String>> = columns.map(|names| names.iter().map(|&name| name.to_owned()).collect());
        if let Some(last) = self.known().last.get(folder)
            && (last.number, last.group, &last.columns) == (archive.number, group, &wanted)
        {
            return Ok(last.table.clone());
        }
        let table = self.open_archived(archive, folder, path)?;
        if group >= table.groups() {
            let reason = format!("it has no row group {group}");
            return Err(StoreError::Damaged { path: self.at.store.name(path), reason });
        }
        let table = self.at.store.read_groups(path, &table, columns, vec![group])?;
        let decoded = Decoded { number: archive.number, group, columns: wanted, table: table.clone() };
        self.known().last.insert(folder, decoded);
        Ok(table)
    }

    fn open_archived(
        &self,
        archive: &Archive,
        folder: &'static str,
        path: &Path,
    ) -> Result<Arc<OpenTable>, StoreError> {
        let key = (archive.number, folder);
        let known = self.known().tables.get(&key).cloned();
        if let Some(table) = known {
            return Ok(table);
        }
        let table: Arc<OpenTable> = self.at.store.open_table(path)?.into();
        self.known().tables.put(key, table.clone());
        Ok(table)
    }

    /// The files in archives, of models from `first` on, in order.
    pub(crate) fn files_from(&self, first: u32) -> Result<BTreeSet<FileRef>, StoreError> {
        let archives = self.list()?;
        let files = archives.iter().flat_map(|archive| archive.sources.keys());
        Ok(files.filter(|file| file.model >= first).cloned().collect())
    }

    /// Where a file is, as far as is known, and where it was before it went into an archive.
    pub(crate) fn name_of(&self, folder: &str, file: &FileRef) -> String {
        let archive = self.known_holding(file).and_then(|archive| archive.path(&self.at, folder));
        match archive {
            Some(archive) => format!("{} ({file})", self.at.store.name(&archive)),
            None => self.at.store.name(&self.at.file(folder, file, PARQUET)),
        }
    }

    /// Reads a file from its folder or its archive.
    pub(crate) fn read<T>(
        &self,
        folder: &'static str,
        file: &FileRef,
        columns: Option<&[&str]>,
        from_batch: impl Fn(&RecordBatch) -> Result<T, RecordError>,
    ) -> Result<T, StoreError> {
        let table = self.read_wherever(folder, file, columns)?;
        from_batch(&table).map_err(|error| StoreError::of_records(self.name_of(folder, file), &error))
    }

    /// Reads a file from its folder, or from the archive that it has gone into, even if it went just now.
    fn read_wherever(
        &self,
        folder: &'static str,
        file: &FileRef,
        columns: Option<&[&str]>,
    ) -> Result<RecordBatch, StoreError> {
        let loose = || self.at.store.read_table(&self.at.file(folder, file, PARQUET), columns);
        if let Some(archive) = self.known_holding(file) {
            let archived = self.read_archived(&archive, folder, file, columns);
            // While the file is still there, an archive that is damaged does no harm.
            return archived.or_else(|error| if error.is_damage() { loose().map_err(|_| error) } else { Err(error) });
        }
        match loose() {
            Err(StoreError::NotFound { path }) => match self.holding(file)? {
                Some(archive) => self.read_archived(&archive, folder, file, columns),
                None => Err(StoreError::NotFound { path }),
            },
            read => read,
        }
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use go::Size;
    use record::{games, synthetic};

    use super::*;
    use crate::projection::TableWriter;
    use crate::run::Run;

    /// Whose list of sources may have another type, too.
    #[test]
    fn archive_of_a_later_format_is_named() {
        let at = RunFolder::in_memory();
        let table = games::to_batch(&[synthetic::game("run-1", "w", 0, Size::new(5).unwrap(), 8)]);
        let mut writer = TableWriter::new(&table.schema());
        writer.put(&table);
        let archive = writer.finish(&[(CONTENTS, "format = 2\nsources = 7\n".to_owned())]);
        at.store.publish(&archive_path(&at, GAMES, 1), archive).unwrap();
        let error = Run::new(at.store.clone(), at.name).games().files(1).unwrap_err();
        assert!(matches!(error, StoreError::OtherVersion { .. }), "{error}");
        let said = "games/archive/000001.parquet has format 2, and this program reads format 1: use ";
        assert!(error.to_string().contains(said), "{error}");
    }

    #[test]
    fn footers_of_archives_in_memory_are_bounded() {
        let at = RunFolder::in_memory();
        let process = || Run::new(at.store.clone(), at.name.clone());
        let run = process();
        let size = Size::new(5).unwrap();
        let games: Vec<_> = (0..20).map(|index| synthetic::game("run-1", "w", index, size, 8)).collect();
        for game in &games {
            run.games().publish(1, "w", std::slice::from_ref(game)).unwrap();
        }
        let made = run.archives().compact(1, 1).unwrap().archives;
        assert!(made > TABLES.get(), "{made} archives");
        let fresh = process();
        let files = fresh.games().files(1).unwrap();
        for _ in 0..2 {
            for (file, game) in files.iter().zip(&games) {
                assert_eq!(fresh.games().read(file).unwrap(), [game.as_stored()]);
                drop(fresh.examples().read(file));
            }
        }
        assert_eq!(fresh.archives().known().tables.len(), TABLES.get());
    }
}
