//! Networks in Leela Zero's text format, version 1.
//!
//! The cast: [`text`] reads and writes the lines; what stands between is [`Zero`], the numbers as Leela Zero has them.
//! [`export`] and [`import`] turn weights of ours into such numbers and back, and [`evaluate`] calculates with them in
//! Leela Zero's way, so that neither has to be believed.
//!
//! Where the two differ:
//!
//! | | here | Leela Zero |
//! |---|---|---|
//! | points | row by row from the top left | row by row from the bottom left |
//! | stones | mine, theirs, eight times | mine eight times, theirs eight times |
//! | whose turn | one plane, for Black | two planes, for Black and for White |
//! | batch norm | scale·(x − mean)/√(variance + ε) + shift | (x + bias − mean)/√(variance + ε) |
//! | batch norm of a head | neither scale nor shift | the same as all |
//!
//! ε is 10⁻⁵ for both. Everything else is the same: kernels are not turned over, planes follow each other, the pass is
//! the last move, a dense layer has one row for each output, and the value is for the side to move.

#[cfg(feature = "torch")]
mod evaluate;
mod export;
mod import;
mod numbers;
mod text;

use crate::{NetError, Weights};

#[cfg(feature = "torch")]
pub(crate) use evaluate::answers;
pub(crate) use numbers::Zero;
pub(crate) use text::looks_like;

impl Zero {
    /// Reads a file.
    ///
    /// # Errors
    /// A file that is none of a network of this format; the error says in which line.
    pub(crate) fn from_bytes(bytes: &[u8]) -> Result<Zero, NetError> {
        text::read(bytes)
    }

    /// Makes a file.
    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        text::write(self)
    }

    /// Weights of ours in Leela Zero's way.
    ///
    /// # Errors
    /// A layer that the format cannot hold.
    pub(crate) fn of_weights(weights: &Weights) -> Result<Zero, NetError> {
        export::export(weights)
    }

    /// The same network as weights of ours.
    ///
    /// # Errors
    /// Numbers so large that batch norms of ours cannot have them.
    pub(crate) fn to_weights(&self) -> Result<Weights, NetError> {
        import::import(self)
    }
}
