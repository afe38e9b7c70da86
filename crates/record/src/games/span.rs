//! How long games are, and how many of their turns are examples.

use arrow_array::RecordBatch;
use arrow_array::types::Float32Type;

use super::VERSION;
use crate::RecordError;
use crate::table::Table;

/// The length of a game, and the examples in its first part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// Moves.
    pub moves: usize,
    /// Examples among the first turns: its first rows in a table of examples.
    pub examples: usize,
}

impl Span {
    /// The columns of a table of games that are needed.
    pub const COLUMNS: [&str; 1] = ["weights"];

    /// The spans of the games of a table, of which the first `turns` turns are looked at.
    ///
    /// # Errors
    /// Another version, a missing column or one of another type.
    pub fn from_batch(batch: &RecordBatch, turns: usize) -> Result<Vec<Span>, RecordError> {
        let table = Table::open(batch, VERSION)?;
        let weights = table.lists::<Float32Type>("weights")?;
        let span = |row| {
            let weights = weights.row(row);
            let examples = weights.iter().take(turns).filter(|weight| **weight > 0.0).count();
            Span { moves: weights.len(), examples }
        };
        Ok((0..table.rows()).map(span).collect())
    }
}
