//! Tables of texts and numbers as Parquet files, for downloads.

use std::sync::Arc;

use arrow_array::{ArrayRef, Float64Array, RecordBatch, StringArray};
use bytes::Bytes;

use crate::projection::encode;

/// The values of a column.
#[derive(Clone, Copy, Debug)]
pub enum TableColumn<'a> {
    /// Texts.
    Text(&'a [String]),
    /// Numbers, where there are any.
    Number(&'a [Option<f64>]),
}

/// A Parquet file with these columns.
///
/// # Panics
/// When their lengths differ, there is none, or the system has no resources left.
pub fn data_table(columns: &[(&str, TableColumn<'_>)]) -> Bytes {
    let columns = columns.iter().map(|&(name, column)| {
        let values: ArrayRef = match column {
            TableColumn::Text(texts) => Arc::new(StringArray::from_iter_values(texts)),
            TableColumn::Number(numbers) => Arc::new(Float64Array::from_iter(numbers.iter().copied())),
        };
        // Of a table without rows, too, some reader may want to know which columns have gaps.
        (name, values, matches!(column, TableColumn::Number(_)))
    });
    encode(&RecordBatch::try_from_iter_with_nullable(columns).expect("columns of equal length"))
}

#[cfg(test)]
mod tests {
    use arrow_array::cast::AsArray;
    use arrow_array::types::Float64Type;
    use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

    use super::*;

    #[test]
    fn parquet_has_the_rows() {
        let texts = ["a".to_owned(), "b".to_owned()];
        let bytes =
            data_table(&[("name", TableColumn::Text(&texts)), ("elo", TableColumn::Number(&[Some(1.5), None]))]);
        let mut reader = ParquetRecordBatchReaderBuilder::try_new(bytes).unwrap().build().unwrap();
        let batch = reader.next().unwrap().unwrap();
        assert_eq!(batch["name"].as_string::<i32>().iter().flatten().collect::<Vec<_>>(), texts);
        let numbers: Vec<Option<f64>> = batch["elo"].as_primitive::<Float64Type>().iter().collect();
        assert_eq!(numbers, [Some(1.5), None]);
    }
}
