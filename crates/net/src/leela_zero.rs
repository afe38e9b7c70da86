//! Networks in Leela Zero's text format, version 1.
//!
//! The cast: [`text`] reads and writes the lines; what stands between is [`Zero`], the numbers as Leela Zero has them.
//! [`export`](mod@export) and [`import`](mod@import) turn weights of ours into such numbers and back, and [`evaluate`]
//! calculates with them in Leela Zero's way, so that neither has to be believed.
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

#[cfg(feature = "torch")]
pub(crate) use evaluate::answers;
#[cfg(feature = "torch")]
pub(crate) use export::export;
pub(crate) use export::unsupported;
pub(crate) use import::import;
pub(crate) use numbers::Zero;
#[cfg(feature = "torch")]
pub(crate) use text::write;
pub(crate) use text::{looks_like, read};
