//! The rules of Go.
//!
//! Square boards of 2 to 19, suicide illegal, positional superko, area scoring, and two passes end the game; regions
//! that are pass-alive may count wholly for their owner and end it earlier ([`Scoring`]).
//!
//! A [`Position`] is one board. A [`Game`] is a position with its past, which superko needs; a search plays ahead in it
//! and goes back with [`Game::rewind`]. [`sgf`] reads and writes games as text.
//!
//! Everything is counted from the top-left corner, row by row: the index of a [`Point`] in every plane and policy, and
//! the pass comes last.
//!
//! ```
//! use go::{Game, Move, Scoring, Size};
//!
//! let size = Size::new(9)?;
//! let mut game = Game::new(size);
//! for vertex in ["E5", "pass", "pass"] {
//!     game.play(Move::from_gtp(size, vertex).expect("a vertex of the board"))?;
//! }
//! assert!(game.is_over(Scoring::PassAlive));
//! assert_eq!(game.score(Scoring::PassAlive), 81);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod cells;
mod chains;
mod color;
mod diagram;
mod flood;
mod game;
mod geometry;
mod illegal;
mod iter;
mod ladder;
mod legal;
mod pass_alive;
mod point;
mod point_set;
mod point_state;
mod position;
mod ruleset;
mod scoring;
mod size;
mod stones;
mod superko;
mod symmetry;
mod tactics;
mod words;
mod zobrist;

pub mod sgf;

pub use color::Color;
pub use game::{Game, Mark};
pub use illegal::Illegal;
pub use point::{Move, Point};
pub use point_set::{Iter, PointSet};
pub use position::{Position, PositionError};
pub use ruleset::{HandicapBonus, Ruleset, RulesetDifference, RulesetPart, UnknownRules, handicap_stones};
pub use scoring::Scoring;
pub use size::{MAX_AREA, MAX_KOMI, MAX_MOVES, MAX_SIDE, Size, SizeError};
pub use stones::Stones;
pub use symmetry::Symmetry;
pub use tactics::{Prospects, Tactics};
