//! Tables as Parquet files.
//!
//! The same table gives the same bytes. Parquet readers hardly notice altered data, and a damaged footer can make them
//! panic or ask for all the memory there is. So every file carries a seal: the SHA-256 of its bytes, in the footer's
//! metadata, computed with zeros in its own place. It is checked before anything is decoded, and a file without one is
//! refused.

use std::sync::Arc;

use arrow_array::{RecordBatch, RecordBatchReader};
use arrow_select::concat::concat_batches;
use bytes::Bytes;
use object_store::path::Path;
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::arrow::arrow_writer::ArrowWriter;
use parquet::basic::{Compression, Encoding, ZstdLevel};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::{EnabledStatistics, WriterProperties, WriterPropertiesBuilder};
use parquet::schema::types::ColumnPath;
use record::RecordError;

use crate::seal;
use crate::{Store, StoreError};

/// Rows decoded at a time.
const ROWS: usize = 64 * 1024;

/// Columns in which one row is much like the one before: compression sees that, unless a dictionary is in the way.
/// Measured on games of 9x9, this takes a quarter off the examples. All other columns have dictionaries.
const PLAIN: [&str; 3] = ["base_black", "base_white", "recent.list.item"];

/// Columns of numbers that hardly ever repeat: only their first bytes can be compressed.
const SPLIT: [&str; 6] = [
    "root_value",
    "network_value",
    "root_values.list.item",
    "best_child_values.list.item",
    "network_values.list.item",
    "prior_entropies.list.item",
];

impl Store {
    /// Publishes a table as a Parquet file.
    pub(crate) fn publish_table(&self, path: &Path, table: &RecordBatch) -> Result<(), StoreError> {
        self.publish(path, encode(table))
    }

    /// Reads a Parquet file, or only some of its columns.
    pub(crate) fn read_table(&self, path: &Path, columns: Option<&[&str]>) -> Result<RecordBatch, StoreError> {
        let bytes = self.get(path)?;
        decode(bytes, columns).map_err(|reason| StoreError::Damaged { path: self.name(path), reason })
    }

    /// Reads records from a Parquet file.
    pub(crate) fn read_records<T>(
        &self,
        path: &Path,
        columns: Option<&[&str]>,
        from_batch: impl Fn(&RecordBatch) -> Result<T, RecordError>,
    ) -> Result<T, StoreError> {
        let table = self.read_table(path, columns)?;
        from_batch(&table).map_err(|e| StoreError::Damaged { path: self.name(path), reason: e.to_string() })
    }
}

/// The bytes of a Parquet file with this table.
pub(crate) fn encode(table: &RecordBatch) -> Bytes {
    let mut bytes = write(table).expect("writing to memory a table of supported types cannot fail");
    seal::close(&mut bytes);
    bytes.into()
}

fn write(table: &RecordBatch) -> Result<Vec<u8>, ParquetError> {
    let mut writer = ArrowWriter::try_new(Vec::new(), table.schema(), Some(properties(table)))?;
    writer.write(table)?;
    writer.into_inner()
}

fn properties(table: &RecordBatch) -> WriterProperties {
    let schema = table.schema();
    let entries = schema.metadata().iter().map(|(key, value)| KeyValue::new(key.to_string(), value.to_string()));
    let entries = entries.chain([KeyValue::new(seal::KEY.to_owned(), seal::BLANK.to_owned())]).collect();
    let builder = WriterProperties::builder()
        // Which version of which library wrote a file is no reason for other bytes.
        .set_created_by("tengen".to_owned())
        // Higher levels than this one save 1 % and take longer.
        .set_compression(Compression::ZSTD(ZstdLevel::try_new(3).expect("zstd has a level 3")))
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

/// The table in the bytes of a Parquet file, or some of its columns; otherwise what is wrong with them.
pub(crate) fn decode(bytes: Bytes, columns: Option<&[&str]>) -> Result<RecordBatch, String> {
    seal::check(&bytes)?;
    read(bytes, columns).map_err(|e| e.to_string())
}

fn read(bytes: Bytes, columns: Option<&[&str]>) -> Result<RecordBatch, ParquetError> {
    let builder = ParquetRecordBatchReaderBuilder::try_new(bytes)?;
    let mask = match columns {
        Some(columns) => ProjectionMask::columns(builder.parquet_schema(), columns.iter().copied()),
        None => ProjectionMask::all(),
    };
    // Readers of batches forget the metadata, which has the version.
    let metadata = builder.schema().metadata().clone();
    let reader = builder.with_projection(mask).with_batch_size(ROWS).build()?;
    let schema = Arc::new(reader.schema().as_ref().clone().with_metadata(metadata));
    let batches: Vec<RecordBatch> = reader.collect::<Result<_, _>>()?;
    Ok(concat_batches(&schema, &batches)?)
}
