//! Tables as Parquet files.
//!
//! The same table gives the same bytes. Parquet readers hardly notice altered data, and a damaged footer can make them
//! panic or allocate all the memory there is. So every file carries checksums (see `checksum`), which are checked
//! before anything is decoded, and a file without them is refused.

use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;

use arrow_array::{RecordBatch, RecordBatchReader};
use arrow_schema::SchemaRef;
use arrow_select::concat::concat_batches;
use bytes::Bytes;
use object_store::path::Path;
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::arrow::arrow_writer::ArrowWriter;
use parquet::basic::{Compression, Encoding, ZstdLevel};
use parquet::errors::ParquetError;
use parquet::file::metadata::{ColumnChunkMetaData, KeyValue, ParquetMetaData};
use parquet::file::properties::{EnabledStatistics, WriterProperties, WriterPropertiesBuilder};
use parquet::file::reader::ChunkReader;
use parquet::schema::types::ColumnPath;
use record::{RecordError, VERSION_KEY};

use crate::checksum;
use crate::error::StoreError;
use crate::store::Store;

/// Rows decoded at a time.
const ROWS: usize = 64 * 1024;

/// Bytes of memory that a table may take for each byte of its file. Games and examples take about ten; rows that are
/// all the same take almost none of a file.
const MOST_RATIO: usize = 100;

/// Bytes of memory that the table of any file may take.
const SMALL: usize = 1 << 30;

/// Columns in which one row is much like the one before: compression sees that, unless a dictionary is in the way. All
/// other columns have dictionaries.
const PLAIN: [&str; 2] = ["base_black", "base_white"];

/// Columns of numbers whose first bytes are much like each other and whose last are not: numbers that hardly ever
/// repeat, and small numbers, of which only the last byte is not 0. Apart from each other, the bytes compress better.
/// On games of 9x9, policies take two thirds of what they take with dictionaries (`experiments/0023-bytes-a-position`).
const SPLIT: [&str; 17] = [
    "started_at",
    "ended_at",
    "visit_moves.list.item",
    "visit_counts.list.item",
    "recent.list.item",
    "opponent_move",
    "root_value",
    "best_child_value",
    "network_value",
    "prior_entropy",
    "policy_surprise",
    "moves.list.item",
    "root_values.list.item",
    "best_child_values.list.item",
    "network_values.list.item",
    "prior_entropies.list.item",
    "policy_surprises.list.item",
];

impl Store {
    /// Publishes a table as a Parquet file.
    pub(crate) fn publish_table(&self, path: &Path, table: &RecordBatch) -> Result<(), StoreError> {
        self.publish(path, encode(table))
    }

    /// Reads a Parquet file, or only some of its columns.
    ///
    /// Of a file in a folder only those columns are read. In a bucket one request for all of a file costs less than
    /// three for little.
    pub(crate) fn read_table(&self, path: &Path, columns: Option<&[&str]>) -> Result<RecordBatch, StoreError> {
        match columns {
            Some(_) if self.folder().is_some() => {
                let table = self.open_table(path)?;
                self.read_groups(path, &table, columns, (0..table.groups()).collect())
            }
            _ => {
                let bytes = self.get(path)?;
                decode(bytes, columns).map_err(|reason| StoreError::Damaged { path: self.name(path), reason })
            }
        }
    }

    /// Reads records from a Parquet file.
    pub(crate) fn read_records<T>(
        &self,
        path: &Path,
        columns: Option<&[&str]>,
        from_batch: impl Fn(&RecordBatch) -> Result<T, RecordError>,
    ) -> Result<T, StoreError> {
        let table = self.read_table(path, columns)?;
        from_batch(&table).map_err(|error| StoreError::of_records(self.name(path), &error))
    }
}

/// The bytes of a Parquet file with this table.
///
/// # Panics
/// When the system has no resources left.
pub fn encode(table: &RecordBatch) -> Bytes {
    let mut writer = TableWriter::new(&table.schema());
    writer.put(table);
    writer.finish(&[])
}

/// As [`encode`] without compression, so that bytes can be altered that are decoded.
///
/// # Panics
/// As [`encode`].
#[cfg(any(test, feature = "testing"))]
pub fn encode_uncompressed(table: &RecordBatch) -> Bytes {
    let properties = properties(&table.schema()).into_builder().set_compression(Compression::UNCOMPRESSED);
    let mut writer = TableWriter::with(&table.schema(), properties.build());
    writer.put(table);
    writer.finish(&[])
}

/// A Parquet file that is made in memory, one row group after the other.
pub(crate) struct TableWriter(ArrowWriter<Vec<u8>>);

/// What writing to memory a table of supported types cannot do.
const FAILS: &str = "writing a table to memory does not fail";

impl TableWriter {
    pub(crate) fn new(schema: &SchemaRef) -> TableWriter {
        TableWriter::with(schema, properties(schema))
    }

    fn with(schema: &SchemaRef, properties: WriterProperties) -> TableWriter {
        TableWriter(ArrowWriter::try_new(Vec::new(), schema.clone(), Some(properties)).expect(FAILS))
    }

    /// Adds a row group, unless the table is empty.
    pub(crate) fn put(&mut self, table: &RecordBatch) {
        self.0.write(table).and_then(|()| self.0.flush()).expect(FAILS);
    }

    /// The bytes of the file, with more entries in the footer's metadata.
    pub(crate) fn finish(self, entries: &[(&str, String)]) -> Bytes {
        let mut bytes = self.close(entries).expect(FAILS);
        checksum::close(&mut bytes);
        bytes.into()
    }

    fn close(mut self, entries: &[(&str, String)]) -> Result<Vec<u8>, ParquetError> {
        self.0.sync().map_err(|e: io::Error| ParquetError::External(e.into()))?;
        let groups = self.0.flushed_row_groups().iter();
        let chunks: String = groups
            .flat_map(|group| group.columns())
            .map(|column| {
                let (start, length) = column.byte_range();
                checksum::short(&self.0.inner()[start as usize..][..length as usize])
            })
            .collect();
        let blank = || checksum::BLANK.to_owned();
        for (key, value) in [(checksum::FILE, blank()), (checksum::FOOTER, blank()), (checksum::CHUNKS, chunks)] {
            self.0.append_key_value_metadata(KeyValue::new(key.to_owned(), value));
        }
        for (key, value) in entries {
            self.0.append_key_value_metadata(KeyValue::new((*key).to_owned(), value.clone()));
        }
        self.0.into_inner()
    }
}

fn properties(schema: &SchemaRef) -> WriterProperties {
    let entries = schema.metadata().iter().map(|(key, value)| KeyValue::new(key.to_string(), value.to_string()));
    let entries = entries.collect();
    let builder = WriterProperties::builder()
        // Which version of which library wrote a file is no reason for other bytes.
        .set_created_by("tengen".to_owned())
        // A tenth less than at level 3 where policies are, for a microsecond a position; higher levels save 0.2 %
        // (`experiments/0023-bytes-a-position`).
        .set_compression(Compression::ZSTD(ZstdLevel::try_new(6).expect("zstd has a level 6")))
        .set_statistics_enabled(EnabledStatistics::Chunk)
        .set_key_value_metadata(Some(entries));
    let plain = PLAIN.iter().fold(builder, |builder, path| encoded(builder, path, Encoding::PLAIN));
    let split = SPLIT.iter().fold(plain, |builder, path| encoded(builder, path, Encoding::BYTE_STREAM_SPLIT));
    split.build()
}

fn encoded(builder: WriterPropertiesBuilder, path: &str, encoding: Encoding) -> WriterPropertiesBuilder {
    let path = || ColumnPath::new(path.split('.').map(str::to_owned).collect());
    builder.set_column_dictionary_enabled(path(), false).set_column_encoding(path(), encoding)
}

/// The table in the bytes of a Parquet file, or some of its columns; otherwise the problem with them.
pub(crate) fn decode(bytes: Bytes, columns: Option<&[&str]>) -> Result<RecordBatch, String> {
    checksum::check(&bytes)?;
    read(bytes, columns).map_err(|e| e.to_string())
}

fn read(bytes: Bytes, columns: Option<&[&str]>) -> Result<RecordBatch, ParquetError> {
    let size = bytes.len() as u64;
    let builder = ParquetRecordBatchReaderBuilder::try_new(bytes)?;
    check_columns(builder.metadata(), size).map_err(ParquetError::General)?;
    let mask = match columns {
        Some(columns) => ProjectionMask::columns(builder.parquet_schema(), columns.iter().copied()),
        None => ProjectionMask::all(),
    };
    collect(builder.with_projection(mask), most_memory(size))
}

/// Makes sure that every column is within a file of so many bytes. Checksums tell damage and not malice, and readers
/// believe a footer: they allocate as many bytes as it says, and panic at a length below 0.
pub(crate) fn check_columns(metadata: &ParquetMetaData, size: u64) -> Result<(), String> {
    let mut columns = metadata.row_groups().iter().flat_map(|group| group.columns());
    if columns.all(|column| is_within(column, size)) { Ok(()) } else { Err("a column is not within it".to_owned()) }
}

fn is_within(column: &ColumnChunkMetaData, size: u64) -> bool {
    let start = column.dictionary_page_offset().unwrap_or(column.data_page_offset());
    let (start, length) = (u64::try_from(start), u64::try_from(column.compressed_size()));
    // The sum of two numbers of 63 bits fits.
    start.is_ok_and(|start| length.is_ok_and(|length| start + length <= size))
}

/// Bytes of memory that the table of a file of this size may take.
pub(crate) fn most_memory(size: u64) -> usize {
    usize::try_from(size).unwrap_or(usize::MAX).saturating_mul(MOST_RATIO).max(SMALL)
}

/// The table that a reader was set up for, of so many bytes at most.
pub(crate) fn collect<T: ChunkReader + 'static>(
    builder: ParquetRecordBatchReaderBuilder<T>,
    most: usize,
) -> Result<RecordBatch, ParquetError> {
    // Readers of batches drop the metadata. Only its version belongs to the table and not to its file.
    let version = builder.schema().metadata().get(VERSION_KEY).map(ToString::to_string);
    let reader = builder.with_batch_size(ROWS).build()?;
    let entries: BTreeMap<String, String> =
        version.map(|version| (VERSION_KEY.to_owned(), version)).into_iter().collect();
    let schema = Arc::new(reader.schema().as_ref().clone().with_metadata(entries));
    let (mut batches, mut bytes): (Vec<RecordBatch>, usize) = (Vec::new(), 0);
    for batch in reader {
        let batch = batch?;
        bytes = bytes.saturating_add(batch.get_array_memory_size());
        if bytes > most {
            return Err(ParquetError::General(format!("its rows take more than {most} bytes of memory")));
        }
        batches.push(batch);
    }
    Ok(concat_batches(&schema, &batches)?)
}

#[cfg(test)]
mod tests {
    use go::Size;
    use parquet::file::metadata::ParquetMetaDataReader;
    use record::{games, synthetic};

    use super::*;

    #[test]
    fn column_that_is_not_within_its_file_is_refused() {
        let bytes = encode(&games::to_batch(&[synthetic::game("m-1", "w", 0, Size::new(5).unwrap(), 8)]));
        let metadata = ParquetMetaDataReader::new().parse_and_finish(&bytes).unwrap();
        let size = bytes.len() as u64;
        assert_eq!(check_columns(&metadata, size), Ok(()));
        assert_eq!(check_columns(&metadata, 100), Err("a column is not within it".to_owned()));
        for length in [-1, i64::MAX] {
            let column = metadata.row_group(0).column(0).clone().into_builder();
            assert!(!is_within(&column.set_total_compressed_size(length).build().unwrap(), size), "{length}");
        }
    }

    #[test]
    fn table_without_compression_is_the_same() {
        let table = games::to_batch(&[synthetic::game("m-1", "w", 0, Size::new(5).unwrap(), 8)]);
        let plain = encode_uncompressed(&table);
        let metadata = ParquetMetaDataReader::new().parse_and_finish(&plain).unwrap();
        let mut columns = metadata.row_group(0).columns().iter();
        assert!(columns.all(|column| column.compression() == Compression::UNCOMPRESSED));
        assert_eq!(decode(plain, None), decode(encode(&table), None));
    }

    #[test]
    fn table_that_takes_more_memory_than_it_may_is_refused() {
        let bytes = encode(&games::to_batch(&[synthetic::game("m-1", "w", 0, Size::new(5).unwrap(), 8)]));
        let read = |most| {
            let builder = ParquetRecordBatchReaderBuilder::try_new(bytes.clone()).unwrap();
            collect(builder, most).map(|table| table.num_rows()).map_err(|error| error.to_string())
        };
        assert_eq!(read(most_memory(bytes.len() as u64)), Ok(1));
        let refused = read(10).unwrap_err();
        assert!(refused.ends_with("its rows take more than 10 bytes of memory"), "{refused}");
        assert_eq!([most_memory(100), most_memory(1 << 30), most_memory(u64::MAX)], [SMALL, 100 << 30, usize::MAX]);
    }
}
