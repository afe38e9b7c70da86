//! Boards as text: rows from the top, `X` Black, `O` White, `.` empty.

use std::fmt;

use crate::color::Color;
use crate::point::Point;
use crate::position::{Position, PositionError};
use crate::size::Size;
use crate::stones::Stones;

impl Position {
    /// Reads a board.
    ///
    /// Rows end at a line break or `/`; space around the whole text and inside rows is ignored; `X`, `#` and `O` are
    /// stones in either case, and `.`, `*` and `+` are empty points. Missing rows and columns are empty.
    ///
    /// # Errors
    /// When there are too many rows or columns, another character, or a chain without liberties.
    pub fn from_diagram(size: Size, text: &str, to_move: Color) -> Result<Position, DiagramError> {
        let mut stones = Stones::EMPTY;
        for (row, line) in text.trim().split(['\n', '/']).enumerate() {
            for (col, character) in line.chars().filter(|c| !c.is_whitespace()).enumerate() {
                let point = Point::new(size, row, col).ok_or(DiagramError::OffBoard { row, col })?;
                match character {
                    'X' | 'x' | '#' => stones.black.insert(point),
                    'O' | 'o' => stones.white.insert(point),
                    '.' | '*' | '+' => {}
                    _ => return Err(DiagramError::Character { row, col, character }),
                }
            }
        }
        Position::from_stones(size, &stones, to_move).map_err(DiagramError::Position)
    }
}

impl fmt::Display for Position {
    /// One line a row, each ended by a line break except the last.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for point in Point::all(self.size()) {
            if point.index() > 0 && point.col(self.size()) == 0 {
                f.write_str("\n")?;
            }
            f.write_str(match self.stone(point) {
                Some(Color::Black) => "X",
                Some(Color::White) => "O",
                None => ".",
            })?;
        }
        Ok(())
    }
}

/// A text that is no diagram of a position. Rows and columns count from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DiagramError {
    /// A point beyond the right or lower edge.
    OffBoard {
        /// Rows above it.
        row: usize,
        /// Points to the left of it.
        col: usize,
    },
    /// A character that is neither a stone nor an empty point.
    Character {
        /// Rows above it.
        row: usize,
        /// Points to the left of it.
        col: usize,
        /// The character.
        character: char,
    },
    /// Stones that make no position.
    Position(PositionError),
}

impl fmt::Display for DiagramError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DiagramError::OffBoard { row, col } => {
                write!(f, "row {} column {} is not on the board", row + 1, col + 1)
            }
            DiagramError::Character { row, col, character } => {
                write!(f, "row {} column {} has {character:?}, which is neither stone nor point", row + 1, col + 1)
            }
            DiagramError::Position(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for DiagramError {}
