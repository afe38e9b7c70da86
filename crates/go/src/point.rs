//! Points of the board and moves on them.

use std::fmt::Write;

use crate::size::Size;

/// An intersection, counted row by row from the top-left corner.
///
/// A point does not know the size of its board; it is made for one size and means nothing on another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Point(u16);

impl Point {
    /// The point at `row` from the top and `col` from the left, both from 0; `None` off the board.
    pub const fn new(size: Size, row: usize, col: usize) -> Option<Point> {
        if row < size.side() && col < size.side() { Some(Point((row * size.side() + col) as u16)) } else { None }
    }

    /// The point with this index; `None` off the board.
    pub const fn from_index(size: Size, index: usize) -> Option<Point> {
        if index < size.area() { Some(Point(index as u16)) } else { None }
    }

    /// A point known to be on the board.
    pub(crate) const fn at(index: usize) -> Point {
        Point(index as u16)
    }

    /// Every point of a board, in order of index.
    pub fn all(size: Size) -> impl DoubleEndedIterator<Item = Point> + ExactSizeIterator {
        (0..size.area() as u16).map(Point)
    }

    /// `row * side + col`.
    pub const fn index(self) -> usize {
        self.0 as usize
    }

    /// Rows above this point.
    pub const fn row(self, size: Size) -> usize {
        self.index() / size.side()
    }

    /// Columns to the left of this point.
    pub const fn col(self, size: Size) -> usize {
        self.index() % size.side()
    }
}

/// A move: a point or a pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Move {
    /// Put a stone on a point.
    Play(Point),
    /// Leave the board as it is.
    Pass,
}

impl Move {
    /// The index of this move in a policy: that of its point, and the area for a pass.
    pub const fn index(self, size: Size) -> usize {
        match self {
            Move::Play(point) => point.index(),
            Move::Pass => size.area(),
        }
    }

    /// The move with this index in a policy; `None` beyond the pass.
    pub const fn from_index(size: Size, index: usize) -> Option<Move> {
        match Point::from_index(size, index) {
            Some(point) => Some(Move::Play(point)),
            None if index == size.area() => Some(Move::Pass),
            None => None,
        }
    }

    /// The point played, if any.
    pub const fn point(self) -> Option<Point> {
        match self {
            Move::Play(point) => Some(point),
            Move::Pass => None,
        }
    }

    /// Reads a GTP vertex: `pass`, or a column letter (I is skipped) and a row counted from the bottom, such as
    /// `D4`; case does not matter. `None` when the text is neither or the point is off the board.
    pub fn from_gtp(size: Size, text: &str) -> Option<Move> {
        if text.eq_ignore_ascii_case("pass") {
            return Some(Move::Pass);
        }
        let letter = text.bytes().next()?.to_ascii_uppercase();
        let col = COLUMNS.iter().position(|&column| column == letter)?;
        let digits = &text[1..];
        if !digits.bytes().all(|b| b.is_ascii_digit()) || digits.starts_with('0') {
            return None;
        }
        let row = size.side().checked_sub(digits.parse().ok()?)?;
        Point::new(size, row, col).map(Move::Play)
    }

    /// Writes the move as a GTP vertex, such as `D4` or `pass`.
    pub fn to_gtp(self, size: Size) -> String {
        let Move::Play(point) = self else { return "pass".to_owned() };
        let mut text = String::from(char::from(COLUMNS[point.col(size)]));
        write!(text, "{}", size.side() - point.row(size)).expect("a string takes all text");
        text
    }
}

/// Column letters of GTP, left to right.
const COLUMNS: [u8; 19] = *b"ABCDEFGHJKLMNOPQRST";
