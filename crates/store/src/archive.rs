//! Archives: many small files of games in a few large ones.
//!
//! ```text
//! games/archive/000001.parquet, examples/archive/…, holdout/archive/…, sgf/archive/000001.sgf.gz
//! ```
//!
//! An archive holds whole files, the *sources*, and says in the footer of its games which ones they were and where their
//! rows are. So readers go on to see the files that they knew: a file is listed when it lies in its folder or in an
//! archive, once when in both, and is read from wherever it is. What a reader sees is the same before, while and after an
//! archive is made (`compact` tells how), and a [`FileRef`] means the same games for ever.
//!
//! Archives are numbered, are made one after the other, and are never changed, deleted or put together again.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;
use std::sync::{Arc, Mutex, MutexGuard};

use arrow_array::RecordBatch;
use object_store::path::Path;
use serde::{Deserialize, Serialize};

use crate::games::{EXAMPLES, GAMES, HOLDOUT, SGF};
use crate::names::number_name;
use crate::partial::OpenTable;
use crate::parts::Part;
use crate::{FileRef, Run, StoreError};

/// The folder of archives among the folders of models.
pub(crate) const ARCHIVE: &str = "archive";

/// The entry of the footer of an archive's games that says what it holds.
pub(crate) const CONTENTS: &str = "tengen.archive";

/// The format written, and the only one read.
pub(crate) const FORMAT: u32 = 1;

/// What an archive holds, as its footer says.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Contents {
    pub(crate) format: u32,
    /// Each a [`Source`].
    pub(crate) sources: Vec<String>,
    /// The file of the examples; none when no source has any.
    pub(crate) examples: Option<Part>,
    /// The file of the holdout examples.
    pub(crate) holdout: Option<Part>,
    /// The readable games, compressed.
    pub(crate) sgf: Option<Part>,
}

/// A file of games in an archive, and where its rows are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Source {
    pub(crate) file: FileRef,
    pub(crate) games: Place,
    pub(crate) examples: Place,
    pub(crate) holdout: Place,
}

/// Consecutive rows of one row group; none when there are no rows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) group: usize,
    pub(crate) first: usize,
    pub(crate) rows: usize,
}

/// An archive that was opened.
#[derive(Debug)]
pub(crate) struct Archive {
    pub(crate) number: u32,
    pub(crate) contents: Contents,
    pub(crate) sources: BTreeMap<FileRef, Source>,
    /// The tables that were opened so far, by folder.
    tables: Mutex<BTreeMap<&'static str, Arc<OpenTable>>>,
}

/// The archives of a run that are known so far.
#[derive(Debug, Default)]
pub(crate) struct Archives {
    opened: BTreeMap<u32, Arc<Archive>>,
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

impl Run {
    /// All archives, the oldest first. They are numbered without gaps, so the next one is asked for until there is none; nothing
    /// is listed. Whoever first lists files and then asks for archives misses none.
    pub(crate) fn archives(&self) -> Result<Vec<Arc<Archive>>, StoreError> {
        let mut known = self.known_archives().opened.last_key_value().map_or(0, |(&number, _)| number);
        loop {
            match self.open_archive(known + 1) {
                Ok(archive) => drop(self.known_archives().opened.insert(known + 1, Arc::new(archive))),
                Err(StoreError::NotFound { .. }) => break,
                Err(error) => return Err(error),
            }
            known += 1;
        }
        Ok(self.known_archives().opened.values().cloned().collect())
    }

    /// The archive that holds a file, if one does that is known or has been made meanwhile.
    pub(crate) fn archive_of(&self, file: &FileRef) -> Result<Option<Arc<Archive>>, StoreError> {
        match self.known_archive_of(file) {
            Some(archive) => Ok(Some(archive)),
            None => Ok(self.archives()?.into_iter().find(|archive| archive.sources.contains_key(file))),
        }
    }

    pub(crate) fn known_archive_of(&self, file: &FileRef) -> Option<Arc<Archive>> {
        let known = self.known_archives();
        known.opened.values().find(|archive| archive.sources.contains_key(file)).cloned()
    }

    fn open_archive(&self, number: u32) -> Result<Archive, StoreError> {
        let path = self.archive_path(GAMES, number);
        let damaged = |reason| StoreError::Damaged { path: self.store().name(&path), reason };
        let table = self.store().open_table(&path)?;
        let text = table.entry(CONTENTS).ok_or_else(|| damaged("it does not say what it holds".to_owned()))?;
        let contents: Contents = toml::from_str(text).map_err(|e| damaged(e.message().to_owned()))?;
        if contents.format != FORMAT {
            return Err(damaged(format!("it has format {}, and this program reads {FORMAT}", contents.format)));
        }
        let sources = contents.sources.iter().map(|line| line.parse::<Source>());
        let sources: Result<BTreeMap<FileRef, Source>, StoreError> =
            sources.map(|source| source.map(|source| (source.file.clone(), source))).collect();
        let sources = sources.map_err(|e| damaged(e.to_string()))?;
        let tables = Mutex::new(BTreeMap::from([(GAMES, table.into())]));
        Ok(Archive { number, contents, sources, tables })
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
        let none = || StoreError::NotFound { path: self.store().name(&self.file(folder, file, "parquet")) };
        let place = archive.sources.get(file).map(|source| source.place(folder)).unwrap_or_default();
        let path = archive.path(self, folder).filter(|_| place.rows > 0).ok_or_else(none)?;
        let whole = self.read_group(archive, folder, &path, place.group, columns)?;
        if place.first + place.rows > whole.num_rows() {
            let reason = format!("it has no rows {} to {}", place.first, place.first + place.rows);
            return Err(StoreError::Damaged { path: self.store().name(&path), reason });
        }
        Ok(whole.slice(place.first, place.rows))
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
        if let Some(last) = self.known_archives().last.get(folder)
            && (last.number, last.group, &last.columns) == (archive.number, group, &wanted)
        {
            return Ok(last.table.clone());
        }
        let table = self.open_archived(archive, folder, path)?;
        if group >= table.groups() {
            let reason = format!("it has no row group {group}");
            return Err(StoreError::Damaged { path: self.store().name(path), reason });
        }
        let table = self.store().read_groups(path, &table, columns, vec![group])?;
        let decoded = Decoded { number: archive.number, group, columns: wanted, table: table.clone() };
        self.known_archives().last.insert(folder, decoded);
        Ok(table)
    }

    fn open_archived(
        &self,
        archive: &Archive,
        folder: &'static str,
        path: &Path,
    ) -> Result<Arc<OpenTable>, StoreError> {
        let opened = || archive.tables.lock().expect("nobody panics while holding tables");
        if let Some(table) = opened().get(folder) {
            return Ok(table.clone());
        }
        let table: Arc<OpenTable> = self.store().open_table(path)?.into();
        opened().insert(folder, table.clone());
        Ok(table)
    }

    pub(crate) fn archive_path(&self, folder: &str, number: u32) -> Path {
        self.path([folder, ARCHIVE]).join(format!("{}.parquet", number_name(number)))
    }

    fn known_archives(&self) -> MutexGuard<'_, Archives> {
        self.archives.lock().expect("nobody panics while holding archives")
    }
}

impl Archive {
    /// The file of one of its tables, if it has any rows.
    pub(crate) fn path(&self, run: &Run, folder: &str) -> Option<Path> {
        match folder {
            GAMES => Some(run.archive_path(GAMES, self.number)),
            _ => self.part(folder).map(|part| run.path([folder, ARCHIVE]).join(part.file.as_str())),
        }
    }

    /// The file of a folder, but for the games.
    pub(crate) fn part(&self, folder: &str) -> Option<&Part> {
        match folder {
            EXAMPLES => self.contents.examples.as_ref(),
            HOLDOUT => self.contents.holdout.as_ref(),
            SGF => self.contents.sgf.as_ref(),
            _ => None,
        }
    }
}

impl Source {
    pub(crate) fn place(&self, folder: &str) -> Place {
        match folder {
            GAMES => self.games,
            EXAMPLES => self.examples,
            HOLDOUT => self.holdout,
            _ => Place::default(),
        }
    }
}

impl fmt::Display for Source {
    /// The file, and for its games, examples and holdout examples the row group, the first row and the rows.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.file)?;
        let places = [self.games, self.examples, self.holdout];
        places.iter().try_for_each(|Place { group, first, rows }| write!(f, " {group} {first} {rows}"))
    }
}

impl FromStr for Source {
    type Err = StoreError;

    fn from_str(text: &str) -> Result<Source, StoreError> {
        let bad = || StoreError::BadName(text.to_owned());
        let mut words = text.split(' ');
        let file = words.next().ok_or_else(bad)?.parse()?;
        let numbers: Vec<usize> = words.map(str::parse).collect::<Result<_, _>>().map_err(|_| bad())?;
        let place = |at: usize| Place { group: numbers[at], first: numbers[at + 1], rows: numbers[at + 2] };
        if numbers.len() != 9 || numbers.iter().any(|&number| number > u32::MAX as usize) {
            return Err(bad());
        }
        Ok(Source { file, games: place(0), examples: place(3), holdout: place(6) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sources_read_and_print() {
        let text = "000330/w0-1700000000000 1 0 200 3 40 5 0 0 0";
        let source: Source = text.parse().unwrap();
        assert_eq!((source.to_string().as_str(), source.file.model), (text, 330));
        assert_eq!(source.examples, Place { group: 3, first: 40, rows: 5 });
        for other in
            ["", "000330/w0-1700000000000", "x 1 0 200 3 40 5 0 0 0", &text.replace("40", "-4"), &format!("{text} 1")]
        {
            assert!(other.parse::<Source>().is_err(), "{other}");
        }
    }
}
