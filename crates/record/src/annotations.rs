//! Search results for the comments of readable games.

use go::Move;

/// Search results besides policy and value: for readable games, and in no table.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SearchAnnotations {
    /// The best move and the most visited path below it, with the visits of each move.
    pub variation: Vec<(Move, u32)>,
    /// Mean depth of the leaves of this search, in moves from the root; 0 when it had none of its own.
    pub mean_depth: f32,
    /// Depth of the deepest of them.
    pub max_depth: u32,
    /// The most visited moves of the root, in order.
    pub top: Vec<TopMove>,
}

/// A move of the root.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TopMove {
    /// The move.
    pub mv: Move,
    /// N: its visits, inherited ones included.
    pub visits: u32,
    /// Q: its mean value, for Black, -1 to 1.
    pub value: f32,
    /// P: its prior, with noise if there was any.
    pub prior: f32,
}

impl SearchAnnotations {
    /// Moves of the variation that are kept.
    pub const VARIATION: usize = 12;
    /// Moves of the root that are kept.
    pub const TOP: usize = 6;
}
