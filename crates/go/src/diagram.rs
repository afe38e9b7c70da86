//! Boards as text: rows from the top, `X` Black, `O` White, `.` empty.

use std::fmt;

use crate::color::Color;
use crate::point::Point;
use crate::position::Position;

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
