//! The numbers of a network as Leela Zero has them, and the order of its points and planes.

use go::Size;

use crate::Shape;

/// The dense layers of a network that fits, by their names here.
pub(super) const DENSE: [&str; 3] = ["policy.dense", "value.hidden", "value.out"];

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

impl Dense {
    /// The layer of this name for the other order of points, which are the inputs of all but the last layer and the
    /// outputs of the policy.
    pub(super) fn in_other_order(self, size: Size, name: &str) -> Dense {
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
pub(super) fn other_order(size: Size, index: usize) -> usize {
    let (row, column) = (index / size.side(), index % size.side());
    if index < size.area() { (size.side() - 1 - row) * size.side() + column } else { index }
}

/// Our number of a plane of Leela Zero's.
pub(super) fn our_plane(plane: usize) -> usize {
    match plane {
        0..8 => 2 * plane,
        8..16 => 2 * (plane - 8) + 1,
        _ => plane,
    }
}

/// Rows of points, or squares of a kernel, in the other order.
pub(super) fn turn_over(numbers: &[f32], side: usize) -> impl Iterator<Item = f32> {
    numbers.chunks_exact(side * side).flat_map(move |square| square.chunks_exact(side).rev().flatten().copied())
}
