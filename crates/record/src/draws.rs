//! How often positions were drawn for training, as a table: one row a game.

use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_array::types::UInt8Type;
use arrow_schema::Schema;

use crate::column::{lists, strings, table};
use crate::table::Table;
use crate::{GameId, RecordError};

/// The version of the table that [`to_batch`] makes and [`from_batch`] reads.
pub const VERSION: &str = "draws/1";

/// A game, and how often each of its examples was drawn, in their order.
pub type Draws = (GameId, Vec<u8>);

/// The columns, each with a `doc` in its metadata, and the version.
pub fn schema() -> Arc<Schema> {
    to_batch(&[]).schema()
}

/// The table of these games.
pub fn to_batch(games: &[Draws]) -> RecordBatch {
    let columns = vec![
        strings("game", "name of the game: 32 hexadecimal digits", games.iter().map(|(game, _)| game.to_string())),
        lists::<UInt8Type>(
            "draws",
            "how often each of its examples was drawn for this generation and those before it, in order of turn",
            games.iter().map(|(_, draws)| draws.iter().copied()),
        ),
    ];
    table(VERSION, columns)
}

/// The games of a table.
///
/// # Errors
/// Another version, a missing column or one of another type, or a name that is none.
pub fn from_batch(batch: &RecordBatch) -> Result<Vec<Draws>, RecordError> {
    let table = Table::open(batch, VERSION)?;
    let (games, draws) = (table.strings("game")?, table.lists::<UInt8Type>("draws")?);
    (0..table.rows()).map(|row| Ok((games.parse(row, str::parse)?, draws.row(row).to_vec()))).collect()
}
