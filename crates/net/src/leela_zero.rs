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
mod text;

use go::Size;

use crate::{NetError, Shape, Weights};

#[cfg(feature = "torch")]
pub(crate) use evaluate::answers;
pub(crate) use text::looks_like;

/// The dense layers of a network that fits, by their names here.
const DENSE: [&str; 3] = ["policy.dense", "value.hidden", "value.out"];

/// A network as Leela Zero has it, with [`crate::Inputs::LeelaZero`].
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Zero {
    pub(crate) shape: Shape,
    /// In the order of [`Shape::units`]: the tower from the input on, the policy head, the value head.
    pub(crate) convolutions: Vec<Convolution>,
    /// Those of [`DENSE`].
    pub(crate) dense: [Dense; 3],
}

/// A convolution and its batch norm: y = (w∗x + bias − mean)/√(variance + ε).
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Convolution {
    pub(crate) weights: Vec<f32>,
    pub(crate) biases: Vec<f32>,
    pub(crate) means: Vec<f32>,
    pub(crate) variances: Vec<f32>,
}

/// A dense layer, a row of weights for each output.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Dense {
    pub(crate) weights: Vec<f32>,
    pub(crate) biases: Vec<f32>,
}

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

impl Dense {
    /// The layer of this name for the other order of points, which are the inputs of all but the last layer and the
    /// outputs of the policy.
    fn in_other_order(self, size: Size, name: &str) -> Dense {
        let outputs = self.biases.len();
        let inputs = self.weights.len() / outputs;
        let place = |output: usize| if name == "policy.dense" { other_order(size, output) } else { output };
        let row = |output: usize| {
            let row = &self.weights[place(output) * inputs..][..inputs];
            if name == "value.out" { row.to_vec() } else { turn_over(row, size.side()).collect() }
        };
        Dense {
            weights: (0..outputs).flat_map(row).collect(),
            biases: (0..outputs).map(|output| self.biases[place(output)]).collect(),
        }
    }
}

/// Index of a point or a move in Leela Zero's order; the same again leads back. The pass stays where it is.
fn other_order(size: Size, index: usize) -> usize {
    let (row, column) = (index / size.side(), index % size.side());
    if index < size.area() { (size.side() - 1 - row) * size.side() + column } else { index }
}

/// Our number of a plane of Leela Zero's.
fn our_plane(plane: usize) -> usize {
    match plane {
        0..8 => 2 * plane,
        8..16 => 2 * (plane - 8) + 1,
        _ => plane,
    }
}

/// Rows of points, or squares of a kernel, in the other order.
fn turn_over(numbers: &[f32], side: usize) -> impl Iterator<Item = f32> {
    numbers.chunks_exact(side * side).flat_map(move |square| square.chunks_exact(side).rev().flatten().copied())
}
