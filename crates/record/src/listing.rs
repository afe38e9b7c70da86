//! A game as lists and searches see it.

use arrow_array::RecordBatch;
use arrow_array::types::{UInt8Type, UInt16Type};
use go::Size;

use crate::games::VERSION;
use crate::table::{Table, read_move, read_size};
use crate::{GameProjection, RecordError};

const PROJECTION: [&str; 15] = GameProjection::COLUMNS;

/// A game with how it began, but without the rest of its turns.
#[derive(Clone, Debug, PartialEq)]
pub struct GameListing {
    /// Who played, how it ended, and how long it was.
    pub game: GameProjection,
    /// The board.
    pub size: Size,
    /// Indices of the first moves, at most [`GameListing::OPENING`].
    pub opening: Vec<u16>,
}

impl GameListing {
    /// Moves of an opening: what is played in the corners of 19x19 before the fights.
    pub const OPENING: usize = 60;

    /// The columns of a table of games that a listing needs; a reader may leave out the others.
    pub const COLUMNS: [&str; PROJECTION.len() + 1] = {
        let mut columns = ["size"; PROJECTION.len() + 1];
        columns.split_at_mut(PROJECTION.len()).0.copy_from_slice(&PROJECTION);
        columns
    };

    /// The listings of a table of games.
    ///
    /// # Errors
    /// Another version, a missing column or one of another type, or a row that makes no game.
    pub fn from_batch(batch: &RecordBatch) -> Result<Vec<GameListing>, RecordError> {
        let games = GameProjection::from_batch(batch)?;
        let table = Table::open(batch, VERSION)?;
        let (sizes, moves) = (table.numbers::<UInt8Type>("size")?, table.lists::<UInt16Type>("moves")?);
        let listing = |(row, game)| {
            let (size, all) = (read_size(row, sizes[row])?, moves.row(row));
            let opening = all[..all.len().min(GameListing::OPENING)].to_vec();
            opening.iter().try_for_each(|&index| read_move(row, size, index).map(drop))?;
            Ok(GameListing { game, size, opening })
        };
        games.into_iter().enumerate().map(listing).collect()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow_array::UInt8Array;

    use super::*;
    use crate::{games, synthetic};

    #[test]
    fn moves_beside_the_board_are_refused() {
        let batch = games::to_batch(&[synthetic::game("a-1", "w", 0, Size::new(9).unwrap(), 8)]);
        let mut columns = batch.columns().to_vec();
        columns[batch.schema_ref().index_of("size").unwrap()] = Arc::new(UInt8Array::from(vec![5]));
        let smaller = RecordBatch::try_new(batch.schema(), columns).unwrap();
        let found = GameListing::from_batch(&smaller);
        assert!(matches!(found, Err(RecordError::Value { column: "moves", row: 0, .. })), "{found:?}");
    }

    #[test]
    fn listings_are_what_the_games_are() {
        let size = Size::new(5).unwrap();
        let played: Vec<_> = (0..12).map(|index| synthetic::game("a-1", "w", index, size, 8)).collect();
        let batch = games::to_batch(&played);
        let columns: Vec<usize> =
            GameListing::COLUMNS.iter().map(|name| batch.schema_ref().index_of(name).unwrap()).collect();
        let listings = GameListing::from_batch(&batch.project(&columns).unwrap()).unwrap();
        assert_eq!(listings.len(), played.len());
        for (listing, game) in listings.iter().zip(&played) {
            let first: Vec<u16> =
                game.turns.iter().take(GameListing::OPENING).map(|turn| turn.mv.index(size) as u16).collect();
            assert_eq!((listing.game.summary.id, listing.size, &listing.opening), (game.id, size, &first));
        }
    }
}
