//! The rules of Go.

mod cell;
mod color;
mod diagram;
mod game;
mod geometry;
mod illegal;
mod legal;
mod pass_alive;
mod point;
mod point_set;
mod position;
mod scoring;
mod seen;
mod size;
mod steps;
mod stones;
mod symmetry;
mod zobrist;

pub mod sgf;

pub use color::Color;
pub use diagram::DiagramError;
pub use game::{Game, Mark};
pub use illegal::Illegal;
pub use point::{Move, Point};
pub use point_set::{Iter, PointSet};
pub use position::{Position, PositionError};
pub use scoring::Scoring;
pub use size::{MAX_AREA, MAX_MOVES, MAX_SIDE, Size, SizeError};
pub use stones::Stones;
pub use symmetry::Symmetry;
