//! Why stones make no position.

use std::fmt;

use crate::point::Point;

/// Stones that make no position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PositionError {
    /// A black and a white stone on one point.
    Overlap(Point),
    /// A stone that is not on a board of this size.
    OffBoard(Point),
    /// The chain at this point has no liberty.
    NoLiberties(Point),
}

impl fmt::Display for PositionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PositionError::Overlap(point) => write!(f, "two stones on point {}", point.index()),
            PositionError::OffBoard(point) => write!(f, "point {} is not on the board", point.index()),
            PositionError::NoLiberties(point) => write!(f, "the chain at point {} has no liberty", point.index()),
        }
    }
}

impl std::error::Error for PositionError {}
