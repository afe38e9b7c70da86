//! Examples as a table: one row a position.

mod read;

use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_array::types::{Float32Type, Int8Type, UInt8Type, UInt16Type, UInt32Type};
use arrow_schema::Schema;
use go::Color;

use crate::column::{
    bytes, counts, flags, lists, move_indices, numbers, optional_bytes, optional_numbers, strings, table,
};
use crate::table::{Table, value_error};
use crate::turn::check_value;
use crate::{Example, GameId, RecordError};

use read::Columns;

/// The version of the table that [`to_batch`] makes and [`from_batch`] reads.
pub const VERSION: &str = "examples/5";

/// The columns, each with a `doc` in its metadata, and the version.
pub fn schema() -> Arc<Schema> {
    to_batch(&[]).schema()
}

/// The table of these examples.
pub fn to_batch(examples: &[Example]) -> RecordBatch {
    let rows = || examples.iter();
    let columns = vec![
        strings("game", "id of the game: 32 hexadecimal digits", rows().map(|e| e.game.to_string())),
        numbers::<UInt16Type>("turn", "moves played before this position", rows().map(|e| e.turn)),
        numbers::<UInt8Type>("size", "board size, 2 to 19", rows().map(|e| e.size.side() as u8)),
        numbers::<Float32Type>("komi", "points added to White's area", rows().map(|e| e.komi)),
        bytes(
            "base_black",
            "Black's stones min(7, turn) moves ago: bit i of byte i/8, least significant first, is point i, counted row by \
             row from the top left",
            rows().map(|e| e.base.black.to_bytes(e.size)),
        ),
        bytes(
            "base_white",
            "White's stones min(7, turn) moves ago, as base_black",
            rows().map(|e| e.base.white.to_bytes(e.size)),
        ),
        lists::<UInt16Type>(
            "recent",
            "the min(7, turn) moves since then, oldest first, colours alternating and ending with the opponent of the player \
             to move. A move is row * size + column from the top left, a pass size * size",
            rows().map(|e| e.recent.iter().copied()),
        ),
        numbers::<Int8Type>("to_move", "1 Black, -1 White", rows().map(|e| sign(e.to_move))),
        lists::<UInt16Type>(
            "visit_moves",
            "moves with a share of the policy, ascending",
            rows().map(|e| move_indices(&e.visits)),
        ),
        lists::<UInt32Type>(
            "visit_counts",
            "the visits of those moves, in the same order; after a Gumbel search 1,024ths of the improved policy",
            rows().map(|e| counts(&e.visits)),
        ),
        optional_numbers::<UInt16Type>(
            "opponent_move",
            "next move, by the opponent; none on the last turn",
            rows().map(|e| e.opponent_move),
        ),
        numbers::<UInt8Type>("search_kind", "kind of search: 1 full, 2 fast", rows().map(|e| e.kind.code())),
        numbers::<Float32Type>(
            "root_value",
            "mean value of the search at the root, for Black, -1 to 1",
            rows().map(|e| e.root_value),
        ),
        numbers::<Float32Type>(
            "best_child_value",
            "mean value of the best move, for Black, -1 to 1: the most visited one, or after a Gumbel search the one \
             that sequential halving chose",
            rows().map(|e| e.best_child_value),
        ),
        numbers::<Float32Type>(
            "network_value",
            "the network's value of the position, for Black, -1 to 1",
            rows().map(|e| e.network_value),
        ),
        numbers::<Float32Type>(
            "prior_entropy",
            "entropy of the network's priors over the moves that the search considers, before noise, in nats",
            rows().map(|e| e.prior_entropy),
        ),
        optional_numbers::<Float32Type>(
            "policy_surprise",
            "Kullback-Leibler divergence of the policy target from those priors, in nats; none for human games",
            rows().map(|e| e.policy_surprise),
        ),
        numbers::<Int8Type>("outcome", "1 Black won, -1 White won, 0 draw", rows().map(|e| e.outcome.as_i8())),
        optional_numbers::<Float32Type>(
            "score",
            "Black's area minus White's after komi, in points; none after resignation",
            rows().map(|e| e.score),
        ),
        optional_bytes(
            "area_black",
            "points of Black's final area, as base_black; none where the last position does not give the score",
            rows().map(|e| e.area.map(|area| area.black.to_bytes(e.size))),
        ),
        optional_bytes(
            "area_white",
            "points of White's final area, as area_black",
            rows().map(|e| e.area.map(|area| area.white.to_bytes(e.size))),
        ),
        numbers::<Float32Type>("weight", "weight in the loss, above 0; usually 1", rows().map(|e| e.weight)),
        flags("calibration", "calibration game: resignation is disabled", rows().map(|e| e.calibration)),
        strings("model", "id of the model to move", rows().map(|e| &e.model)),
    ];
    table(VERSION, columns)
}

/// The examples of a table.
///
/// # Errors
/// Another version, a missing column or one of another type, or a row that makes no example. Stones and moves are
/// checked to exist, not to make a game: [`crate::Replay::rebuild`] does that.
pub fn from_batch(batch: &RecordBatch) -> Result<Vec<Example>, RecordError> {
    let columns = Columns::new(&Table::open(batch, VERSION)?)?;
    (0..batch.num_rows()).map(|row| columns.row(row)).collect()
}

/// The columns that [`surprises`] reads.
pub const SURPRISE_COLUMNS: [&str; 3] = ["root_value", "network_value", "policy_surprise"];

/// Surprise of a search: distances of its value and policy from the network's.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Surprise {
    /// How far the search's value was from the network's, 0 to 2.
    pub value: f32,
    /// How far its policy was from the network's: see [`Example::policy_surprise`].
    pub policy: Option<f32>,
}

/// How much each search found out.
///
/// # Errors
/// Another version, a missing column or one of another type, or a value out of range.
pub fn surprises(batch: &RecordBatch) -> Result<Vec<Surprise>, RecordError> {
    let table = Table::open(batch, VERSION)?;
    let values = |name| {
        let values = table.numbers::<Float32Type>(name)?;
        let bad = |(row, &value)| check_value(value).err().map(|problem| value_error(name, row, problem));
        values.iter().enumerate().find_map(bad).map_or(Ok(values), Err)
    };
    let (root, network) = (values("root_value")?, values("network_value")?);
    let policies = table.optional_numbers::<Float32Type>("policy_surprise")?;
    (0..table.rows())
        .map(|row| {
            let policy = read::policy_surprise(policies, row)?;
            Ok(Surprise { value: (root[row] - network[row]).abs(), policy })
        })
        .collect()
}

/// Checks every row as [`from_batch`] does, without making examples of them.
pub(crate) fn check(batch: &RecordBatch) -> Result<(), RecordError> {
    let columns = Columns::new(&Table::open(batch, VERSION)?)?;
    (0..batch.num_rows()).try_for_each(|row| columns.check(row))
}

/// The games of a table, each with its number of consecutive rows.
pub(crate) fn runs(batch: &RecordBatch) -> Result<Vec<(GameId, usize)>, RecordError> {
    let games = Table::open(batch, VERSION)?.strings("game")?;
    let mut runs: Vec<(GameId, usize)> = Vec::new();
    for row in 0..batch.num_rows() {
        match runs.last_mut() {
            Some(run) if games.row(row) == games.row(row - 1) => run.1 += 1,
            _ => runs.push((games.parse(row, str::parse)?, 1)),
        }
    }
    Ok(runs)
}

fn sign(color: Color) -> i8 {
    match color {
        Color::Black => 1,
        Color::White => -1,
    }
}
