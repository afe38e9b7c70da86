//! Reading games from their columns.

use arrow_array::types::{
    Float32Type, Int8Type, TimestampMillisecondType, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{BooleanArray, Float32Array, TimestampMillisecondArray, UInt16Array};
use go::{Move, Size};

use crate::table::{
    Lists, StringLists, Strings, Table, optional, read_komi, read_move, read_outcome, read_size, value_error,
};
use crate::turn::{check_divergence, check_entropy, check_value, check_weight};
use crate::{EndReason, GameRecord, Handoff, Outcome, RecordError, SearchKind, Turn};

/// The columns with one value for each game.
pub(super) struct Headers<'a> {
    id: Strings<'a>,
    black: Strings<'a>,
    white: Strings<'a>,
    config_digest: Strings<'a>,
    seed: &'a [u64],
    index: &'a [u64],
    worker: Strings<'a>,
    started_at: &'a TimestampMillisecondArray,
    size: &'a [u8],
    komi: &'a [f32],
    scoring: Strings<'a>,
    visits_budget: &'a [u32],
    calibration: &'a BooleanArray,
    holdout: &'a BooleanArray,
    resign_threshold: &'a Float32Array,
    would_resign_turn: &'a UInt16Array,
    handoff_turns: Lists<'a, UInt16Type>,
    handoff_models: StringLists<'a>,
    /// `None` where games are not over.
    ends: Option<Ends<'a>>,
}

/// Those of them that are known when the game is over.
struct Ends<'a> {
    ended_at: &'a TimestampMillisecondArray,
    winner_min_value: &'a Float32Array,
    mean_depth: &'a Float32Array,
    outcome: &'a [i8],
    score: &'a Float32Array,
    end: Strings<'a>,
}

impl<'a> Headers<'a> {
    pub(super) fn new(table: &Table<'a>) -> Result<Headers<'a>, RecordError> {
        Ok(Headers { ends: Some(Ends::new(table)?), ..Headers::of_unfinished(table)? })
    }

    /// Those of games that are not over: the end of a record that is made of them means nothing.
    pub(super) fn of_unfinished(table: &Table<'a>) -> Result<Headers<'a>, RecordError> {
        Ok(Headers {
            id: table.strings("id")?,
            black: table.strings("black")?,
            white: table.strings("white")?,
            config_digest: table.strings("config_digest")?,
            seed: table.numbers::<UInt64Type>("seed")?,
            index: table.numbers::<UInt64Type>("index")?,
            worker: table.strings("worker")?,
            started_at: table.optional_numbers::<TimestampMillisecondType>("started_at")?,
            size: table.numbers::<UInt8Type>("size")?,
            komi: table.numbers::<Float32Type>("komi")?,
            scoring: table.strings("scoring")?,
            visits_budget: table.numbers::<UInt32Type>("visits_budget")?,
            calibration: table.flags("calibration")?,
            holdout: table.flags("holdout")?,
            resign_threshold: table.optional_numbers::<Float32Type>("resign_threshold")?,
            would_resign_turn: table.optional_numbers::<UInt16Type>("would_resign_turn")?,
            handoff_turns: table.lists("handoff_turns")?,
            handoff_models: table.lists_of_strings("handoff_models")?,
            ends: None,
        })
    }

    /// The game of a row, without its turns.
    pub(super) fn row(&self, row: usize) -> Result<GameRecord, RecordError> {
        let game = GameRecord {
            id: self.id.parse(row, str::parse)?,
            black: self.black.row(row).to_owned(),
            white: self.white.row(row).to_owned(),
            config_digest: self.config_digest.row(row).to_owned(),
            seed: self.seed[row],
            index: self.index[row],
            worker: self.worker.row(row).to_owned(),
            started_at: read_time("started_at", row, self.started_at)?,
            ended_at: None,
            size: read_size(row, self.size[row])?,
            komi: read_komi(row, self.komi[row])?,
            scoring: self.scoring.parse(row, str::parse)?,
            visits_budget: self.visits_budget[row],
            calibration: self.calibration.value(row),
            holdout: self.holdout.value(row),
            resign_threshold: optional(self.resign_threshold, row),
            would_resign_turn: optional(self.would_resign_turn, row),
            winner_min_value: None,
            mean_depth: None,
            outcome: Outcome::Draw,
            score: None,
            end: EndReason::MoveLimit,
            handoffs: self.handoffs(row)?,
            turns: Vec::new(),
        };
        match &self.ends {
            Some(ends) => ends.row(game, row),
            None => Ok(game),
        }
    }

    fn handoffs(&self, row: usize) -> Result<Vec<Handoff>, RecordError> {
        let fail = |problem: String| value_error("handoff_turns", row, problem);
        let (turns, models) = (self.handoff_turns.row(row), self.handoff_models.row(row));
        if turns.len() != models.len() {
            return Err(fail(format!("{} turns have {} models", turns.len(), models.len())));
        }
        if !turns.is_sorted_by(|earlier, later| earlier < later) {
            return Err(fail(format!("{turns:?} are not in order")));
        }
        Ok(turns.iter().zip(models).map(|(&turn, model)| Handoff { turn, model: model.to_owned() }).collect())
    }
}

impl<'a> Ends<'a> {
    fn new(table: &Table<'a>) -> Result<Ends<'a>, RecordError> {
        Ok(Ends {
            ended_at: table.optional_numbers::<TimestampMillisecondType>("ended_at")?,
            winner_min_value: table.optional_numbers::<Float32Type>("winner_min_value")?,
            mean_depth: table.optional_numbers::<Float32Type>("mean_depth")?,
            outcome: table.numbers::<Int8Type>("outcome")?,
            score: table.optional_numbers::<Float32Type>("score")?,
            end: table.strings("end")?,
        })
    }

    /// The game of a row with its end.
    fn row(&self, game: GameRecord, row: usize) -> Result<GameRecord, RecordError> {
        Ok(GameRecord {
            ended_at: read_time("ended_at", row, self.ended_at)?,
            winner_min_value: optional(self.winner_min_value, row),
            mean_depth: optional(self.mean_depth, row),
            outcome: read_outcome(row, self.outcome[row])?,
            score: optional(self.score, row),
            end: self.end.parse(row, str::parse)?,
            ..game
        })
    }
}

fn read_time(column: &'static str, row: usize, times: &TimestampMillisecondArray) -> Result<Option<u64>, RecordError> {
    let read = |time: i64| u64::try_from(time).map_err(|_| value_error(column, row, "a time before 1970"));
    optional(times, row).map(read).transpose()
}

/// The columns with a list for each game.
pub(super) struct Turns<'a> {
    moves: Lists<'a, UInt16Type>,
    kinds: Lists<'a, UInt8Type>,
    weights: Lists<'a, Float32Type>,
    root_values: Lists<'a, Float32Type>,
    best_child_values: Lists<'a, Float32Type>,
    network_values: Lists<'a, Float32Type>,
    prior_entropies: Lists<'a, Float32Type>,
    policy_surprises: Lists<'a, Float32Type>,
}

impl<'a> Turns<'a> {
    pub(super) fn new(table: &Table<'a>) -> Result<Turns<'a>, RecordError> {
        Ok(Turns {
            moves: table.lists("moves")?,
            kinds: table.lists("search_kinds")?,
            weights: table.lists("weights")?,
            root_values: table.lists_of_optional("root_values")?,
            best_child_values: table.lists_of_optional("best_child_values")?,
            network_values: table.lists_of_optional("network_values")?,
            prior_entropies: table.lists_of_optional("prior_entropies")?,
            policy_surprises: table.lists_of_optional("policy_surprises")?,
        })
    }

    pub(super) fn row(&self, row: usize, size: Size) -> Result<Vec<Turn>, RecordError> {
        let moves = self.read_moves(row, size)?;
        let kinds = self.read_kinds(row, moves.len())?;
        let weights = self.read_weights(row, &kinds)?;
        let searched: Vec<bool> = kinds.iter().map(|kind| kind.is_searched()).collect();
        let values = |column, lists| read_values(column, lists, row, &searched, check_value);
        let root = values("root_values", &self.root_values)?;
        let best = values("best_child_values", &self.best_child_values)?;
        let network = values("network_values", &self.network_values)?;
        let entropy = read_values("prior_entropies", &self.prior_entropies, row, &searched, check_entropy)?;
        let surprises = self.read_surprises(row, kinds.len())?;
        let turn = |(i, mv)| Turn {
            mv,
            kind: kinds[i],
            weight: weights[i],
            visits: Vec::new(),
            root_value: root[i],
            best_child_value: best[i],
            network_value: network[i],
            prior_entropy: entropy[i],
            policy_surprise: surprises[i],
            note: None,
        };
        Ok(moves.into_iter().enumerate().map(turn).collect())
    }

    fn read_moves(&self, row: usize, size: Size) -> Result<Vec<Move>, RecordError> {
        self.moves.row(row).iter().map(|&index| read_move(row, size, index)).collect()
    }

    fn read_kinds(&self, row: usize, turns: usize) -> Result<Vec<SearchKind>, RecordError> {
        let codes = self.kinds.row(row);
        check_length("search_kinds", row, codes.len(), turns)?;
        let read = |&code: &u8| SearchKind::from_code(code).map_err(|e| value_error("search_kinds", row, e));
        codes.iter().map(read).collect()
    }

    fn read_weights(&self, row: usize, kinds: &[SearchKind]) -> Result<&'a [f32], RecordError> {
        let weights = self.weights.row(row);
        check_length("weights", row, weights.len(), kinds.len())?;
        let mut pairs = kinds.iter().zip(weights);
        let checked = pairs.try_for_each(|(&kind, &weight)| check_weight(kind, weight));
        checked.map(|()| weights).map_err(|e| value_error("weights", row, e))
    }

    fn read_surprises(&self, row: usize, turns: usize) -> Result<Vec<Option<f32>>, RecordError> {
        let surprises: Vec<Option<f32>> = self.policy_surprises.optional_row(row).collect();
        check_length("policy_surprises", row, surprises.len(), turns)?;
        let checked = surprises.iter().flatten().try_for_each(|&surprise| check_divergence(surprise));
        checked.map(|()| surprises).map_err(|e| value_error("policy_surprises", row, e))
    }
}

/// A number for each turn: there for those that were searched, and 0 for the others.
fn read_values(
    column: &'static str,
    lists: &Lists<'_, Float32Type>,
    row: usize,
    searched: &[bool],
    check: fn(f32) -> Result<(), String>,
) -> Result<Vec<f32>, RecordError> {
    let values: Vec<Option<f32>> = lists.optional_row(row).collect();
    check_length(column, row, values.len(), searched.len())?;
    let read = |(value, &searched): (Option<f32>, &bool)| match value {
        Some(value) if searched => check(value).map(|()| value),
        None if !searched => Ok(0.0),
        Some(_) => Err("a turn that was not searched has a value".to_owned()),
        None => Err("a turn that was searched has no value".to_owned()),
    };
    values.into_iter().zip(searched).map(|pair| read(pair).map_err(|e| value_error(column, row, e))).collect()
}

pub(super) fn check_length(column: &'static str, row: usize, found: usize, turns: usize) -> Result<(), RecordError> {
    if found == turns {
        return Ok(());
    }
    Err(value_error(column, row, format!("{found} entries for {turns} moves")))
}
