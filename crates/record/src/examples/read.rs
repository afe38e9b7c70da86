//! Reading examples from their columns.

use arrow_array::types::{Float32Type, Int8Type, UInt8Type, UInt16Type, UInt32Type};
use arrow_array::{Array, BinaryArray, BooleanArray, Float32Array, UInt16Array};
use go::{Color, PointSet, Size, Stones};

use crate::table::{Lists, Strings, Table, optional, read_komi, read_outcome, read_size, read_visits, value_error};
use crate::turn::{check_divergence, check_entropy, check_value};
use crate::{Example, GameId, RecordError, SearchKind};

/// The columns of a table of examples, found and of the right types.
pub(super) struct Columns<'a> {
    game: Strings<'a>,
    turn: &'a [u16],
    size: &'a [u8],
    komi: &'a [f32],
    base_black: &'a BinaryArray,
    base_white: &'a BinaryArray,
    recent: Lists<'a, UInt16Type>,
    to_move: &'a [i8],
    visit_moves: Lists<'a, UInt16Type>,
    visit_counts: Lists<'a, UInt32Type>,
    opponent_move: &'a UInt16Array,
    kind: &'a [u8],
    root_value: &'a [f32],
    best_child_value: &'a [f32],
    network_value: &'a [f32],
    prior_entropy: &'a [f32],
    policy_surprise: &'a Float32Array,
    outcome: &'a [i8],
    score: &'a Float32Array,
    area_black: &'a BinaryArray,
    area_white: &'a BinaryArray,
    weight: &'a [f32],
    calibration: &'a BooleanArray,
    model: Strings<'a>,
}

impl<'a> Columns<'a> {
    pub(super) fn new(table: &Table<'a>) -> Result<Columns<'a>, RecordError> {
        Ok(Columns {
            game: table.strings("game")?,
            turn: table.numbers::<UInt16Type>("turn")?,
            size: table.numbers::<UInt8Type>("size")?,
            komi: table.numbers::<Float32Type>("komi")?,
            base_black: table.bytes("base_black")?,
            base_white: table.bytes("base_white")?,
            recent: table.lists("recent")?,
            to_move: table.numbers::<Int8Type>("to_move")?,
            visit_moves: table.lists("visit_moves")?,
            visit_counts: table.lists("visit_counts")?,
            opponent_move: table.optional_numbers::<UInt16Type>("opponent_move")?,
            kind: table.numbers::<UInt8Type>("search_kind")?,
            root_value: table.numbers::<Float32Type>("root_value")?,
            best_child_value: table.numbers::<Float32Type>("best_child_value")?,
            network_value: table.numbers::<Float32Type>("network_value")?,
            prior_entropy: table.numbers::<Float32Type>("prior_entropy")?,
            policy_surprise: table.optional_numbers::<Float32Type>("policy_surprise")?,
            outcome: table.numbers::<Int8Type>("outcome")?,
            score: table.optional_numbers::<Float32Type>("score")?,
            area_black: table.optional_bytes("area_black")?,
            area_white: table.optional_bytes("area_white")?,
            weight: table.numbers::<Float32Type>("weight")?,
            calibration: table.flags("calibration")?,
            model: table.strings("model")?,
        })
    }

    pub(super) fn check(&self, row: usize) -> Result<(), RecordError> {
        let size = read_size(row, self.size[row])?;
        self.game.parse(row, str::parse::<GameId>)?;
        read_komi(row, self.komi[row])?;
        self.base(row, size)?;
        self.recent(row, size)?;
        read_color(row, self.to_move[row])?;
        self.visits(row, size).map(drop)?;
        self.opponent_move(row, size)?;
        self.kind(row)?;
        value("root_value", row, self.root_value[row])?;
        value("best_child_value", row, self.best_child_value[row])?;
        value("network_value", row, self.network_value[row])?;
        entropy(row, self.prior_entropy[row])?;
        policy_surprise(self.policy_surprise, row)?;
        read_outcome(row, self.outcome[row])?;
        self.area(row, size)?;
        self.weight(row).map(drop)
    }

    pub(super) fn row(&self, row: usize) -> Result<Example, RecordError> {
        let size = read_size(row, self.size[row])?;
        Ok(Example {
            game: self.game.parse(row, str::parse)?,
            turn: self.turn[row],
            size,
            komi: read_komi(row, self.komi[row])?,
            base: self.base(row, size)?,
            recent: self.recent(row, size)?.to_vec(),
            to_move: read_color(row, self.to_move[row])?,
            visits: self.visits(row, size)?.collect(),
            opponent_move: self.opponent_move(row, size)?,
            kind: self.kind(row)?,
            root_value: value("root_value", row, self.root_value[row])?,
            best_child_value: value("best_child_value", row, self.best_child_value[row])?,
            network_value: value("network_value", row, self.network_value[row])?,
            prior_entropy: entropy(row, self.prior_entropy[row])?,
            policy_surprise: policy_surprise(self.policy_surprise, row)?,
            outcome: read_outcome(row, self.outcome[row])?,
            score: optional(self.score, row),
            area: self.area(row, size)?,
            weight: self.weight(row)?,
            calibration: self.calibration.value(row),
            model: self.model.row(row).to_owned(),
        })
    }

    fn visits(&self, row: usize, size: Size) -> Result<impl Iterator<Item = (u16, u32)> + use<'a>, RecordError> {
        let (moves, counts) = (self.visit_moves.row(row), self.visit_counts.row(row));
        if moves.is_empty() {
            return Err(value_error("visit_moves", row, "no visits"));
        }
        read_visits(row, size, moves, counts)
    }

    fn opponent_move(&self, row: usize, size: Size) -> Result<Option<u16>, RecordError> {
        match optional(self.opponent_move, row) {
            Some(mv) if usize::from(mv) >= size.moves() => {
                Err(value_error("opponent_move", row, format!("move {mv} does not exist on {size}x{size}")))
            }
            opponent_move => Ok(opponent_move),
        }
    }

    fn kind(&self, row: usize) -> Result<SearchKind, RecordError> {
        let fail = |problem: String| value_error("search_kind", row, problem);
        match SearchKind::from_code(self.kind[row]).map_err(fail)? {
            kind if kind.is_searched() => Ok(kind),
            kind => Err(fail(format!("{} ({}) makes no example", kind.code(), kind.as_str()))),
        }
    }

    fn weight(&self, row: usize) -> Result<f32, RecordError> {
        let weight = self.weight[row];
        let good = weight > 0.0 && weight.is_finite();
        if good { Ok(weight) } else { Err(value_error("weight", row, format!("{weight} is not a number above 0"))) }
    }

    fn base(&self, row: usize, size: Size) -> Result<Stones, RecordError> {
        let (black, white) = (self.base_black.value(row), self.base_white.value(row));
        read_stones([("base_black", black), ("base_white", white)], row, size)
    }

    fn area(&self, row: usize, size: Size) -> Result<Option<Stones>, RecordError> {
        let (black, white) = (self.area_black, self.area_white);
        match (black.is_valid(row), white.is_valid(row)) {
            (false, false) => Ok(None),
            (true, true) => {
                let columns = [("area_black", black.value(row)), ("area_white", white.value(row))];
                read_stones(columns, row, size).map(Some)
            }
            _ => Err(value_error("area_white", row, "one area without the other".to_owned())),
        }
    }

    fn recent(&self, row: usize, size: Size) -> Result<&'a [u16], RecordError> {
        let moves = self.recent.row(row);
        let expected = usize::from(self.turn[row]).min(Example::HISTORY);
        if moves.len() != expected {
            return Err(value_error("recent", row, format!("{} moves, expected {expected}", moves.len())));
        }
        match moves.iter().find(|&&mv| usize::from(mv) >= size.moves()) {
            None => Ok(moves),
            Some(mv) => Err(value_error("recent", row, format!("move {mv} does not exist on {size}x{size}"))),
        }
    }
}

/// Black's and White's points, each with the name of its column.
fn read_stones(columns: [(&'static str, &[u8]); 2], row: usize, size: Size) -> Result<Stones, RecordError> {
    let read = |(column, bytes): (&'static str, &[u8])| {
        let wrong = || value_error(column, row, format!("{} bytes make no board of {size}x{size}", bytes.len()));
        PointSet::from_bytes(size, bytes).ok_or_else(wrong)
    };
    let (black, white) = (read(columns[0])?, read(columns[1])?);
    match (black & white).first() {
        None => Ok(Stones { black, white }),
        Some(point) => Err(value_error(columns[1].0, row, format!("two stones on point {}", point.index()))),
    }
}

fn value(column: &'static str, row: usize, value: f32) -> Result<f32, RecordError> {
    match check_value(value) {
        Ok(()) => Ok(value),
        Err(problem) => Err(value_error(column, row, problem)),
    }
}

fn entropy(row: usize, entropy: f32) -> Result<f32, RecordError> {
    match check_entropy(entropy) {
        Ok(()) => Ok(entropy),
        Err(problem) => Err(value_error("prior_entropy", row, problem)),
    }
}

pub(super) fn policy_surprise(column: &Float32Array, row: usize) -> Result<Option<f32>, RecordError> {
    let divergence = optional(column, row);
    match divergence.map_or(Ok(()), check_divergence) {
        Ok(()) => Ok(divergence),
        Err(problem) => Err(value_error("policy_surprise", row, problem)),
    }
}

fn read_color(row: usize, number: i8) -> Result<Color, RecordError> {
    match number {
        1 => Ok(Color::Black),
        -1 => Ok(Color::White),
        _ => Err(value_error("to_move", row, format!("{number} is neither 1 nor -1"))),
    }
}
