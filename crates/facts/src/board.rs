//! A board as a drawing, with coordinates and the last move.

use go::{Color, Game, Move, Point, Size};
use maud::{Markup, html};

/// Units between lines.
const CELL: usize = 20;
/// Units beyond a cell for the coordinates, above and on one side.
const NAMES: usize = 7;

/// The position of a game, the last move marked.
pub fn board(game: &Game, last: Option<Move>) -> Markup {
    let size = game.position().size();
    let side = size.side();
    let whole = CELL * (side + 1) + NAMES;
    let at = |line: usize| CELL * (line + 1) + NAMES;
    let (first, end) = (at(0), at(side - 1));
    html! {
        svg.board role="img" viewBox=(format!("0 0 {whole} {whole}")) aria-label=(said(game, size)) {
            rect.wood width=(whole) height=(whole) rx="4" {}
            @for line in 0..side {
                line.lines x1=(first) x2=(end) y1=(at(line)) y2=(at(line)) {}
                line.lines y1=(first) y2=(end) x1=(at(line)) x2=(at(line)) {}
                text.names x=(at(line)) y="12" text-anchor="middle" { (column(size, line)) }
                text.names x="9" y=(at(line) + 3) text-anchor="middle" { (side - line) }
            }
            @for (row, col) in stars(side) { circle.star cx=(at(col)) cy=(at(row)) r="2" {} }
            @for point in Point::all(size) {
                @if let Some(color) = game.position().stone(point) {
                    circle class=(if color == Color::Black { "black" } else { "white" }) cx=(at(point.col(size))) cy=(at(point.row(size))) r="9.4" {}
                }
            }
            @if let Some(Move::Play(point)) = last {
                circle.last cx=(at(point.col(size))) cy=(at(point.row(size))) r="4" {}
            }
        }
    }
}

fn column(size: Size, col: usize) -> String {
    let point = Point::all(size).nth(col).map(Move::Play);
    point.map_or_else(String::new, |mv| mv.to_gtp(size).chars().take(1).collect())
}

/// Star points as rows and columns, those of the boards of pages for players: nine, or five on an odd board below
/// 13x13, or four on an even one.
fn stars(side: usize) -> Vec<(usize, usize)> {
    if side < 7 {
        return Vec::new();
    }
    let near = if side < 13 { 2 } else { 3 };
    let (middle, far) = (side / 2, side - 1 - near);
    let is_odd = !side.is_multiple_of(2);
    let lines = if is_odd { vec![near, middle, far] } else { vec![near, far] };
    let all = lines.iter().flat_map(|&row| lines.iter().map(move |&col| (row, col)));
    let is_few = is_odd && side < 13;
    all.filter(|&(row, col)| !is_few || (row == middle) == (col == middle)).collect()
}

fn said(game: &Game, size: Size) -> String {
    let count = |color| Point::all(size).filter(|&point| game.position().stone(point) == Some(color)).count();
    format!("Board with {} black and {} white stones", count(Color::Black), count(Color::White))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn boards_have_the_star_points_that_are_printed_on_them() {
        assert_eq!([5, 7, 8, 9, 13, 18, 19].map(|side| stars(side).len()), [0, 5, 4, 5, 9, 4, 9]);
        assert_eq!(stars(9), [(2, 2), (2, 6), (4, 4), (6, 2), (6, 6)]);
        assert!([(3, 3), (9, 9), (9, 15)].iter().all(|star| stars(19).contains(star)));
    }
}
