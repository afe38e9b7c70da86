//! Games as a Parquet file of their own, for downloads.

use bytes::Bytes;
use record::{GameRecord, games};

use crate::projection::encode;

/// A Parquet file of games, with the columns of files of games in the store.
///
/// # Panics
/// When the system has no resources left.
pub fn games_table(games: &[GameRecord]) -> Bytes {
    encode(&games::to_batch(games))
}
