//! Reading some columns of some rows of a Parquet file, without the rest of it.

use std::collections::BTreeMap;
use std::io::Read;
use std::ops::Range;
use std::sync::Arc;

use arrow_array::RecordBatch;
use bytes::{Buf, Bytes};
use object_store::path::Path;
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReaderBuilder};
use parquet::errors::ParquetError;
use parquet::file::metadata::ParquetMetaDataReader;
use parquet::file::reader::{ChunkReader, Length};

use crate::checksum::{self, TAIL};
use crate::error::StoreError;
use crate::projection::{check_columns, collect, most_memory};
use crate::store::Store;

/// Bytes read from the end of a file to find its footer: more than the footer of a file of a worker takes.
const END: u64 = 64 * 1024;

/// A file whose footer was read and checked.
#[derive(Debug)]
pub(crate) struct OpenTable {
    metadata: ArrowReaderMetadata,
    /// The hashes of the columns, one after the other.
    chunks: String,
    size: u64,
}

/// The bytes that were read of a file, by where they begin.
struct Excerpt {
    size: u64,
    parts: BTreeMap<u64, Bytes>,
}

impl Store {
    /// Reads the footer of a Parquet file.
    pub(crate) fn open_table(&self, path: &Path) -> Result<Box<OpenTable>, StoreError> {
        let damaged = |reason| StoreError::Damaged { path: self.name(path), reason };
        let (end, size) = self.end(path, END)?;
        let tail = end.last_chunk::<TAIL>().ok_or_else(|| damaged(checksum::cut_off()))?;
        let length = checksum::footer_length(tail).ok_or_else(|| damaged(checksum::cut_off()))?;
        let footer_end = size - TAIL as u64;
        let start = footer_end.checked_sub(length as u64).ok_or_else(|| damaged(checksum::cut_off()))?;
        let footer = match end.len().checked_sub(TAIL + length) {
            Some(start) => end.slice(start..end.len() - TAIL),
            None => self.range(path, start..footer_end)?,
        };
        OpenTable::new(&footer, size).map(Box::new).map_err(damaged)
    }

    /// Reads some row groups of a file, or some columns of them.
    pub(crate) fn read_groups(
        &self,
        path: &Path,
        table: &OpenTable,
        columns: Option<&[&str]>,
        groups: Vec<usize>,
    ) -> Result<RecordBatch, StoreError> {
        let damaged = |reason| StoreError::Damaged { path: self.name(path), reason };
        let schema = table.metadata.parquet_schema();
        let mask = columns
            .map_or_else(ProjectionMask::all, |columns| ProjectionMask::columns(schema, columns.iter().copied()));
        let wanted = table.wanted(&mask, &groups);
        let ranges: Vec<Range<u64>> = wanted.iter().map(|(range, _)| range.clone()).collect();
        let mut parts = BTreeMap::new();
        for ((range, hash), bytes) in wanted.into_iter().zip(self.ranges(path, &ranges)?) {
            if checksum::short(&bytes) != hash {
                return Err(damaged(checksum::altered()));
            }
            parts.insert(range.start, bytes);
        }
        let file = Excerpt { size: table.size, parts };
        let builder = ParquetRecordBatchReaderBuilder::new_with_metadata(file, table.metadata.clone());
        let builder = builder.with_projection(mask).with_row_groups(groups);
        collect(builder, most_memory(table.size)).map_err(|e| damaged(e.to_string()))
    }
}

impl OpenTable {
    fn new(footer: &[u8], size: u64) -> Result<OpenTable, String> {
        checksum::check_footer(footer)?;
        let said = |e: ParquetError| e.to_string();
        let metadata = Arc::new(ParquetMetaDataReader::decode_metadata(footer).map_err(said)?);
        check_columns(&metadata, size)?;
        let metadata = ArrowReaderMetadata::try_new(metadata, ArrowReaderOptions::new()).map_err(said)?;
        let mut table = OpenTable { metadata, chunks: String::new(), size };
        table.chunks = table.entry(checksum::CHUNKS).unwrap_or_default().to_owned();
        let columns: usize = table.metadata.metadata().row_groups().iter().map(|group| group.columns().len()).sum();
        if table.chunks.is_ascii() && table.chunks.len() == columns * checksum::SHORT {
            Ok(table)
        } else {
            Err("it has no hashes".to_owned())
        }
    }

    /// An entry of the footer's metadata.
    pub(crate) fn entry(&self, key: &str) -> Option<&str> {
        let entries = self.metadata.metadata().file_metadata().key_value_metadata()?;
        entries.iter().find(|entry| entry.key == key)?.value.as_deref()
    }

    /// Rows of all row groups, as the footer has them.
    pub(crate) fn rows(&self) -> usize {
        usize::try_from(self.metadata.metadata().file_metadata().num_rows()).unwrap_or_default()
    }

    /// Row groups.
    pub(crate) fn groups(&self) -> usize {
        self.metadata.metadata().num_row_groups()
    }

    /// The columns of these row groups: where they are, and their hashes.
    fn wanted(&self, mask: &ProjectionMask, groups: &[usize]) -> Vec<(Range<u64>, &str)> {
        let mut wanted = Vec::new();
        let mut first = 0;
        for (i, group) in self.metadata.metadata().row_groups().iter().enumerate() {
            for (leaf, column) in group.columns().iter().enumerate() {
                if mask.leaf_included(leaf) && groups.contains(&i) {
                    let (start, length) = column.byte_range();
                    let at = (first + leaf) * checksum::SHORT;
                    wanted.push((start..start + length, &self.chunks[at..at + checksum::SHORT]));
                }
            }
            first += group.columns().len();
        }
        wanted
    }
}

impl Excerpt {
    /// What was read from `start` on, up to the end of its column.
    fn from(&self, start: u64) -> Result<Bytes, ParquetError> {
        let part = self.parts.range(..=start).next_back();
        let bytes = part.and_then(|(begin, bytes)| {
            let skipped = usize::try_from(start - begin).ok()?;
            (skipped <= bytes.len()).then(|| bytes.slice(skipped..))
        });
        bytes.ok_or_else(|| ParquetError::EOF(format!("nothing was read at {start}")))
    }
}

impl Length for Excerpt {
    fn len(&self) -> u64 {
        self.size
    }
}

impl ChunkReader for Excerpt {
    type T = Box<dyn Read + Send>;

    fn get_read(&self, start: u64) -> Result<Self::T, ParquetError> {
        Ok(Box::new(self.from(start)?.reader()))
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes, ParquetError> {
        let bytes = self.from(start)?;
        if length <= bytes.len() {
            Ok(bytes.slice(..length))
        } else {
            Err(ParquetError::EOF(format!("nothing was read at {}", start + bytes.len() as u64)))
        }
    }
}

#[cfg(test)]
mod tests {
    use go::Size;
    use record::{games, synthetic};

    use super::*;
    use crate::projection::encode;

    /// Its memory would be allocated before a byte is read.
    #[test]
    fn footer_of_a_longer_file_is_refused() {
        let bytes = encode(&games::to_batch(&[synthetic::game("m-1", "w", 0, Size::new(5).unwrap(), 8)]));
        let length = checksum::footer_length(bytes.last_chunk().unwrap()).unwrap();
        let end = bytes.len() - TAIL;
        let open = |size| OpenTable::new(&bytes[end - length..end], size).map(|table| table.groups());
        assert_eq!(open(bytes.len() as u64), Ok(1));
        assert_eq!(open(100), Err("a column is not within it".to_owned()));
    }
}
