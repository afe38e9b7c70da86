//! Ratings as a table: one row a player.

use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_array::types::{Float64Type, UInt32Type};
use arrow_schema::Schema;

use crate::RecordError;
use crate::column::{numbers, strings, table};
use crate::statistics::margin;
use crate::table::Table;

/// The version of the table that [`to_batch`] makes and [`from_batch`] reads.
pub const VERSION: &str = "ratings/1";

/// How strong a player is, as the results so far say. Errors are one standard error each.
#[derive(Clone, Debug, PartialEq)]
pub struct RatingRow {
    /// Id of a model, or the name of another program.
    pub player: String,
    /// Elo above the anchor.
    pub elo: f64,
    /// Error of `elo`, in Elo.
    pub error: f64,
    /// Elo above the mean of the run's models, or of all players where fewer than two models have played.
    pub above_pool: f64,
    /// Error of the difference from the mean of the others, in Elo.
    pub above_pool_error: f64,
    /// Games played.
    pub games: u32,
    /// Points made in them; a draw is half a point.
    pub points: f64,
}

impl RatingRow {
    /// Half of the 95 % interval against the mean of the others, in Elo: what more games make smaller. That of `elo` is
    /// nearly all the gap to the anchor, often `random`, and hardly changes.
    pub fn margin(&self) -> f64 {
        margin(self.above_pool_error)
    }
}

/// The players against whose mean errors are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Compared {
    /// Their places among all players.
    pub players: Vec<usize>,
    /// Whether they are the models of the run.
    pub are_models: bool,
}

/// The players against whose mean errors are: the models of the run that have played, or all who have where those are
/// fewer than two. Of a player without games no more is known than the prior. `players` are the games of each, and
/// whether it is a model of the run.
pub fn compared(players: impl IntoIterator<Item = (u32, bool)>) -> Compared {
    let played = (0..).zip(players).filter(|&(_, (games, _))| games > 0);
    let played: Vec<(usize, bool)> = played.map(|(place, (_, is_model))| (place, is_model)).collect();
    let are_models = played.iter().filter(|(_, is_model)| *is_model).count() > 1;
    let compared = played.into_iter().filter(|&(_, is_model)| is_model || !are_models);
    Compared { players: compared.map(|(place, _)| place).collect(), are_models }
}

/// The columns, each with a `doc` in its metadata, and the version.
pub fn schema() -> Arc<Schema> {
    to_batch(&[]).schema()
}

/// The table of these ratings.
pub fn to_batch(rows: &[RatingRow]) -> RecordBatch {
    let rows = || rows.iter();
    let columns = vec![
        strings("player", "id of a model, or name of an engine", rows().map(|r| &r.player)),
        numbers::<Float64Type>("elo", "Elo above the anchor", rows().map(|r| r.elo)),
        numbers::<Float64Type>("error", "one standard error of elo, in Elo", rows().map(|r| r.error)),
        numbers::<Float64Type>(
            "above_pool",
            "Elo above the mean of the run's models, or of all players where fewer than two models have played",
            rows().map(|r| r.above_pool),
        ),
        numbers::<Float64Type>(
            "above_pool_error",
            "one standard error of the difference from the mean of the others, in Elo",
            rows().map(|r| r.above_pool_error),
        ),
        numbers::<UInt32Type>("games", "games played", rows().map(|r| r.games)),
        numbers::<Float64Type>("points", "points scored; a draw is half a point", rows().map(|r| r.points)),
    ];
    table(VERSION, columns)
}

/// The ratings of a table.
///
/// # Errors
/// Another version, or a missing column or one of another type.
pub fn from_batch(batch: &RecordBatch) -> Result<Vec<RatingRow>, RecordError> {
    let table = Table::open(batch, VERSION)?;
    let player = table.strings("player")?;
    let (elo, error) = (table.numbers::<Float64Type>("elo")?, table.numbers::<Float64Type>("error")?);
    let above_pool = table.numbers::<Float64Type>("above_pool")?;
    let above_pool_error = table.numbers::<Float64Type>("above_pool_error")?;
    let (games, points) = (table.numbers::<UInt32Type>("games")?, table.numbers::<Float64Type>("points")?);
    let rating = |row| RatingRow {
        player: player.row(row).to_owned(),
        elo: elo[row],
        error: error[row],
        above_pool: above_pool[row],
        above_pool_error: above_pool_error[row],
        games: games[row],
        points: points[row],
    };
    Ok((0..table.rows()).map(rating).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_are_against_models_where_two_have_played() {
        let check = |players: &[(u32, bool)], expected: &[usize], are_models| {
            let found = compared(players.iter().copied());
            assert_eq!(found, Compared { players: expected.to_vec(), are_models }, "{players:?}");
        };
        check(&[(9, false), (4, true), (0, true), (5, true)], &[1, 3], true);
        check(&[(4, false), (4, true), (0, true), (0, false)], &[0, 1], false);
        check(&[(4, false), (4, false)], &[0, 1], false);
        check(&[(0, true), (0, true)], &[], false);
        check(&[], &[], false);
    }
}
