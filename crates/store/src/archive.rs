//! Archives: many small files of games in a few large ones.
//!
//! ```text
//! games/archive/000001.parquet, examples/archive/…, holdout/archive/…, sgf/archive/000001.sgf.gz
//! ```
//!
//! An archive holds whole files, the *sources*, and says in the footer of its games which ones they were and where
//! their rows are. So readers go on to see the files that they knew: a file is listed when it lies in its folder or in
//! an archive, once when in both, and is read from wherever it is. What a reader sees is the same before, while and
//! after an archive is made (see `compact`), and a [`FileRef`] means the same games for ever.
//!
//! Archives are numbered, are made one after the other, and are never changed, deleted or put together again.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use object_store::path::Path;
use serde::{Deserialize, Serialize};

use crate::error::StoreError;
use crate::files::{EXAMPLES, FileRef, GAMES, HOLDOUT, PARQUET, SGF};
use crate::folder::RunFolder;
use crate::names::number_name;
use crate::parts::Part;

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
    /// Each a [`ArchivedFile`]. Of an opened archive none: they are parsed.
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
pub(crate) struct ArchivedFile {
    pub(crate) file: FileRef,
    pub(crate) games: RowRange,
    pub(crate) examples: RowRange,
    pub(crate) holdout: RowRange,
}

/// Consecutive rows of one row group; none when there are no rows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct RowRange {
    pub(crate) group: usize,
    pub(crate) first: usize,
    pub(crate) rows: usize,
}

/// An archive that was opened.
#[derive(Debug)]
pub(crate) struct Archive {
    pub(crate) number: u32,
    pub(crate) contents: Contents,
    pub(crate) sources: BTreeMap<FileRef, ArchivedFile>,
}

/// Where the table of an archive lies in a folder.
pub(crate) fn archive_path(at: &RunFolder, folder: &str, number: u32) -> Path {
    at.path([folder, ARCHIVE]).join(format!("{}.{PARQUET}", number_name(number)))
}

impl Archive {
    /// The file of one of its tables, if it has any rows.
    pub(crate) fn path(&self, at: &RunFolder, folder: &str) -> Option<Path> {
        match folder {
            GAMES => Some(archive_path(at, GAMES, self.number)),
            _ => self.part(folder).map(|part| at.path([folder, ARCHIVE]).join(part.file.as_str())),
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

impl ArchivedFile {
    pub(crate) fn range(&self, folder: &str) -> RowRange {
        match folder {
            GAMES => self.games,
            EXAMPLES => self.examples,
            HOLDOUT => self.holdout,
            _ => RowRange::default(),
        }
    }
}

impl fmt::Display for ArchivedFile {
    /// The file, and for its games, examples and holdout examples the row group, the first row and the rows.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.file)?;
        let ranges = [self.games, self.examples, self.holdout];
        ranges.iter().try_for_each(|RowRange { group, first, rows }| write!(f, " {group} {first} {rows}"))
    }
}

impl FromStr for ArchivedFile {
    type Err = StoreError;

    fn from_str(text: &str) -> Result<ArchivedFile, StoreError> {
        let expected = "a source of an archive: the name of a file of games, and nine numbers";
        let bad = || StoreError::Malformed { text: text.to_owned(), expected };
        let mut words = text.split(' ');
        let file = words.next().ok_or_else(bad)?.parse()?;
        let numbers: Vec<usize> = words.map(str::parse).collect::<Result<_, _>>().map_err(|_| bad())?;
        let range = |at: usize| RowRange { group: numbers[at], first: numbers[at + 1], rows: numbers[at + 2] };
        if numbers.len() != 9 || numbers.iter().any(|&number| number > u32::MAX as usize) {
            return Err(bad());
        }
        Ok(ArchivedFile { file, games: range(0), examples: range(3), holdout: range(6) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sources_read_and_print() {
        let text = "000330/w0-1700000000000 1 0 200 3 40 5 0 0 0";
        let source: ArchivedFile = text.parse().unwrap();
        assert_eq!((source.to_string().as_str(), source.file.model), (text, 330));
        assert_eq!(source.examples, RowRange { group: 3, first: 40, rows: 5 });
        for other in
            ["", "000330/w0-1700000000000", "x 1 0 200 3 40 5 0 0 0", &text.replace("40", "-4"), &format!("{text} 1")]
        {
            assert!(other.parse::<ArchivedFile>().is_err(), "{other}");
        }
    }
}
