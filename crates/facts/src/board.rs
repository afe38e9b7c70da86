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

fn stars(side: usize) -> Vec<(usize, usize)> {
    let lines: &[usize] = match side {
        19 => &[3, 9, 15],
        13 => &[3, 6, 9],
        9 => &[2, 4, 6],
        _ => &[],
    };
    lines.iter().flat_map(|&row| lines.iter().map(move |&col| (row, col))).collect()
}

fn said(game: &Game, size: Size) -> String {
    let count = |color| Point::all(size).filter(|&point| game.position().stone(point) == Some(color)).count();
    format!("Board with {} black and {} white stones", count(Color::Black), count(Color::White))
}
