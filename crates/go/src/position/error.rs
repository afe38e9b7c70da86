//! Why stones make no position.

use crate::point::Point;

/// Stones that make no position.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PositionError {
    /// A black and a white stone on one point.
    #[error("two stones on point {}", .0.index())]
    Overlap(Point),
    /// A stone that is not on a board of this size.
    #[error("point {} is not on the board", .0.index())]
    OffBoard(Point),
    /// The chain at this point has no liberty.
    #[error("the chain at point {} has no liberty", .0.index())]
    NoLiberties(Point),
}
