//! Boards as text.

use go::Color::{Black, White};
use go::{Point, Position, PositionError, Stones};
use proptest::prelude::*;

use crate::boards::{position, size};

#[test]
fn board_prints_row_by_row_from_the_top() {
    let board = position(3, "X..\n.O.\n..X", White);
    assert_eq!(board.to_string(), "X..\n.O.\n..X");
    assert_eq!(board.stone(Point::new(size(3), 0, 0).unwrap()), Some(Black));
    assert_eq!(board.to_move(), White);
}

#[test]
fn two_stones_on_a_point_or_off_the_board_make_no_position() {
    let point = Point::new(size(3), 1, 1).unwrap();
    let overlap = Stones { black: [point].into_iter().collect(), white: [point].into_iter().collect() };
    assert_eq!(Position::from_stones(size(3), &overlap, Black), Err(PositionError::Overlap(point)));
    let far = Point::new(size(9), 8, 8).unwrap();
    let off = Stones { black: [far].into_iter().collect(), ..Stones::EMPTY };
    assert_eq!(Position::from_stones(size(3), &off, Black), Err(PositionError::OffBoard(far)));
}

proptest! {
    #[test]
    fn diagrams_round_trip(cells in prop::collection::vec(0_u8..3, 361), side in 2_usize..=19) {
        let mut stones = Stones::EMPTY;
        for (point, cell) in Point::all(size(side)).zip(cells) {
            match cell {
                1 => stones.black.insert(point),
                2 => stones.white.insert(point),
                _ => {}
            }
        }
        if let Ok(board) = Position::from_stones(size(side), &stones, White) {
            prop_assert_eq!(position(side, &board.to_string(), White), board);
        }
    }
}

#[test]
fn board_that_is_set_anew_is_as_a_new_one() {
    let mut reused = Position::empty(size(19));
    for side in [5, 5, 19, 2, 9] {
        let mut stones = Stones::EMPTY;
        stones.black.insert(Point::from_index(size(side), 1).unwrap());
        reused.set_stones(size(side), &stones, White).unwrap();
        let new = Position::from_stones(size(side), &stones, White).unwrap();
        assert_eq!((&reused, reused.hash()), (&new, new.hash()), "{side}x{side}");
        let liberties = |board: &Position| Point::from_index(size(side), 1).map(|point| board.liberties(point));
        assert_eq!(liberties(&reused), liberties(&new), "{side}x{side}");
    }
}
