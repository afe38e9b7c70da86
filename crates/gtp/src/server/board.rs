//! Boards and scores as text.

use std::fmt::Write;

use go::{Color, Game, Move, Point, Size};

/// The board with its coordinates, the last move in parentheses, and what else is known, in lines of which the first
/// is empty. `bonus` are White's points for handicap stones.
pub(super) fn show(game: &Game, komi: f32, bonus: usize) -> String {
    let side = game.size().side();
    let letters = (0..side).map(|col| format!(" {}", column(game, col))).collect::<String>();
    let mut text = format!("\n   {letters}");
    for row in 0..side {
        let number = side - row;
        write!(text, "\n {number:2}{}{number}", stones(game, row)).expect("a string takes all text");
    }
    let captures = |color| game.captures(color);
    let bonus = if bonus > 0 { format!(" and {bonus} for handicap stones") } else { String::new() };
    write!(
        text,
        "\n   {letters}\n {} to move after {} moves; komi {komi}{bonus}; captured by black {}, by white {}",
        game.to_move(),
        game.turn(),
        captures(Color::Black),
        captures(Color::White)
    )
    .expect("a string takes all text");
    text
}

/// The points of a row with what stands between them.
fn stones(game: &Game, row: usize) -> String {
    let last = game.moves().last().and_then(|mv| mv.point());
    let mut gap = ' ';
    let mut text = String::new();
    for col in 0..game.size().side() {
        let point = at(game, row, col);
        let stone = match game.position().stone(point) {
            Some(Color::Black) => 'X',
            Some(Color::White) => 'O',
            None => '.',
        };
        text.extend([if last == Some(point) { '(' } else { gap }, stone]);
        gap = if last == Some(point) { ')' } else { ' ' };
    }
    text.push(gap);
    text
}

fn at(game: &Game, row: usize, col: usize) -> Point {
    Point::new(game.size(), row, col).expect("the row and the column are on the board")
}

/// The letter of a column.
fn column(game: &Game, col: usize) -> String {
    Move::Play(at(game, 0, col)).to_gtp(game.size()).chars().filter(char::is_ascii_alphabetic).collect()
}

/// Points as vertices.
pub(super) fn names(size: Size, points: impl IntoIterator<Item = Point>) -> String {
    points.into_iter().map(|point| Move::Play(point).to_gtp(size)).collect::<Vec<_>>().join(" ")
}

/// `B+3.5`, `W+12` or `0`: Black's margin after komi, to a hundredth of a point.
pub(super) fn score(margin: f64) -> String {
    let margin = (margin * 100.0).round() / 100.0;
    match margin {
        _ if margin > 0.0 => format!("B+{margin}"),
        _ if margin < 0.0 => format!("W+{}", -margin),
        _ => "0".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scores_as_the_protocol_writes_them() {
        let cases =
            [(3.5, "B+3.5"), (-0.5, "W+0.5"), (0.0, "0"), (12.0, "B+12"), (-7.490_000_1, "W+7.49"), (1e-9, "0")];
        for (margin, text) in cases {
            assert_eq!(score(margin), text);
        }
    }

    #[test]
    fn boards_show_their_coordinates_and_the_last_move() {
        let mut game = Game::new(Size::new(3).expect("a size"));
        for vertex in ["B2", "C3"] {
            game.play(Move::from_gtp(game.size(), vertex).expect("a vertex")).expect("the move is legal");
        }
        let expected = "
    A B C
  3 . .(O)3
  2 . X . 2
  1 . . . 1
    A B C
 black to move after 2 moves; komi 7.5; captured by black 0, by white 0";
        assert_eq!(show(&game, 7.5, 0), expected);
        assert!(show(&game, 0.5, 2).contains("; komi 0.5 and 2 for handicap stones; "));
    }
}
