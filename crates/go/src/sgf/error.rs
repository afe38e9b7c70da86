//! What can be wrong with an SGF file, and where.

use std::fmt;

use crate::size::SizeError;

/// A fault in an SGF file and where it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    /// The line, from 1.
    pub line: usize,
    /// The character in the line, from 1.
    pub column: usize,
    /// The problem there.
    pub fault: Fault,
}

/// What can be wrong with an SGF file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// There is no `(;` in the whole text.
    NoGame,
    /// A character that cannot be where it is.
    Unexpected(char),
    /// The text ends inside the game that begins here.
    UnclosedGame,
    /// The text ends inside the value that begins here.
    UnclosedValue,
    /// A property without a value.
    NoValue(String),
    /// A node with more properties than this.
    ManyProperties(usize),
    /// A value of another kind than the property's: the property, the value, and what it should be.
    BadValue(&'static str, String, &'static str),
    /// A game that is not Go, by the number in its `GM`.
    OtherGame(String),
    /// A board of a size that does not exist here.
    Size(SizeError),
    /// A node with more than one move.
    TwoMoves,
    /// Stones are put on or taken off the board after the first move.
    LateSetup,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {} column {}: {}", self.line, self.column, self.fault)
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Fault::NoGame => write!(f, "there is no game, which would begin with \"(;\""),
            Fault::Unexpected(character) => write!(f, "{character:?} is out of place"),
            Fault::UnclosedGame => write!(f, "the game that begins here has no end"),
            Fault::UnclosedValue => write!(f, "the value that begins here has no end"),
            Fault::NoValue(property) => write!(f, "the property {property} has no value"),
            Fault::ManyProperties(most) => write!(f, "a node has more than {most} properties"),
            Fault::BadValue(property, value, wanted) => write!(f, "{property}[{value}] is not {wanted}"),
            Fault::OtherGame(number) => write!(f, "GM[{number}] is not Go, which is GM[1]"),
            Fault::Size(error) => error.fmt(f),
            Fault::TwoMoves => write!(f, "a node has more than one move"),
            Fault::LateSetup => {
                write!(f, "stones are set up after the first move: AB, AW and AE are read only before it")
            }
        }
    }
}

impl std::error::Error for Error {}
