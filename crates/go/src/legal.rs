//! Every legal point at once.

use crate::point_set::PointSet;
use crate::position::Position;

impl Position {
    /// The points where the player to move may put a stone, were it not for superko.
    pub fn legal_points(&self) -> PointSet {
        let empty = self.empty_points();
        // A stone with an empty point beside it has a liberty: only the other points need a test.
        let open = empty & empty.neighbours(self.size());
        let closed = empty - open;
        let mut legal = open;
        legal.extend(closed.iter().filter(|&point| self.check(point).is_ok()));
        legal
    }
}
