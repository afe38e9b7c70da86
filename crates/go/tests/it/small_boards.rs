//! Boards so small that everything can be counted.

use go::Color::{Black, White};
use go::{Color, Game, Illegal, Move, Point, Position, Scoring, Size, Stones};

use crate::boards::{game, play, position, size, try_play, vertex};

/// Every way to put black and white stones on a board, legal or not.
pub(crate) fn arrangements(size: Size) -> impl Iterator<Item = Stones> {
    (0..3_usize.pow(size.area() as u32)).map(move |mut code| {
        let mut stones = Stones::EMPTY;
        for point in Point::all(size) {
            match code % 3 {
                1 => stones.black.insert(point),
                2 => stones.white.insert(point),
                _ => {}
            }
            code /= 3;
        }
        stones
    })
}

/// J. Tromp and G. Farnebäck, "Combinatorics of Go" (2007), table of the numbers of legal positions.
#[test]
fn number_of_legal_positions_is_known() {
    let count = |side| {
        let size = size(side);
        arrangements(size).filter(|stones| Position::from_stones(size, stones, Black).is_ok()).count()
    };
    assert_eq!(count(2), 57);
    assert_eq!(count(3), 12_675);
}

#[test]
fn board_2x2_can_be_filled_but_for_one_point_and_captured_whole() {
    let mut game = Game::new(size(2));
    play(&mut game, "B A1, W A2, B B2");
    assert_eq!(game.captures(Black), 1);
    for corner in ["A2", "B1"] {
        let point = vertex(size(2), corner).point().unwrap();
        assert_eq!(try_play(&mut game, &format!("W {corner}")), Err(Illegal::Suicide(point)));
    }
    play(&mut game, "W pass, B A2, W B1");
    assert_eq!(game.captures(White), 3);
    assert_eq!(game.score(Scoring::Area), -4);
}

/// The longest game is bounded by the number of positions, so that random play without passing must run dry.
#[test]
fn games_without_passes_end_on_2x2() {
    let mut dice = testing::Dice(1);
    for _ in 0..200 {
        let mut game = Game::new(size(2));
        loop {
            let legal: Vec<Point> = game.legal_points().iter().collect();
            if legal.is_empty() {
                break;
            }
            game.play(Move::Play(legal[dice.below(legal.len())])).unwrap();
            assert!(game.turn() < 57);
        }
    }
}

#[test]
fn passing_out_on_3x3_leaves_the_middle_stone_in_charge() {
    let mut game = Game::new(size(3));
    play(&mut game, "B B2, W pass");
    assert!(!game.passed_out());
    play(&mut game, "B pass");
    assert!(game.is_over(Scoring::Area) && game.passed_out());
    assert_eq!(game.score(Scoring::Area), 9);
}

#[test]
fn stones_on_every_edge_have_only_the_liberties_on_the_board() {
    let liberties = |side, at: &str, color: Color| {
        let mut game = Game::new(size(side));
        game.set_to_move(color);
        let mv = vertex(size(side), at);
        game.play(mv).unwrap();
        game.position().liberties(mv.point().unwrap())
    };
    for (at, expected) in [("A1", 2), ("J9", 2), ("A9", 2), ("J1", 2), ("A5", 3), ("J5", 3), ("E1", 3), ("E9", 3)] {
        assert_eq!(liberties(9, at, White), expected, "{at}");
    }
    assert_eq!(liberties(2, "B1", Black), 2);
    assert_eq!(liberties(19, "K10", Black), 4);
}

#[test]
fn end_of_a_row_is_not_beside_the_start_of_the_next() {
    let position = position(3, "..X/O../...", Black);
    assert_eq!(position.liberties(vertex(size(3), "C3").point().unwrap()), 2);
    assert_eq!(position.liberties(vertex(size(3), "A2").point().unwrap()), 3);
}

/// Sending two and returning one: White's last stone only fills a point, yet makes the first board again.
#[test]
fn stone_that_captures_nothing_can_break_superko() {
    let mut game = game(5, "...../...../XX.../XXO../OO.O.", Black);
    play(&mut game, "B C1, W B1, B pass");
    assert_eq!((game.captures(Black), game.captures(White)), (2, 1));
    let repeated = vertex(size(5), "A1").point().unwrap();
    assert!(game.position().legal_points().contains(repeated) && !game.legal_points().contains(repeated));
    assert_eq!(try_play(&mut game, "W A1"), Err(Illegal::Superko(repeated)));
}
