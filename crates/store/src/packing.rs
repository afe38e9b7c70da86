//! An archive in the making.

use std::io::Write;

use arrow_array::RecordBatch;
use bytes::Bytes;
use flate2::Compression;
use flate2::write::GzEncoder;
use object_store::path::Path;

use crate::archive::{ARCHIVE, ArchivedFile, CONTENTS, Contents, FORMAT, RowRange, archive_path};
use crate::error::StoreError;
use crate::files::{EXAMPLES, FileRef, GAMES, HOLDOUT, PARQUET, SGF};
use crate::folder::RunFolder;
use crate::names::number_name;
use crate::parts::Part;
use crate::projection::TableWriter;
use crate::store::Store;

/// Bytes of Parquet in an archive in a folder, all tables together: what a compaction holds in memory. 100,000 games on
/// 9x9 take about 0.5 GB of them, as many on 19x19 about 1.9 GB, which makes two archives.
const LARGEST_IN_FOLDER: usize = 3 << 29;
/// The same in a bucket. A table is one request, which fails after two minutes: this one needs 18 Mbit/s.
const LARGEST_IN_BUCKET: usize = 256 << 20;

/// Bytes of Parquet in a row group: what a reader who wants a single source holds in memory is about ten times as much.
const GROUP: usize = 4 << 20;

/// A file of games with all that goes with it.
pub(crate) struct Loaded {
    pub(crate) games: Weighed,
    pub(crate) examples: Option<Weighed>,
    pub(crate) holdout: Option<Weighed>,
    pub(crate) sgf: Option<Bytes>,
}

/// A table, and how many bytes its file has.
pub(crate) struct Weighed {
    pub(crate) table: RecordBatch,
    pub(crate) bytes: usize,
}

/// An archive in the making.
pub(crate) struct Builder {
    /// Bytes of Parquet at most.
    largest: usize,
    pub(crate) sources: Vec<ArchivedFile>,
    pub(crate) games: Table,
    examples: Table,
    holdout: Table,
    sgf: Option<GzEncoder<Vec<u8>>>,
    bytes: usize,
}

/// One of its tables: the row groups that are written, and the rows of the next one.
#[derive(Default)]
pub(crate) struct Table {
    writer: Option<TableWriter>,
    group: usize,
    waiting: Vec<RecordBatch>,
    waiting_rows: usize,
    waiting_bytes: usize,
    pub(crate) rows: usize,
}

impl Loaded {
    fn bytes(&self) -> usize {
        let rest = [&self.examples, &self.holdout].into_iter().flatten().map(|table| table.bytes).sum::<usize>();
        self.games.bytes + rest
    }
}

impl Builder {
    pub(crate) fn new(store: &Store) -> Builder {
        Builder {
            largest: if store.folder().is_some() { LARGEST_IN_FOLDER } else { LARGEST_IN_BUCKET },
            sources: Vec::new(),
            games: Table::default(),
            examples: Table::default(),
            holdout: Table::default(),
            sgf: None,
            bytes: 0,
        }
    }

    /// Whether one more file would make it too large.
    pub(crate) fn is_full(&self, next: &Loaded, most: usize) -> bool {
        let games = self.games.rows + next.games.table.num_rows();
        !self.sources.is_empty() && (games > most || self.bytes + next.bytes() > self.largest)
    }

    /// Adds a file, or says why it cannot be put together with those before.
    pub(crate) fn put(&mut self, file: &FileRef, loaded: Loaded) -> Result<(), String> {
        if loaded.games.table.num_rows() == 0 {
            return Err("it has no games".to_owned());
        }
        let pairs = [
            (&self.games, Some(&loaded.games)),
            (&self.examples, loaded.examples.as_ref()),
            (&self.holdout, loaded.holdout.as_ref()),
        ];
        if pairs.iter().any(|(table, next)| next.is_some_and(|next| !table.fits(&next.table))) {
            return Err("its columns are not those of the files before it".to_owned());
        }
        self.bytes += loaded.bytes();
        if let Some(text) = &loaded.sgf {
            let sgf = self.sgf.get_or_insert_with(|| GzEncoder::new(Vec::new(), Compression::default()));
            sgf.write_all(text).expect("writing to memory does not fail");
        }
        let games = self.games.put(loaded.games);
        let examples = loaded.examples.map(|table| self.examples.put(table)).unwrap_or_default();
        let holdout = loaded.holdout.map(|table| self.holdout.put(table)).unwrap_or_default();
        self.sources.push(ArchivedFile { file: file.clone(), games, examples, holdout });
        Ok(())
    }

    /// Publishes the parts, and then the games, which name them.
    pub(crate) fn publish(self, at: &RunFolder, number: u32) -> Result<(), StoreError> {
        let part = |folder: &str, extension: &str, bytes: Option<Bytes>| -> Result<Option<Part>, StoreError> {
            let folder: Path = at.path([folder, ARCHIVE]);
            bytes.map(|bytes| at.store.publish_part(&folder, &number_name(number), extension, bytes)).transpose()
        };
        let sgf = self.sgf.map(|sgf| sgf.finish().expect("writing to memory does not fail").into());
        let contents = Contents {
            format: FORMAT,
            sources: self.sources.iter().map(ArchivedFile::to_string).collect(),
            examples: part(EXAMPLES, PARQUET, self.examples.finish(&[]))?,
            holdout: part(HOLDOUT, PARQUET, self.holdout.finish(&[]))?,
            sgf: part(SGF, "sgf.gz", sgf)?,
        };
        let contents = toml::to_string(&contents).expect("our own types can be written as TOML");
        let games = self.games.finish(&[(CONTENTS, contents)]).unwrap_or_default();
        at.store.publish(&archive_path(at, GAMES, number), games)
    }
}

impl Table {
    fn fits(&self, next: &RecordBatch) -> bool {
        self.waiting.first().is_none_or(|first| first.schema() == next.schema())
    }

    /// Adds rows to this row group or the next, and returns where they are.
    fn put(&mut self, next: Weighed) -> RowRange {
        if self.waiting_bytes > 0 && self.waiting_bytes + next.bytes > GROUP {
            self.write();
        }
        let range = RowRange { group: self.group, first: self.waiting_rows, rows: next.table.num_rows() };
        self.waiting_bytes += next.bytes;
        self.waiting_rows += range.rows;
        self.rows += range.rows;
        self.waiting.push(next.table);
        range
    }

    /// Writes the rows that wait, all but the columns of one of them forgotten.
    fn write(&mut self) {
        let Some(first) = self.waiting.first() else { return };
        let schema = first.schema();
        let rows = arrow_select::concat::concat_batches(&schema, &self.waiting)
            .expect("all tables have the columns of one schema");
        self.writer.get_or_insert_with(|| TableWriter::new(&schema)).put(&rows);
        self.waiting = vec![RecordBatch::new_empty(schema)];
        (self.waiting_rows, self.waiting_bytes) = (0, 0);
        self.group += 1;
    }

    /// The bytes of the file; `None` when there are no rows.
    fn finish(mut self, entries: &[(&str, String)]) -> Option<Bytes> {
        if self.waiting_rows > 0 {
            self.write();
        }
        self.writer.map(|writer| writer.finish(entries))
    }
}

#[cfg(test)]
mod tests {
    use go::Size;
    use record::{games, synthetic};

    use super::*;

    /// A table is one request, which a slow line must carry before its timeout.
    #[test]
    fn archives_in_bucket_are_smaller_than_in_folder() {
        let table = games::to_batch(&[synthetic::game("m-1", "w", 0, Size::new(5).unwrap(), 8)]);
        let games = || Weighed { table: table.clone(), bytes: 200 << 20 };
        let loaded = || Loaded { games: games(), examples: None, holdout: None, sgf: None };
        let is_full_after_one = |store: &Store| {
            let mut archive = Builder::new(store);
            assert!(!archive.is_full(&loaded(), 100));
            let file = FileRef { model: 1, stem: "w-0000000000001".parse().unwrap() };
            archive.put(&file, loaded()).unwrap();
            archive.is_full(&loaded(), 100)
        };
        let folder = tempfile::tempdir().unwrap();
        assert!(!is_full_after_one(&Store::open(folder.path().to_str().unwrap()).unwrap()));
        assert!(is_full_after_one(&Store::in_memory().unwrap()));
    }
}
