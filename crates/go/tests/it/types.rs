//! The small types: sizes, colours, points, moves, sets.

use std::collections::BTreeSet;

use go::{Color, Move, Point, PointSet, Scoring, Size, SizeError};
use proptest::prelude::*;

use crate::boards::size;
use crate::reference::indices;

#[test]
fn sizes_run_from_2_to_19() {
    assert_eq!(Size::all().map(Size::side).collect::<Vec<_>>(), (2..=19).collect::<Vec<_>>());
    for side in [0, 1, 20, usize::MAX] {
        assert_eq!(Size::new(side), Err(SizeError { side }));
    }
    assert_eq!("9".parse(), Size::new(9));
    assert_eq!(size(19).to_string(), "19");
    assert_eq!((size(9).area(), size(9).moves()), (81, 82));
    assert_eq!("20".parse::<Size>().unwrap_err().to_string(), "board size must be a whole number from 2 to 19, not 20");
    assert_eq!("x".parse::<Size>().unwrap_err().to_string(), "board size must be a whole number from 2 to 19");
}

#[test]
fn colours_are_opposites() {
    assert_eq!(Color::Black.opponent(), Color::White);
    assert_eq!(Color::BOTH.map(Color::sign), [1.0, -1.0]);
    assert_eq!(Color::BOTH.map(|color| color.to_string()), ["black", "white"]);
}

#[test]
fn unknown_scoring_is_an_error_with_the_known() {
    let said = "territory".parse::<Scoring>().unwrap_err();
    assert_eq!(said, "\"territory\" is no way of scoring; expected pass-alive or area");
}

/// No two moves share an index, and every index up to the pass is a move.
#[test]
fn moves_and_indices_correspond() {
    for size in Size::all() {
        for index in 0..size.moves() {
            let mv = Move::from_index(size, index).expect("every index is a move");
            assert_eq!(mv.index(size), index);
            assert_eq!(Move::from_gtp(size, &mv.to_gtp(size)), Some(mv));
        }
        assert_eq!(Move::from_index(size, size.moves()), None);
        assert_eq!(Move::from_index(size, size.area()), Some(Move::Pass));
        assert_eq!(Point::from_index(size, size.area()), None);
        assert_eq!(Point::all(size).len(), size.area());
        for point in Point::all(size) {
            assert_eq!(Point::new(size, point.row(size), point.col(size)), Some(point));
        }
        assert_eq!(Point::new(size, 0, size.side()), None);
        assert_eq!(Point::new(size, size.side(), 0), None);
    }
}

#[test]
fn gtp_counts_rows_from_the_bottom_and_skips_i() {
    let point = |row, col| Move::Play(Point::new(size(19), row, col).unwrap());
    for (text, mv) in [("A19", point(0, 0)), ("T1", point(18, 18)), ("J10", point(9, 8)), ("H4", point(15, 7))] {
        assert_eq!(mv.to_gtp(size(19)), text);
        assert_eq!(Move::from_gtp(size(19), &text.to_lowercase()), Some(mv));
    }
    assert_eq!(Move::from_gtp(size(19), "Pass"), Some(Move::Pass));
    assert_eq!(Move::Pass.to_gtp(size(19)), "pass");
}

/// Python: `numpy.packbits(plane.flatten(), bitorder="little")` of a 5x5 plane with points 0, 9 and 24 set.
#[test]
fn bytes_hold_the_first_point_in_the_lowest_bit() {
    let set: PointSet = [0, 9, 24].into_iter().filter_map(|i| Point::from_index(size(5), i)).collect();
    assert_eq!(set.to_bytes(size(5)), [1, 2, 0, 1]);
    assert_eq!(PointSet::from_bytes(size(5), &[1, 2, 0, 1]), Some(set));
    assert_eq!(PointSet::from_bytes(size(5), &[1, 2, 0, 2]), None, "a bit beyond the board");
    assert_eq!(PointSet::from_bytes(size(5), &[1, 2, 0]), None, "too short");
    assert_eq!(PointSet::from_bytes(size(5), &[1, 2, 0, 1, 0]), None, "too long");
    assert_eq!(PointSet::EMPTY.to_bytes(size(19)).len(), 46);
}

fn set_of(size: Size, indices: &BTreeSet<usize>) -> PointSet {
    indices.iter().filter_map(|&i| Point::from_index(size, i)).collect()
}

proptest! {
    /// A set of points behaves like a set of numbers.
    #[test]
    fn point_set_operations_agree_with_btree_set(
        side in 2_usize..=19,
        a in prop::collection::btree_set(0_usize..361, 0..80),
        b in prop::collection::btree_set(0_usize..361, 0..80),
    ) {
        let size = size(side);
        let on_board = |set: BTreeSet<usize>| -> BTreeSet<usize> { set.into_iter().filter(|&i| i < size.area()).collect() };
        let (a, b) = (on_board(a), on_board(b));
        let (x, y) = (set_of(size, &a), set_of(size, &b));
        prop_assert_eq!(x.iter().map(Point::index).collect::<Vec<_>>(), a.iter().copied().collect::<Vec<_>>());
        prop_assert_eq!((x.len(), x.is_empty(), x.first().map(Point::index)), (a.len(), a.is_empty(), a.first().copied()));
        prop_assert_eq!(indices(&(x | y)), &a | &b);
        prop_assert_eq!(indices(&(x & y)), &a & &b);
        prop_assert_eq!(indices(&(x - y)), &a - &b);
        prop_assert_eq!(x.is_subset(&y), a.is_subset(&b));
        prop_assert_eq!(PointSet::from_bytes(size, &x.to_bytes(size)), Some(x));
        for point in Point::all(size) {
            prop_assert_eq!(x.contains(point), a.contains(&point.index()));
            let mut without = x;
            without.remove(point);
            prop_assert!(!without.contains(point));
            without.insert(point);
            prop_assert_eq!(without.contains(point) && without == (x | set_of(size, &BTreeSet::from([point.index()]))), true);
        }
    }

    #[test]
    fn neighbours_are_one_step_away(side in 2_usize..=19, a in prop::collection::btree_set(0_usize..361, 0..80)) {
        let size = size(side);
        let set = set_of(size, &a);
        for point in Point::all(size) {
            let (row, col) = (point.row(size), point.col(size));
            let beside = set.iter().any(|other| row.abs_diff(other.row(size)) + col.abs_diff(other.col(size)) == 1);
            prop_assert_eq!(set.neighbours(size).contains(point), beside);
        }
    }
}
