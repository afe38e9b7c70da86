//! What most readers want to know of a game, without its turns.

use arrow_array::RecordBatch;
use arrow_array::types::{Float32Type, Int8Type, UInt16Type, UInt32Type, UInt64Type};

use crate::games::VERSION;
use crate::table::{Table, optional, read_outcome};
use crate::{EndReason, GameId, GameRecord, HUMAN, Outcome, RecordError};

/// A game without its turns: enough for windows, thresholds, ratings and counting.
#[derive(Clone, Debug, PartialEq)]
pub struct GameSummary {
    /// The name of the game.
    pub id: GameId,
    /// Id of the model that played Black.
    pub black: String,
    /// Id of the model that played White.
    pub white: String,
    /// Number of the game among those its worker plays with this model, from 0.
    pub index: u64,
    /// Whether it is a calibration game.
    pub calibration: bool,
    /// Whether the game is in the validation set.
    pub holdout: bool,
    /// Root value for the mover below which it resigned; `None` without resignation.
    pub resign_threshold: Option<f32>,
    /// First turn whose root value for the mover was below the threshold in force.
    pub would_resign_turn: Option<u16>,
    /// Worst root value the winner saw on its own turns, for the winner; `None` for a draw.
    pub winner_min_value: Option<f32>,
    /// Who won.
    pub outcome: Outcome,
    /// Black's area minus White's after komi, in points; `None` after resignation.
    pub score: Option<f32>,
    /// Why the game ended.
    pub end: EndReason,
    /// Turns with an example: rows of this game among the examples. Fast searches have none.
    pub positions: u32,
}

impl GameSummary {
    /// The columns of a table of games that a summary needs; a reader may leave out the others.
    pub const COLUMNS: [&str; 13] = [
        "id",
        "black",
        "white",
        "index",
        "calibration",
        "holdout",
        "resign_threshold",
        "would_resign_turn",
        "winner_min_value",
        "outcome",
        "score",
        "end",
        "positions",
    ];

    /// Whether it is a human game that was imported, and not one of self-play.
    pub fn is_imported(&self) -> bool {
        self.black == HUMAN && self.white == HUMAN
    }

    /// Whether it counts for the resign threshold, as a game of this model. The values of `random`, model 0, mean
    /// nothing.
    pub fn sets_threshold(&self, model: u32) -> bool {
        self.calibration && model > 0 && self.winner_min_value.is_some()
    }

    /// Whether the winner would have resigned, before its opponent, by the threshold in force. `None` without a winner
    /// or a threshold.
    pub fn would_resign_wrongly(&self) -> Option<bool> {
        let winner = self.resign_threshold.and(self.outcome.winner())?;
        Some(self.would_resign_turn.is_some_and(|turn| GameRecord::to_move(turn.into()) == winner))
    }

    /// The summaries of a table of games.
    ///
    /// # Errors
    /// Another version, a missing column or one of another type, or a row that makes no game.
    pub fn from_batch(batch: &RecordBatch) -> Result<Vec<GameSummary>, RecordError> {
        let table = Table::open(batch, VERSION)?;
        let (id, black, white, end) =
            (table.strings("id")?, table.strings("black")?, table.strings("white")?, table.strings("end")?);
        let index = table.numbers::<UInt64Type>("index")?;
        let (calibration, holdout) = (table.flags("calibration")?, table.flags("holdout")?);
        let resign_threshold = table.optional_numbers::<Float32Type>("resign_threshold")?;
        let would_resign_turn = table.optional_numbers::<UInt16Type>("would_resign_turn")?;
        let winner_min_value = table.optional_numbers::<Float32Type>("winner_min_value")?;
        let outcome = table.numbers::<Int8Type>("outcome")?;
        let score = table.optional_numbers::<Float32Type>("score")?;
        let positions = table.numbers::<UInt32Type>("positions")?;
        let summary = |row| {
            Ok(GameSummary {
                id: id.parse(row, str::parse)?,
                black: black.row(row).to_owned(),
                white: white.row(row).to_owned(),
                index: index[row],
                calibration: calibration.value(row),
                holdout: holdout.value(row),
                resign_threshold: optional(resign_threshold, row),
                would_resign_turn: optional(would_resign_turn, row),
                winner_min_value: optional(winner_min_value, row),
                outcome: read_outcome(row, outcome[row])?,
                score: optional(score, row),
                end: end.parse(row, str::parse)?,
                positions: positions[row],
            })
        };
        (0..table.rows()).map(summary).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{games, synthetic};
    use go::Size;

    #[test]
    fn threshold_comes_from_calibration_games_with_a_winner() {
        let game = synthetic::game("a-1", "w", 0, Size::new(5).expect("a size"), 8);
        let summary = GameSummary::from_batch(&games::to_batch(&[game])).unwrap().remove(0);
        let calibration = GameSummary { calibration: true, winner_min_value: Some(-0.5), ..summary };
        assert!(calibration.sets_threshold(1) && !calibration.sets_threshold(0));
        assert!(!GameSummary { calibration: false, ..calibration.clone() }.sets_threshold(1));
        assert!(!GameSummary { winner_min_value: None, ..calibration }.sets_threshold(1));
    }
}
