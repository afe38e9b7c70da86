//! From a tree to a record of its main line.

use super::coordinates;
use super::error::{Error, Fault};
use super::number;
use super::outcome::Outcome;
use super::parse::first_game;
use super::record::{Application, Player, Record, Turn};
use super::tree::{Node, Tree, Value};
use crate::color::Color;
use crate::point::Move;
use crate::size::Size;

impl Record {
    /// Reads the first game of a collection, whatever follows it.
    ///
    /// # Errors
    /// When the first game is not SGF, or not one this project can play; see [`Record::from_tree`].
    pub fn parse(bytes: &[u8]) -> Result<Record, Error> {
        Record::from_tree(&first_game(bytes)?)
    }

    /// Reads the main line of a game. [`Record::replay`] checks whether the moves are legal.
    ///
    /// # Errors
    /// The game is not Go, or its board is not square from 2 to 19. A number or point is malformed, a node has two
    /// moves, or stones are set up after the first move.
    pub fn from_tree(tree: &Tree) -> Result<Record, Error> {
        let root = tree.root();
        check_game(root)?;
        let mut record = Record::new(read_size(root)?);
        read_root(root, &mut record)?;
        let mut first = None;
        for node in tree.main_line() {
            read_setup(node, &mut record)?;
            if let Some(value) = node.value("PL").filter(|_| record.turns.is_empty()) {
                first = Some(read_player(value)?);
            }
            read_move(node, &mut record)?;
            read_comment(node, &mut record);
        }
        record.first = first.unwrap_or_else(|| record.natural_first());
        Ok(record)
    }
}

impl Node {
    /// The move of the node; `None` where there is none that is on the board.
    pub fn played(&self, size: Size) -> Option<(Color, Move)> {
        let by = |name, color| self.value(name).map(|value| (color, value));
        let (color, value) = by("B", Color::Black).or_else(|| by("W", Color::White))?;
        coordinates::mv(size, value.trimmed()).map(|mv| (color, mv))
    }
}

fn check_game(root: &Node) -> Result<(), Error> {
    match root.value("GM") {
        Some(value) if value.trimmed() != "1" => Err(value.fault(Fault::OtherGame(value.raw.clone()))),
        _ => Ok(()),
    }
}

fn read_size(root: &Node) -> Result<Size, Error> {
    let Some(value) = root.value("SZ") else { return Ok(Size::MAX) };
    let bad = || value.bad("SZ", "the size of a square board");
    let number = |text: &str| text.trim().parse::<usize>().map_err(|_| bad());
    let (cols, rows) = value.raw.split_once(':').unwrap_or((&value.raw, &value.raw));
    if number(cols)? != number(rows)? {
        return Err(bad());
    }
    Size::new(number(cols)?).map_err(|error| value.fault(Fault::Size(error)))
}

fn read_root(root: &Node, record: &mut Record) -> Result<(), Error> {
    let text = |name| root.value(name).map(Value::simple_text).unwrap_or_default();
    record.black = Player { name: text("PB"), rank: text("BR") };
    record.white = Player { name: text("PW"), rank: text("WR") };
    record.rules = text("RU");
    record.date = text("DT");
    record.outcome = root.value("RE").map(|value| Outcome::parse(&value.simple_text()));
    record.application = root.value("AP").map(|value| {
        let (name, version) = value.composed();
        Application { name, version }
    });
    if let Some(value) = root.value("KM").filter(|value| !value.trimmed().is_empty()) {
        record.komi = Some(number::komi(value.trimmed()).ok_or_else(|| value.bad("KM", "a number"))?);
    }
    if let Some(value) = root.value("HA").filter(|value| !value.trimmed().is_empty()) {
        record.handicap = value.trimmed().parse().map_err(|_| value.bad("HA", "a whole number"))?;
    }
    Ok(())
}

fn read_setup(node: &Node, record: &mut Record) -> Result<(), Error> {
    for (name, color) in [("AB", Some(Color::Black)), ("AW", Some(Color::White)), ("AE", None)] {
        for value in node.values(name) {
            if !record.turns.is_empty() {
                return Err(value.fault(Fault::LateSetup));
            }
            let points = coordinates::points(record.size, value.trimmed());
            for point in points.ok_or_else(|| value.bad(name, "a point or rectangle of the board"))? {
                record.setup.black.remove(point);
                record.setup.white.remove(point);
                if let Some(color) = color {
                    record.setup.of_mut(color).insert(point);
                }
            }
        }
    }
    Ok(())
}

fn read_player(value: &Value) -> Result<Color, Error> {
    match value.trimmed() {
        "B" | "b" | "1" | "Black" | "black" => Ok(Color::Black),
        "W" | "w" | "2" | "White" | "white" => Ok(Color::White),
        _ => Err(value.bad("PL", "a player")),
    }
}

fn read_move(node: &Node, record: &mut Record) -> Result<(), Error> {
    let by = |name, color| node.values(name).iter().map(move |value| (name, color, value));
    let mut moves = by("B", Color::Black).chain(by("W", Color::White));
    let Some((name, color, value)) = moves.next() else { return Ok(()) };
    if let Some((_, _, second)) = moves.next() {
        return Err(second.fault(Fault::TwoMoves));
    }
    let mv = coordinates::mv(record.size, value.trimmed()).ok_or_else(|| value.bad(name, "a point of the board"))?;
    record.turns.push(Turn { color, mv, comment: String::new() });
    Ok(())
}

/// A comment belongs to the last move there was, or to the game before the first.
fn read_comment(node: &Node, record: &mut Record) {
    for value in node.values("C") {
        let comment = match record.turns.last_mut() {
            Some(turn) => &mut turn.comment,
            None => &mut record.comment,
        };
        if !comment.is_empty() {
            comment.push('\n');
        }
        comment.push_str(&value.text());
    }
}
