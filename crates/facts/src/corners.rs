//! What games play in the corners of the board, turned and mirrored into one: joseki.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use go::Size;

/// A move in a corner.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct CornerMove {
    /// Lines from the two edges of the corner, from 1: 3 and 4 is the 3-4 point.
    pub lines: [u8; 2],
    /// Whether the player of the corner's move before plays again, since the opponent played elsewhere.
    pub again: bool,
}

/// Sequences of moves in corners, as a tree.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Corners {
    /// Corners in which a move was played.
    pub corners: u64,
    /// Corners by their first moves, of every length up to [`Corners::DEPTH`]. Of two sequences that mirror each other
    /// at the diagonal, one stands for both, whichever colour begins.
    lines: BTreeMap<Vec<CornerMove>, u64>,
}

impl Corners {
    /// Moves of a sequence.
    pub const DEPTH: usize = 8;

    /// The smallest board whose corners are counted.
    pub const SMALLEST: usize = 9;

    /// Counts the corners of a game by its first moves, a sixth as many as the board has points.
    pub fn add(&mut self, size: Size, moves: &[u16]) {
        let side = size.side();
        if side < Corners::SMALLEST {
            return;
        }
        let mut corners: [Corner; 4] = Default::default();
        for (turn, &mv) in moves.iter().take(size.area() / 6).enumerate() {
            let (row, col) = (usize::from(mv) / side, usize::from(mv) % side);
            // Neither a pass nor the lines through the centre belong to a corner.
            let (Some((below, up)), Some((right, across))) = (half(row, side), half(col, side)) else { continue };
            corners[2 * usize::from(below) + usize::from(right)].add([across, up], turn);
        }
        corners.iter().filter(|corner| !corner.moves.is_empty()).for_each(|corner| self.count(&corner.moves));
    }

    fn count(&mut self, moves: &[CornerMove]) {
        self.corners += 1;
        let mirrored = moves.iter().map(|mv| CornerMove { lines: [mv.lines[1], mv.lines[0]], ..*mv }).collect();
        let moves = moves.to_vec().min(mirrored);
        for length in 1..=moves.len() {
            *self.lines.entry(moves[..length].to_vec()).or_default() += 1;
        }
    }

    /// The sequences one move longer than this one, the most frequent first, each with its corners.
    pub fn after(&self, line: &[CornerMove]) -> Vec<(&[CornerMove], u64)> {
        let next = self.lines.iter().filter(|(moves, _)| moves.len() == line.len() + 1 && moves.starts_with(line));
        let mut next: Vec<_> = next.map(|(moves, &corners)| (moves.as_slice(), corners)).collect();
        next.sort_by_key(|&(_, corners)| Reverse(corners));
        next
    }

    /// Corners that begin with a sequence.
    pub fn line(&self, moves: &[CornerMove]) -> u64 {
        self.lines.get(moves).copied().unwrap_or_default()
    }

    /// The sequence that continues `line` with the most frequent move again and again, as long as a twentieth of the
    /// corners of `line` and two corners at least have it.
    pub fn usual<'a>(&'a self, line: &'a [CornerMove]) -> (&'a [CornerMove], u64) {
        let least = (self.line(line) / 20).max(2);
        let mut usual = (line, self.line(line));
        while let Some(&next) = self.after(usual.0).first().filter(|(_, corners)| *corners >= least) {
            usual = next;
        }
        usual
    }
}

/// Moves of one corner of one game, and the turn of the last.
#[derive(Default)]
struct Corner {
    moves: Vec<CornerMove>,
    last: usize,
}

impl Corner {
    fn add(&mut self, lines: [u8; 2], turn: usize) {
        if self.moves.len() < Corners::DEPTH {
            let again = !self.moves.is_empty() && (turn - self.last).is_multiple_of(2);
            self.moves.push(CornerMove { lines, again });
            self.last = turn;
        }
    }
}

/// Whether a line is in the second half of the board, and its number from the nearer edge; `None` in the middle.
fn half(at: usize, side: usize) -> Option<(bool, u8)> {
    let half = side / 2;
    match at {
        at if at < half => Some((false, at as u8 + 1)),
        at if at < side && side - 1 - at < half => Some((true, (side - at) as u8)),
        _ => None,
    }
}

/// Moves as people name them: `4-4 3-3 3-4`, with `tenuki` where the opponent played elsewhere.
pub fn text(moves: &[CornerMove]) -> String {
    let name = |mv: &CornerMove| {
        let [across, up] = mv.lines;
        format!("{}{across}-{up}", if mv.again { "tenuki " } else { "" })
    };
    moves.iter().map(name).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use go::{Move, Symmetry};

    use super::*;

    fn size() -> Size {
        Size::new(19).unwrap()
    }

    fn counted(games: &[&str]) -> Corners {
        let mut corners = Corners::default();
        for game in games {
            let index = |text| Move::from_gtp(size(), text).unwrap().index(size()) as u16;
            corners.add(size(), &game.split(' ').map(index).collect::<Vec<_>>());
        }
        corners
    }

    #[test]
    fn sequences_of_all_corners_are_one() {
        let game = "Q16 R17 Q17 R16";
        let expected = counted(&[game]);
        let moves: Vec<u16> =
            game.split(' ').map(|text| Move::from_gtp(size(), text).unwrap().index(size()) as u16).collect();
        for symmetry in Symmetry::ALL {
            let mut corners = Corners::default();
            let turned = moves.iter().map(|&mv| symmetry.permutation(size())[usize::from(mv)]);
            corners.add(size(), &turned.collect::<Vec<_>>());
            assert_eq!(corners, expected, "{symmetry:?}");
        }
        assert_eq!(text(expected.usual(&[]).0), "");
        let twice = counted(&[game, "D4 C3 D3 C4"]);
        assert_eq!(text(twice.usual(&[]).0), "4-4 3-3 3-4 4-3");
        assert_eq!(twice.corners, 2);
    }

    #[test]
    fn move_elsewhere_is_a_tenuki_and_the_centre_no_corner() {
        // Black Q16, White D4, Black R14: Black plays twice in one corner. K10 and the pass are in none.
        let corners = counted(&["Q16 D4 R14 K10 K16 pass"]);
        assert_eq!(corners.corners, 2);
        let lines: Vec<String> = corners.after(&[]).iter().map(|(line, _)| text(line)).collect();
        assert_eq!(lines, ["4-4"]);
        let [(first, 2)] = corners.after(&[])[..] else { panic!("two corners begin at 4-4") };
        let [(line, 1)] = corners.after(first)[..] else { panic!("one of them goes on") };
        assert_eq!(text(line), "4-4 tenuki 3-6");
    }

    #[test]
    fn small_boards_have_no_corners() {
        let mut corners = Corners::default();
        corners.add(Size::new(7).unwrap(), &[16, 17]);
        assert_eq!(corners, Corners::default());
    }
}
