//! Why stones make no position.

use crate::point::{Move, Point};
use crate::size::Size;

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

impl PositionError {
    /// The error in words that name the vertex, for a board of this size.
    pub fn on(self, size: Size) -> String {
        match self {
            PositionError::NoLiberties(point) => {
                format!("the chain at {} has no liberty", Move::Play(point).to_gtp(size))
            }
            // Such a point may be off the board, where no vertex is.
            PositionError::Overlap(_) | PositionError::OffBoard(_) => self.to_string(),
        }
    }
}
