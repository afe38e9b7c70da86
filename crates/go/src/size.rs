//! How large a board is.

use std::fmt;
use std::str::FromStr;

/// The largest number of points on a side.
pub const MAX_SIDE: usize = 19;
/// The largest number of points on a board.
pub const MAX_AREA: usize = MAX_SIDE * MAX_SIDE;
/// The largest number of moves a position can offer: one a point, and the pass.
pub const MAX_MOVES: usize = MAX_AREA + 1;
/// The largest komi of any board: see [`Size::allows_komi`].
pub const MAX_KOMI: f32 = MAX_AREA as f32;

/// The number of points of all smaller boards, by side.
const FIRST: [usize; MAX_SIDE + 2] = {
    let mut first = [0; MAX_SIDE + 2];
    let mut side = Size::MIN.side();
    while side <= MAX_SIDE {
        first[side + 1] = first[side] + side * side;
        side += 1;
    }
    first
};

/// The side of a square board: 2 to 19 points.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Size(u8);

impl Size {
    /// The smallest board, 2x2.
    pub const MIN: Size = Size(2);
    /// The largest board, 19x19.
    pub const MAX: Size = Size(MAX_SIDE as u8);
    /// Points of the boards of all sizes together.
    pub(crate) const ALL_POINTS: usize = FIRST[MAX_SIDE + 1];

    /// The size with `side` points on a side.
    ///
    /// # Errors
    /// When `side` is not between 2 and 19.
    pub const fn new(side: usize) -> Result<Size, SizeError> {
        if side >= 2 && side <= MAX_SIDE { Ok(Size(side as u8)) } else { Err(SizeError { side }) }
    }

    /// Every size, smallest first.
    pub fn all() -> impl DoubleEndedIterator<Item = Size> {
        (Size::MIN.0..=Size::MAX.0).map(Size)
    }

    /// Points on a side.
    pub const fn side(self) -> usize {
        self.0 as usize
    }

    /// Points on the board.
    pub const fn area(self) -> usize {
        self.side() * self.side()
    }

    /// Where the points of this board begin among those of all sizes, the smallest first.
    pub(crate) const fn first_index(self) -> usize {
        FIRST[self.side()]
    }

    /// Moves of a policy: one a point, and the pass, which comes last.
    pub const fn moves(self) -> usize {
        self.area() + 1
    }

    /// Whether a game on this board may have this komi: no more than its points, for either player. NaN may not.
    pub fn allows_komi(self, komi: f32) -> bool {
        komi.abs() <= self.area() as f32
    }
}

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

impl FromStr for Size {
    type Err = SizeError;

    /// Reads a plain number such as `9`.
    fn from_str(text: &str) -> Result<Size, SizeError> {
        let side = text.parse().unwrap_or(0);
        Size::new(side)
    }
}

/// A board side outside 2 to 19.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SizeError {
    /// The side that was requested; 0 when it was not a number.
    pub side: usize,
}

impl fmt::Display for SizeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "board size must be a whole number from 2 to {MAX_SIDE}")?;
        if self.side > 0 {
            write!(f, ", not {}", self.side)?;
        }
        Ok(())
    }
}

impl std::error::Error for SizeError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn boards_of_all_sizes_lie_side_by_side() {
        let ends = Size::all().scan(0, |end, size| {
            assert_eq!(size.first_index(), *end, "{size}");
            *end += size.area();
            Some(*end)
        });
        assert_eq!(ends.last(), Some(Size::ALL_POINTS));
    }

    #[test]
    fn komi_is_at_most_the_points_of_the_board() {
        let allowed = |side, komi| Size::new(side).unwrap().allows_komi(komi);
        assert!([-25.0, -0.5, 0.0, 7.5, 25.0].iter().all(|&komi| allowed(5, komi)));
        assert!([-25.5, 25.5, f32::INFINITY, f32::NEG_INFINITY, f32::NAN].iter().all(|&komi| !allowed(5, komi)));
        assert!(allowed(MAX_SIDE, MAX_KOMI) && !allowed(MAX_SIDE - 1, MAX_KOMI));
    }
}
