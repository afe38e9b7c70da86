//! The stones of a board, or any two sets of points that belong to the two players.

use crate::color::Color;
use crate::point::Point;
use crate::point_set::PointSet;

/// Black's points and White's.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Stones {
    /// Black's points.
    pub black: PointSet,
    /// White's points.
    pub white: PointSet,
}

impl Stones {
    /// No points for either player.
    pub const EMPTY: Stones = Stones { black: PointSet::EMPTY, white: PointSet::EMPTY };

    /// The points of one player.
    pub const fn of(&self, color: Color) -> &PointSet {
        match color {
            Color::Black => &self.black,
            Color::White => &self.white,
        }
    }

    /// The points of one player, to change.
    pub const fn of_mut(&mut self, color: Color) -> &mut PointSet {
        match color {
            Color::Black => &mut self.black,
            Color::White => &mut self.white,
        }
    }

    /// The points of both players.
    pub fn both(&self) -> PointSet {
        self.black | self.white
    }

    /// Whose point this is.
    pub const fn at(&self, point: Point) -> Option<Color> {
        if self.black.contains(point) {
            Some(Color::Black)
        } else if self.white.contains(point) {
            Some(Color::White)
        } else {
            None
        }
    }
}
