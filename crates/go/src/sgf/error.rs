//! What can be wrong with an SGF file, and where.

use crate::size::SizeError;

/// A fault in an SGF file and where it is.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line} column {column}: {fault}")]
pub struct Error {
    /// The line, from 1.
    pub line: usize,
    /// The character in the line, from 1.
    pub column: usize,
    /// The problem there.
    pub fault: Fault,
}

/// What can be wrong with an SGF file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// There is no `(;` in the whole text.
    #[error("there is no game, which would begin with \"(;\"")]
    NoGame,
    /// A character that cannot be where it is.
    #[error("{0:?} is out of place")]
    Unexpected(char),
    /// The text ends inside the game that begins here.
    #[error("the game that begins here has no end")]
    UnclosedGame,
    /// The text ends inside the value that begins here.
    #[error("the value that begins here has no end")]
    UnclosedValue,
    /// A property without a value.
    #[error("the property {0} has no value")]
    NoValue(String),
    /// A node with more properties than this.
    #[error("a node has more than {0} properties")]
    ManyProperties(usize),
    /// A value of another kind than the property's: the property, the value, and what it should be.
    #[error("{0}[{1}] is not {2}")]
    BadValue(&'static str, String, &'static str),
    /// A game that is not Go, by the number in its `GM`.
    #[error("GM[{0}] is not Go, which is GM[1]")]
    OtherGame(String),
    /// A board of a size that does not exist here.
    #[error("{0}")]
    Size(SizeError),
    /// A node with more than one move.
    #[error("a node has more than one move")]
    TwoMoves,
    /// Stones are put on or taken off the board after the first move.
    #[error("stones are set up after the first move: AB, AW and AE are read only before it")]
    LateSetup,
}
