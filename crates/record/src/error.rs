//! What can be wrong with a record.

use crate::GameId;

/// A record or a table that cannot be used.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum RecordError {
    /// The table says that it is something else, or says nothing.
    #[error("expected a table of version {expected}, found {}", found.as_deref().unwrap_or("none"))]
    Version {
        /// The version this reader understands, such as `games/1`.
        expected: &'static str,
        /// The version the table names.
        found: Option<String>,
    },
    /// A column is not there.
    #[error("column {column} is missing")]
    MissingColumn {
        /// Its name.
        column: &'static str,
    },
    /// A column holds something else.
    #[error("column {column} holds {found}, expected {expected}")]
    ColumnType {
        /// Its name.
        column: &'static str,
        /// What it should hold.
        expected: String,
        /// What it holds.
        found: String,
    },
    /// A row lacks a value that every row has.
    #[error("column {column}, row {row}: no value")]
    Null {
        /// Name of the column.
        column: &'static str,
        /// The row, from 0.
        row: usize,
    },
    /// A value that means nothing.
    #[error("column {column}, row {row}: {problem}")]
    Value {
        /// Name of the column.
        column: &'static str,
        /// The row, from 0.
        row: usize,
        /// The problem with it.
        problem: String,
    },
    /// A game that cannot have been played so.
    #[error("game {game}, turn {turn}: {problem}")]
    Game {
        /// The game.
        game: GameId,
        /// The turn, from 0.
        turn: usize,
        /// The problem with it.
        problem: String,
    },
}
