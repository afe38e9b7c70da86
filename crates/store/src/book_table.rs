//! Opening books as a Parquet file.

use std::sync::Arc;

use arrow_array::{ArrayRef, Float32Array, RecordBatch, StringArray, UInt32Array};
use arrow_schema::ArrowError;
use bytes::Bytes;

use crate::projection::encode;

/// The columns of a book, with a row for each move of each position.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BookColumns {
    /// The position.
    pub key: Vec<String>,
    /// The moves to it, as GTP writes them.
    pub line: Vec<String>,
    /// The player to move.
    pub to_move: Vec<String>,
    /// The move.
    pub mv: Vec<String>,
    /// The position after it; empty where it is not in the book.
    pub next: Vec<String>,
    /// The network's probability of the move.
    pub prior: Vec<f32>,
    /// Visits of the move.
    pub visits: Vec<u32>,
    /// Their mean value for Black.
    pub value: Vec<f32>,
    /// Minimax value for Black.
    pub minimax: Vec<f32>,
}

/// A Parquet file with the columns `key`, `line`, `to_move`, `move`, `next`, `prior`, `visits`, `value` and `minimax`.
///
/// # Panics
/// When columns differ in length, or the system has no resources left.
pub fn book_table(columns: BookColumns) -> Bytes {
    encode(&table(columns).expect("columns of equal length"))
}

fn table(columns: BookColumns) -> Result<RecordBatch, ArrowError> {
    let text = |column: Vec<String>| -> ArrayRef { Arc::new(StringArray::from(column)) };
    let float = |column: Vec<f32>| -> ArrayRef { Arc::new(Float32Array::from(column)) };
    let columns: [(&str, ArrayRef); 9] = [
        ("key", text(columns.key)),
        ("line", text(columns.line)),
        ("to_move", text(columns.to_move)),
        ("move", text(columns.mv)),
        ("next", text(columns.next)),
        ("prior", float(columns.prior)),
        ("visits", Arc::new(UInt32Array::from(columns.visits))),
        ("value", float(columns.value)),
        ("minimax", float(columns.minimax)),
    ];
    RecordBatch::try_from_iter(columns)
}

#[cfg(test)]
mod tests {
    use arrow_array::cast::AsArray;
    use arrow_array::types::UInt32Type;
    use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

    use super::*;

    #[test]
    fn columns_are_read_back_by_their_names() {
        let word = |text: &str| vec![text.to_owned(), text.to_uppercase()];
        let bytes = book_table(BookColumns {
            key: word("k"),
            line: word("l"),
            to_move: word("t"),
            mv: word("m"),
            next: word("n"),
            prior: vec![0.5, 0.25],
            visits: vec![7, 8],
            value: vec![0.1, 0.2],
            minimax: vec![-1.0, 1.0],
        });
        let mut reader = ParquetRecordBatchReaderBuilder::try_new(bytes).expect("Parquet").build().expect("a reader");
        let batch = reader.next().expect("rows").expect("rows");
        let text = |name: &str| batch.column_by_name(name).expect("a column").as_string::<i32>().value(1).to_owned();
        assert_eq!(["key", "line", "to_move", "move", "next"].map(text), ["K", "L", "T", "M", "N"]);
        let visits = batch.column_by_name("visits").expect("a column").as_primitive::<UInt32Type>();
        assert_eq!(visits.values(), &[7, 8]);
    }
}
