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
