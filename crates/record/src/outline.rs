//! A game as plots, lists and searches see it.

use arrow_array::RecordBatch;
use arrow_array::types::{Float32Type, UInt8Type, UInt16Type};
use go::Size;

use crate::games::VERSION;
use crate::table::{Table, optional, read_move, read_size};
use crate::{GameSummary, RecordError};

const SUMMARY: [&str; 13] = GameSummary::COLUMNS;
const MORE: [&str; 3] = ["size", "moves", "mean_depth"];

/// A game with how long it was and how it began, but without the rest of its turns.
#[derive(Clone, Debug, PartialEq)]
pub struct GameOutline {
    /// Who played, and how it ended.
    pub summary: GameSummary,
    /// The board.
    pub size: Size,
    /// Moves of the game, passes included.
    pub moves: u32,
    /// Indices of the first moves, at most [`GameOutline::OPENING`].
    pub opening: Vec<u16>,
    /// Mean over its searches of the mean depth of their leaves, in moves from the root; `None` without searches.
    pub mean_depth: Option<f32>,
}

impl GameOutline {
    /// Moves of an opening: what is played in the corners of 19x19 before the fights.
    pub const OPENING: usize = 60;

    /// The columns of a table of games that an outline needs; a reader may leave out the others.
    pub const COLUMNS: [&str; SUMMARY.len() + MORE.len()] = {
        let mut columns = [""; SUMMARY.len() + MORE.len()];
        let (first, last) = columns.split_at_mut(SUMMARY.len());
        first.copy_from_slice(&SUMMARY);
        last.copy_from_slice(&MORE);
        columns
    };

    /// The outlines of a table of games.
    ///
    /// # Errors
    /// Another version, a missing column or one of another type, or a row that makes no game.
    pub fn from_batch(batch: &RecordBatch) -> Result<Vec<GameOutline>, RecordError> {
        let summaries = GameSummary::from_batch(batch)?;
        let table = Table::open(batch, VERSION)?;
        let (sizes, moves) = (table.numbers::<UInt8Type>("size")?, table.lists::<UInt16Type>("moves")?);
        let mean_depth = table.optional_numbers::<Float32Type>("mean_depth")?;
        let outline = |(row, summary)| {
            let (size, all) = (read_size(row, sizes[row])?, moves.row(row));
            let opening = all[..all.len().min(GameOutline::OPENING)].to_vec();
            opening.iter().try_for_each(|&index| read_move(row, size, index).map(drop))?;
            let (moves, mean_depth) = (all.len() as u32, optional(mean_depth, row));
            Ok(GameOutline { summary, size, moves, opening, mean_depth })
        };
        summaries.into_iter().enumerate().map(outline).collect()
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
        let found = GameOutline::from_batch(&smaller);
        assert!(matches!(found, Err(RecordError::Value { column: "moves", row: 0, .. })), "{found:?}");
    }

    #[test]
    fn outlines_are_what_the_games_are() {
        let size = Size::new(5).unwrap();
        let played: Vec<_> = (0..12).map(|index| synthetic::game("a-1", "w", index, size, 8)).collect();
        let batch = games::to_batch(&played);
        let columns: Vec<usize> =
            GameOutline::COLUMNS.iter().map(|name| batch.schema_ref().index_of(name).unwrap()).collect();
        let outlines = GameOutline::from_batch(&batch.project(&columns).unwrap()).unwrap();
        assert_eq!(outlines.len(), played.len());
        for (outline, game) in outlines.iter().zip(&played) {
            let first: Vec<u16> =
                game.turns.iter().take(GameOutline::OPENING).map(|turn| turn.mv.index(size) as u16).collect();
            assert_eq!((outline.summary.id, outline.size, outline.moves as usize), (game.id, size, game.turns.len()));
            assert_eq!((&outline.opening, outline.mean_depth), (&first, game.mean_depth));
        }
    }
}
