//! Boards as text.

use go::Color::{Black, White};
use go::{DiagramError, Point, Position, PositionError, Stones};
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
fn missing_rows_and_columns_are_empty_and_space_does_not_matter() {
    let expected = position(3, ".X.\nO..\n...", Black);
    for text in [".X/O", "  . X *\n\t# ".replace('#', "O").as_str(), "+x+/o**/...", "\n   .X.\n   O..\n   ...\n"] {
        assert_eq!(position(3, text, Black), expected, "{text:?}");
    }
}

#[test]
fn bad_diagram_says_where() {
    let check = |text, expected| assert_eq!(Position::from_diagram(size(3), text, Black), Err(expected), "{text}");
    check("X../.?.", DiagramError::Character { row: 1, col: 1, character: '?' });
    check("X...", DiagramError::OffBoard { row: 0, col: 3 });
    check("././././.", DiagramError::OffBoard { row: 3, col: 0 });
    let corner = Point::new(size(3), 0, 0).unwrap();
    check("XO/O", DiagramError::Position(PositionError::NoLiberties(corner)));
    assert_eq!(
        DiagramError::Character { row: 1, col: 1, character: '?' }.to_string(),
        "row 2 column 2 has '?', which is neither stone nor point"
    );
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
    fn any_text_is_a_board_or_an_error(text in "[XO.*+/\n ?é]{0,40}") {
        if let Ok(board) = Position::from_diagram(size(5), &text, Black) {
            prop_assert_eq!(Position::from_diagram(size(5), &board.to_string(), Black), Ok(board));
        }
    }

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
            prop_assert_eq!(Position::from_diagram(size(side), &board.to_string(), White), Ok(board));
        }
    }
}
