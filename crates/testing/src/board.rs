//! Boards as text (rows from the top, `X` Black, `O` White, `.` empty), and their images under the symmetries.

use go::{Color, Point, Position, Size, Stones, Symmetry};

/// The position of a diagram. Rows end at a line break or `/`; space does not matter; missing rows and columns are
/// empty.
///
/// # Panics
/// When the text is no diagram of a position of this size.
#[track_caller]
pub fn position(size: Size, diagram: &str, to_move: Color) -> Position {
    let mut stones = Stones::EMPTY;
    for (row, line) in diagram.trim().split(['\n', '/']).enumerate() {
        for (col, character) in line.chars().filter(|c| !c.is_whitespace()).enumerate() {
            let point = Point::new(size, row, col).expect("the point is on the board");
            match character {
                'X' => stones.black.insert(point),
                'O' => stones.white.insert(point),
                '.' => {}
                _ => panic!("{character:?} is neither stone nor point"),
            }
        }
    }
    Position::from_stones(size, &stones, to_move).expect("the stones make a position")
}

/// Where a symmetry puts stones.
pub fn transformed(symmetry: Symmetry, size: Size, stones: &Stones) -> Stones {
    Stones { black: symmetry.apply_set(size, &stones.black), white: symmetry.apply_set(size, &stones.white) }
}
