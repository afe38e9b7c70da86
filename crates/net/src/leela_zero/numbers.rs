//! The numbers of a network as Leela Zero has them, and the order of its points and planes.

use go::Size;

use crate::layout::UnitSpec;
use crate::{Inputs, Shape};

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

/// The weights of one output, inputs and rows in Leela Zero's order.
pub(super) fn to_leela_zero(unit: &UnitSpec, kernel: &[f32]) -> Vec<f32> {
    let turned: Vec<f32> = turn_over(kernel, unit.kernel).collect();
    if unit.name != "stem" {
        return turned;
    }
    let square = unit.kernel * unit.kernel;
    let plane = |plane: usize| turned.get(our_plane(plane) * square..).and_then(|rest| rest.get(..square));
    let blind = vec![0.0; square];
    (0..Inputs::LeelaZero.count()).flat_map(|n| plane(n).unwrap_or(&blind).iter().copied()).collect()
}

/// The weights of one output, inputs and rows in our order: the opposite of [`to_leela_zero`].
pub(super) fn from_leela_zero(unit: &UnitSpec, kernel: &[f32]) -> Vec<f32> {
    let turned: Vec<f32> = turn_over(kernel, unit.kernel).collect();
    if unit.name != "stem" {
        return turned;
    }
    let square = unit.kernel * unit.kernel;
    let mut ours = vec![0.0; unit.inputs * square];
    for (plane, weights) in turned.chunks_exact(square).enumerate() {
        if let Some(place) = ours.get_mut(our_plane(plane) * square..).and_then(|rest| rest.get_mut(..square)) {
            place.copy_from_slice(weights);
        }
    }
    ours
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kernels_come_back_from_the_order_of_leela_zero() {
        let stems = [Inputs::History, Inputs::LeelaZero].map(|inputs| ("stem", inputs.count(), 3));
        for (name, inputs, kernel) in stems.into_iter().chain([("tower", 4, 3), ("head", 4, 1)]) {
            let unit = UnitSpec { name: name.to_owned(), inputs, outputs: 1, kernel };
            let ours: Vec<f32> = (0..inputs * kernel * kernel).map(|n| n as f32).collect();
            let theirs = to_leela_zero(&unit, &ours);
            assert_eq!(theirs == ours, kernel == 1, "{name}: rows are in another order");
            assert_eq!(from_leela_zero(&unit, &theirs), ours, "{name} of {inputs} planes");
        }
    }
}
