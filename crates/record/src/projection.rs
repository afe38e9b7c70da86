//! A game as plots see it.

use arrow_array::RecordBatch;
use arrow_array::types::{Float32Type, UInt16Type};

use crate::games::VERSION;
use crate::table::{Table, optional};
use crate::{GameSummary, RecordError};

const SUMMARY: [&str; 13] = GameSummary::COLUMNS;
const MORE: [&str; 2] = ["moves", "mean_depth"];

/// A game with how long it was, but without its turns.
#[derive(Clone, Debug, PartialEq)]
pub struct GameProjection {
    /// Who played, and how it ended.
    pub summary: GameSummary,
    /// Moves of the game, passes included.
    pub moves: u32,
    /// Mean over its searches of the mean depth of their leaves, in moves from the root; `None` without searches.
    pub mean_depth: Option<f32>,
}

impl GameProjection {
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
    pub fn from_batch(batch: &RecordBatch) -> Result<Vec<GameProjection>, RecordError> {
        let summaries = GameSummary::from_batch(batch)?;
        let table = Table::open(batch, VERSION)?;
        let moves = table.lists::<UInt16Type>("moves")?;
        let mean_depth = table.optional_numbers::<Float32Type>("mean_depth")?;
        let outline = |(row, summary)| GameProjection {
            summary,
            moves: moves.row(row).len() as u32,
            mean_depth: optional(mean_depth, row),
        };
        Ok(summaries.into_iter().enumerate().map(outline).collect())
    }
}

#[cfg(test)]
mod tests {
    use go::Size;

    use super::*;
    use crate::{games, synthetic};

    #[test]
    fn outlines_are_what_the_games_are() {
        let size = Size::new(5).unwrap();
        let played: Vec<_> = (0..12).map(|index| synthetic::game("a-1", "w", index, size, 8)).collect();
        let batch = games::to_batch(&played);
        let columns: Vec<usize> =
            GameProjection::COLUMNS.iter().map(|name| batch.schema_ref().index_of(name).unwrap()).collect();
        let outlines = GameProjection::from_batch(&batch.project(&columns).unwrap()).unwrap();
        assert_eq!(outlines.len(), played.len());
        for (outline, game) in outlines.iter().zip(&played) {
            assert_eq!((outline.summary.id, outline.moves as usize), (game.id, game.turns.len()));
            assert_eq!(outline.mean_depth, game.mean_depth);
        }
    }
}
