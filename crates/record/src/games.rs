//! Games as a table: one row a game.

mod read;
pub mod unfinished;

use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_array::types::{Float32Type, Int8Type, UInt8Type, UInt16Type, UInt32Type, UInt64Type};
use arrow_schema::Schema;

use crate::column::{
    Column, flags, lists, lists_of_optional, lists_of_strings, numbers, optional_numbers, optional_times, strings,
    table,
};
use crate::table::Table;
use crate::{GameRecord, RecordError, SearchKind, Turn};

use read::{Headers, Turns};

/// The version of the table that [`to_batch`] makes and [`from_batch`] reads.
pub const VERSION: &str = "games/6";

/// The columns, each with a `doc` in its metadata, and the version.
pub fn schema() -> Arc<Schema> {
    to_batch(&[]).schema()
}

/// The table of these games.
pub fn to_batch(games: &[GameRecord]) -> RecordBatch {
    let mut columns = header_columns(games);
    columns.extend(turn_columns(games));
    table(VERSION, columns)
}

/// The games of a table.
///
/// # Errors
/// Another version, a missing column or one of another type, or a row that makes no game. Moves are checked to exist,
/// not to be legal: [`GameRecord::replay`] does that.
pub fn from_batch(batch: &RecordBatch) -> Result<Vec<GameRecord>, RecordError> {
    let table = Table::open(batch, VERSION)?;
    let headers = Headers::new(&table)?;
    let turns = Turns::new(&table)?;
    (0..table.rows())
        .map(|row| {
            let game = headers.row(row)?;
            let turns = turns.row(row, game.size)?;
            Ok(GameRecord { turns, ..game })
        })
        .collect()
}

/// Checks that a table, or some columns of one, has the version that [`from_batch`] reads.
///
/// # Errors
/// Another version.
pub fn check_version(batch: &RecordBatch) -> Result<(), RecordError> {
    Table::open(batch, VERSION).map(|_| ())
}

fn header_columns(games: &[GameRecord]) -> Vec<Column> {
    let rows = || games.iter();
    vec![
        strings("id", "id of the game: 32 hexadecimal digits", rows().map(|g| g.id.to_string())),
        strings("black", "id of the model that played Black", rows().map(|g| &g.black)),
        strings("white", "id of the model that played White", rows().map(|g| &g.white)),
        strings(
            "config_digest",
            "digest of the configuration the game was played with",
            rows().map(|g| &g.config_digest),
        ),
        numbers::<UInt64Type>("seed", "seed of the game's generator", rows().map(|g| g.seed)),
        numbers::<UInt64Type>(
            "index",
            "number of the game in the series of its worker with this model, from 0",
            rows().map(|g| g.index),
        ),
        strings("worker", "name of the worker", rows().map(|g| &g.worker)),
        optional_times(
            "started_at",
            "start of the game; none with --times false, which makes files reproducible",
            rows().map(|g| g.started_at),
        ),
        optional_times("ended_at", "end of the game; none as for started_at", rows().map(|g| g.ended_at)),
        numbers::<UInt8Type>("size", "board size, 2 to 19", rows().map(|g| g.size.side() as u8)),
        numbers::<Float32Type>("komi", "points added to White's area", rows().map(|g| g.komi)),
        strings(
            "scoring",
            "pass-alive: area scoring, pass-alive regions count for their owner and can end the game; area: Tromp-Taylor",
            rows().map(|g| g.scoring.name()),
        ),
        numbers::<UInt32Type>(
            "visits_budget",
            "visits of a full search; in matches the larger budget of the two players",
            rows().map(|g| g.visits_budget),
        ),
        flags("calibration", "calibration game: resignation is disabled", rows().map(|g| g.calibration)),
        flags("holdout", "in the validation set, never trained on", rows().map(|g| g.holdout)),
        optional_numbers::<Float32Type>(
            "resign_threshold",
            "resign threshold: root value for the player to move, -1 to 1; none without resignation",
            rows().map(|g| g.resign_threshold),
        ),
        optional_numbers::<UInt16Type>(
            "would_resign_turn",
            "first turn, from 0, with a root value for the player to move below the threshold, also in calibration \
             games. In resigned games of self-play it is the number of moves: the lists lack that search",
            rows().map(|g| g.would_resign_turn),
        ),
        optional_numbers::<Float32Type>(
            "winner_min_value",
            "worst root value, -1 to 1, of the winner on its own turns, for the winner; none for draws, for human games \
             and without a search of the winner",
            rows().map(|g| g.winner_min_value),
        ),
        optional_numbers::<Float32Type>(
            "mean_depth",
            "mean depth of the leaves, in moves from the root, averaged over the searches; none without searches",
            rows().map(|g| g.mean_depth),
        ),
        numbers::<Int8Type>("outcome", "1 Black won, -1 White won, 0 draw", rows().map(|g| g.outcome.as_i8())),
        optional_numbers::<Float32Type>(
            "score",
            "Black's area minus White's after komi, in points; none after resignation or forfeit",
            rows().map(|g| g.score),
        ),
        strings(
            "end",
            "passes, pass-alive, resignation, move-limit, or in matches forfeit: illegal behaviour of the loser",
            rows().map(|g| g.end.as_str()),
        ),
        numbers::<UInt32Type>(
            "positions",
            "turns with a weight: rows of this game in the examples, or in holdout/ where holdout is true; games of \
             matches have no rows",
            rows().map(|g| g.positions() as u32),
        ),
        lists::<UInt16Type>(
            "handoff_turns",
            "turns, from 0, at which a newer model or another process continued the game; usually empty",
            rows().map(|g| g.handoffs.iter().map(|handoff| handoff.turn)),
        ),
        lists_of_strings(
            "handoff_models",
            "ids of those models, in the same order",
            rows().map(|g| g.handoffs.iter().map(|handoff| &handoff.model)),
        ),
    ]
}

fn turn_columns(games: &[GameRecord]) -> Vec<Column> {
    /// A number of each turn, none where the turn was not searched.
    fn each_turn(
        name: &'static str,
        doc: &'static str,
        games: &[GameRecord],
        value: impl Fn(&Turn) -> f32 + Copy,
    ) -> Column {
        let row = |game: &'_ GameRecord| -> Vec<Option<f32>> {
            game.turns.iter().map(|turn| turn.is_searched().then(|| value(turn))).collect()
        };
        lists_of_optional::<Float32Type>(name, doc, games.iter().map(|game| row(game).into_iter()))
    }
    vec![
        lists::<UInt16Type>(
            "moves",
            "moves from the empty board, Black first: row * size + column from the top left, size * size for a pass",
            games.iter().map(|g| g.turns.iter().map(|turn| turn.mv.index(g.size) as u16)),
        ),
        lists::<UInt8Type>(
            "search_kinds",
            SearchKind::DOC,
            games.iter().map(|g| g.turns.iter().map(|turn| turn.kind.code())),
        ),
        lists::<Float32Type>(
            "weights",
            "weight of each turn's example in the loss, usually 1; 0 for turns without an example. In matches, \
             which have no examples, it is 1 for each search",
            games.iter().map(|g| g.turns.iter().map(|turn| turn.weight)),
        ),
        each_turn("root_values", "mean value of each turn's search at the root, for Black, -1 to 1", games, |turn| {
            turn.root_value
        }),
        each_turn(
            "best_child_values",
            "mean value of each turn's best move, for Black, -1 to 1: the most visited one, or after a Gumbel search \
             the one that sequential halving chose",
            games,
            |turn| turn.best_child_value,
        ),
        each_turn("network_values", "the network's value of each position, for Black, -1 to 1", games, |turn| {
            turn.network_value
        }),
        each_turn(
            "prior_entropies",
            "entropy of the priors over the moves that the search considers, before noise, per position, in nats",
            games,
            |turn| turn.prior_entropy,
        ),
        lists_of_optional::<Float32Type>(
            "policy_surprises",
            "Kullback-Leibler divergence of the search policy from those priors, in nats; none without a search and \
             for human games",
            games.iter().map(|g| g.turns.iter().map(|turn| turn.policy_surprise)),
        ),
    ]
}
