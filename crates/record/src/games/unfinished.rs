//! Games that were left before their end, as a table: one row a game.
//!
//! As in the table of games, without what is known at the end only; and with the policies that searches found, since a
//! game that is not over has no examples yet.

use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_array::types::{UInt16Type, UInt32Type};
use arrow_schema::Schema;

use super::read::{Headers, Turns, check_length};
use super::{header_columns, turn_columns};
use crate::column::{Column, counts, lists, move_indices, table};
use crate::table::{Lists, Table, value_error};
use crate::turn::check_visits;
use crate::{GameRecord, RecordError, Turn};

/// The version of the table that [`to_batch`] makes and [`from_batch`] reads.
pub const VERSION: &str = "unfinished/1";

/// Columns of the table of games that a game has only when it is over.
const OF_THE_END: [&str; 7] = ["ended_at", "winner_min_value", "mean_depth", "outcome", "score", "end", "positions"];

/// The columns, each with a `doc` in its metadata, and the version.
pub fn schema() -> Arc<Schema> {
    to_batch(&[]).schema()
}

/// The table of these games. What their records say of an end is omitted, and so are the notes of their turns.
pub fn to_batch(games: &[GameRecord]) -> RecordBatch {
    let mut columns = header_columns(games);
    columns.retain(|column| !OF_THE_END.contains(&column.name()));
    columns.extend(turn_columns(games));
    columns.extend(policy_columns(games));
    table(VERSION, columns)
}

/// The games of a table. Their ends mean nothing, and no turn has a note.
///
/// # Errors
/// As for tables of games, or a policy that cannot be one.
pub fn from_batch(batch: &RecordBatch) -> Result<Vec<GameRecord>, RecordError> {
    let table = Table::open(batch, VERSION)?;
    let (headers, turns, policies) = (Headers::of_unfinished(&table)?, Turns::new(&table)?, Policies::new(&table)?);
    (0..table.rows())
        .map(|row| {
            let mut game = headers.row(row)?;
            game.turns = turns.row(row, game.size)?;
            policies.put(row, &mut game)?;
            Ok(game)
        })
        .collect()
}

fn policy_columns(games: &[GameRecord]) -> [Column; 3] {
    fn turns(game: &GameRecord) -> impl Iterator<Item = &Turn> {
        game.turns.iter()
    }
    [
        lists::<UInt16Type>(
            "policy_moves",
            "number of moves with visits, per turn",
            games.iter().map(|game| turns(game).map(|turn| turn.visits.len() as u16)),
        ),
        lists::<UInt16Type>(
            "visit_moves",
            "these moves, turn by turn, ascending within a turn",
            games.iter().map(|game| turns(game).flat_map(|turn| move_indices(&turn.visits))),
        ),
        lists::<UInt32Type>(
            "visit_counts",
            "their visits, in the same order; with Gumbel search the improved policy in 1,024ths",
            games.iter().map(|game| turns(game).flat_map(|turn| counts(&turn.visits))),
        ),
    ]
}

struct Policies<'a> {
    lengths: Lists<'a, UInt16Type>,
    moves: Lists<'a, UInt16Type>,
    counts: Lists<'a, UInt32Type>,
}

impl<'a> Policies<'a> {
    fn new(table: &Table<'a>) -> Result<Policies<'a>, RecordError> {
        Ok(Policies {
            lengths: table.lists("policy_moves")?,
            moves: table.lists("visit_moves")?,
            counts: table.lists("visit_counts")?,
        })
    }

    /// Gives the turns of a game their visits.
    fn put(&self, row: usize, game: &mut GameRecord) -> Result<(), RecordError> {
        let fail = |problem: String| value_error("visit_moves", row, problem);
        let (lengths, moves, counts) = (self.lengths.row(row), self.moves.row(row), self.counts.row(row));
        check_length("policy_moves", row, lengths.len(), game.turns.len())?;
        let all: usize = lengths.iter().copied().map(usize::from).sum();
        if moves.len() != all || counts.len() != all {
            return Err(fail(format!(
                "{} moves and {} counts, where there are to be {all}",
                moves.len(),
                counts.len()
            )));
        }
        let mut visits = moves.iter().copied().zip(counts.iter().copied());
        for (turn, &length) in game.turns.iter_mut().zip(lengths) {
            turn.visits = visits.by_ref().take(length.into()).collect();
            check_visits(game.size, turn.visits.iter().copied()).map_err(fail)?;
        }
        Ok(())
    }
}
