//! Evaluations of positions as a Parquet file.

use std::sync::Arc;

use arrow_array::builder::{FixedSizeBinaryBuilder, Float32Builder, ListBuilder};
use arrow_array::{ArrayRef, Float32Array, RecordBatch, UInt32Array};
use arrow_schema::ArrowError;
use bytes::Bytes;

use crate::projection::encode;

/// Bytes of a key.
const KEY: usize = 10;

/// The evaluation of one position of a game.
#[derive(Clone, Debug, PartialEq)]
pub struct EvaluationRow {
    /// The place of the game in its collection, from 0; games that are omitted have places, too.
    pub game: u32,
    /// Moves before the position.
    pub turn: u32,
    /// The key of the evaluation cache, the highest byte first.
    pub key: [u8; KEY],
    /// Expected outcome for Black.
    pub value: f32,
    /// A probability for each move by its index, the pass last.
    pub policy: Vec<f32>,
}

/// A Parquet file with the columns `game`, `turn`, `key`, `value` and `policy`.
///
/// # Panics
/// When the system has no resources left.
pub fn evaluation_table(rows: &[EvaluationRow]) -> Bytes {
    encode(&table(rows).expect("columns of equal length"))
}

fn table(rows: &[EvaluationRow]) -> Result<RecordBatch, ArrowError> {
    let mut keys = FixedSizeBinaryBuilder::new(KEY as i32);
    let mut policies = ListBuilder::new(Float32Builder::new());
    for row in rows {
        keys.append_value(row.key)?;
        policies.values().append_slice(&row.policy);
        policies.append(true);
    }
    let columns: [(&str, ArrayRef); 5] = [
        ("game", Arc::new(UInt32Array::from_iter_values(rows.iter().map(|row| row.game)))),
        ("turn", Arc::new(UInt32Array::from_iter_values(rows.iter().map(|row| row.turn)))),
        ("key", Arc::new(keys.finish())),
        ("value", Arc::new(Float32Array::from_iter_values(rows.iter().map(|row| row.value)))),
        ("policy", Arc::new(policies.finish())),
    ];
    RecordBatch::try_from_iter(columns)
}

#[cfg(test)]
mod tests {
    use arrow_array::cast::AsArray;
    use arrow_array::types::{Float32Type, UInt32Type};
    use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

    use super::*;

    #[test]
    fn parquet_has_the_rows() {
        let row =
            |turn: u32| EvaluationRow { game: 3, turn, key: [turn as u8; KEY], value: 0.5, policy: vec![0.25; 5] };
        let bytes = evaluation_table(&[row(0), row(1)]);
        let mut reader = ParquetRecordBatchReaderBuilder::try_new(bytes).unwrap().build().unwrap();
        let batch = reader.next().unwrap().unwrap();
        assert_eq!(batch.num_rows(), 2);
        assert_eq!(batch["turn"].as_primitive::<UInt32Type>().values(), &[0, 1]);
        assert_eq!(batch["key"].as_fixed_size_binary().value(1), [1; KEY]);
        let policy = batch["policy"].as_list::<i32>().value(1);
        assert_eq!(policy.as_primitive::<Float32Type>().values(), &[0.25; 5]);
    }
}
