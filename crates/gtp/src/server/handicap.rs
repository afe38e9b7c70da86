//! Where handicap stones go.

use go::{Color, Game, Point, PointSet, Position, Size, Stones};

/// Stones of the largest fixed handicap on a board (section 4.1.1 of the protocol); 0 where there is none.
pub(super) fn largest_fixed(size: Size) -> usize {
    match size.side() {
        0..7 => 0,
        7 => 4,
        side if side.is_multiple_of(2) => 4,
        _ => 9,
    }
}

/// The points of a fixed handicap (section 4.1.1 of the protocol); `None` where there is none of so many stones.
pub(super) fn fixed(size: Size, stones: usize) -> Option<Vec<Point>> {
    if stones < 2 || stones > largest_fixed(size) {
        return None;
    }
    let side = size.side();
    let near = if side < 13 { 2 } else { 3 };
    let (far, middle) = (side - 1 - near, side / 2);
    // Rows are counted from the top, so `far` is the line near the bottom.
    let corners = [(far, near), (near, far), (near, near), (far, far)];
    let sides = [(middle, near), (middle, far), (far, middle), (near, middle)];
    let centre = (stones % 2 == 1 && stones >= 5).then_some((middle, middle));
    let on_sides = match stones {
        6 | 7 => 2,
        8 | 9 => 4,
        _ => 0,
    };
    let places = corners.into_iter().take(stones).chain(sides.into_iter().take(on_sides)).chain(centre);
    Some(places.filter_map(|(row, col)| Point::new(size, row, col)).collect())
}

/// The points of any handicap: the largest fixed one, and then points as far away from all others and from the edge as
/// there are.
pub fn free(size: Size, stones: usize) -> Vec<Point> {
    let start = stones.min(largest_fixed(size));
    let mut points = fixed(size, start).unwrap_or_default();
    while points.len() < stones {
        let taken: PointSet = points.iter().copied().collect();
        let room = |&point: &Point| room(size, point, &points);
        let open = Point::all(size).filter(|&point| !taken.contains(point));
        // Of equals the first.
        let Some(next) = open.rev().max_by_key(room) else { break };
        points.push(next);
    }
    points
}

/// Twice the distance to the nearest stone, or to the point beyond the edge.
fn room(size: Size, point: Point, stones: &[Point]) -> usize {
    let (row, col) = (point.row(size), point.col(size));
    let last = size.side() - 1;
    let edge = [row, col, last - row, last - col].into_iter().min().unwrap_or(0) + 1;
    let distance = |stone: &Point| row.abs_diff(stone.row(size)) + col.abs_diff(stone.col(size));
    stones.iter().map(distance).chain([2 * edge]).min().unwrap_or(0)
}

/// A game in which Black has these stones and White begins; `None` when they make no position.
pub(super) fn game(size: Size, points: &[Point]) -> Option<Game> {
    let stones = Stones { black: points.iter().copied().collect(), white: PointSet::EMPTY };
    Position::from_stones(size, &stones, Color::White).ok().map(Game::from_position)
}

#[cfg(test)]
mod tests {
    use go::Move;

    use super::*;

    fn names(side: usize, points: &[Point]) -> String {
        let size = Size::new(side).expect("a size");
        points.iter().map(|&point| Move::Play(point).to_gtp(size)).collect::<Vec<_>>().join(" ")
    }

    fn check(side: usize, stones: usize, expected: Option<&str>) {
        let size = Size::new(side).expect("a size");
        assert_eq!(fixed(size, stones).map(|points| names(side, &points)).as_deref(), expected, "{side} {stones}");
    }

    /// The table of the protocol.
    #[test]
    fn fixed_handicaps_are_those_of_the_protocol() {
        check(19, 2, Some("D4 Q16"));
        check(19, 3, Some("D4 Q16 D16"));
        check(19, 4, Some("D4 Q16 D16 Q4"));
        check(19, 5, Some("D4 Q16 D16 Q4 K10"));
        check(19, 6, Some("D4 Q16 D16 Q4 D10 Q10"));
        check(19, 7, Some("D4 Q16 D16 Q4 D10 Q10 K10"));
        check(19, 8, Some("D4 Q16 D16 Q4 D10 Q10 K4 K16"));
        check(19, 9, Some("D4 Q16 D16 Q4 D10 Q10 K4 K16 K10"));
        check(9, 5, Some("C3 G7 C7 G3 E5"));
        check(13, 2, Some("D4 K10"));
        check(8, 4, Some("C3 F6 C6 F3"));
        check(7, 4, Some("C3 E5 C5 E3"));
        for (side, stones) in [(19, 1), (19, 10), (8, 5), (7, 5), (6, 2), (9, 0)] {
            check(side, stones, None);
        }
    }

    #[test]
    fn free_handicaps_have_as_many_stones_as_are_wanted() {
        for (side, stones) in [(19, 9), (19, 30), (9, 80), (5, 4), (2, 3), (8, 6)] {
            let size = Size::new(side).expect("a size");
            let points = free(size, stones);
            let different: PointSet = points.iter().copied().collect();
            assert_eq!((points.len(), different.len()), (stones, stones), "{}", names(side, &points));
            assert!(game(size, &points).is_some(), "{}", names(side, &points));
        }
        assert_eq!(names(5, &free(Size::new(5).expect("a size"), 1)), "C3");
    }
}
