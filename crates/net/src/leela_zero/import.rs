//! From Leela Zero's numbers to weights of ours.
//!
//! A bias goes into the shift, and in a head, which has none, into the mean. Both are exact but for rounding as long as
//! the network plays. Once it is trained further, means and variances follow the data and not the file.

use std::collections::BTreeMap;

use super::numbers::{Convolution, DENSE, Zero, from_leela_zero};
use crate::layout::{EPSILON, TensorSpec, UnitSpec};
use crate::{Inputs, NetError, Shape, Weights};

/// The same network as weights of ours.
///
/// # Errors
/// Numbers so large that batch norms of ours cannot have them.
pub(crate) fn import(zero: &Zero) -> Result<Weights, NetError> {
    let shape = Shape { inputs: inputs(zero), ..zero.shape };
    let mut tensors = BTreeMap::new();
    for (unit, convolution) in shape.units().iter().zip(&zero.convolutions) {
        add_convolution(unit, convolution, &mut tensors);
    }
    for (name, dense) in DENSE.into_iter().zip(&zero.dense) {
        let ours = dense.clone().in_other_order(shape.size, name);
        tensors.extend([(format!("{name}.weight"), ours.weights), (format!("{name}.bias"), ours.biases)]);
    }
    Weights::assemble(shape, tensors)
}

/// A network that ignores the plane for White, such as one of ours, needs none.
fn inputs(zero: &Zero) -> Inputs {
    let unit = &zero.shape.units()[0];
    let (square, planes) = (unit.kernel * unit.kernel, unit.inputs);
    let mut kernels = zero.convolutions[0].weights.chunks_exact(square * planes);
    let is_blind = kernels.all(|kernel| kernel[square * (planes - 1)..].iter().all(|&w| w == 0.0));
    if is_blind { Inputs::History } else { Inputs::LeelaZero }
}

fn add_convolution(unit: &UnitSpec, from: &Convolution, tensors: &mut BTreeMap<String, Vec<f32>>) {
    let specs = unit.tensors();
    let mut add = |spec: TensorSpec, numbers| _ = tensors.insert(spec.name, numbers);
    let inputs = from.weights.len() / unit.outputs;
    add(specs.weight, from.weights.chunks_exact(inputs).flat_map(|kernel| from_leela_zero(unit, kernel)).collect());
    let shift = |(&bias, &variance): (&f32, &f32)| (f64::from(bias) / (f64::from(variance) + EPSILON).sqrt()) as f32;
    if let Some([of_scale, of_shift]) = specs.scale_and_shift {
        add(of_scale, vec![1.0; unit.outputs]);
        add(of_shift, from.biases.iter().zip(&from.variances).map(shift).collect());
        add(specs.mean, from.means.clone());
    } else {
        add(specs.mean, from.means.iter().zip(&from.biases).map(|(mean, bias)| mean - bias).collect());
    }
    add(specs.variance, from.variances.clone());
}
