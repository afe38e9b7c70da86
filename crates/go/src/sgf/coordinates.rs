//! Points as SGF writes them: two letters, column and row from the top-left corner.

use crate::point::{Move, Point};
use crate::size::Size;

/// Reads a point such as `dd`; `None` when it is none, or off the board.
pub(super) fn point(size: Size, text: &str) -> Option<Point> {
    let [col, row] = text.as_bytes() else { return None };
    let number = |letter: &u8| letter.checked_sub(b'a').map(usize::from);
    Point::new(size, number(row)?, number(col)?)
}

/// Reads a move: a point, or nothing, or `tt`, which FF\[3\] has for a pass on boards up to 19x19.
pub(super) fn mv(size: Size, text: &str) -> Option<Move> {
    match text {
        "" | "tt" => Some(Move::Pass),
        text => point(size, text).map(Move::Play),
    }
}

/// Reads one point, or a rectangle such as `aa:cc` from its top-left to its bottom-right corner.
pub(super) fn points(size: Size, text: &str) -> Option<Vec<Point>> {
    let (first, last) = text.split_once(':').unwrap_or((text, text));
    let (first, last) = (point(size, first)?, point(size, last)?);
    let rows = first.row(size)..=last.row(size);
    let cols = first.col(size)..=last.col(size);
    if rows.is_empty() || cols.is_empty() {
        return None;
    }
    rows.flat_map(|row| cols.clone().map(move |col| Point::new(size, row, col))).collect()
}

/// Writes a point.
pub fn write(size: Size, point: Point) -> String {
    [point.col(size), point.row(size)].map(|number| char::from(b'a' + number as u8)).iter().collect()
}

/// Writes a move: a point, or nothing for a pass.
pub(super) fn write_move(size: Size, mv: Move) -> String {
    mv.point().map(|point| write(size, point)).unwrap_or_default()
}
