//! From weights of ours to Leela Zero's numbers.
//!
//! Scales go into kernels and means, which is exact but for rounding:
//! scale·(w∗x − mean)/σ + shift = (scale·w ∗ x + shift·σ − scale·mean)/σ with σ = √(variance + ε).
//! The plane that Leela Zero has beyond ours meets weights of 0.

use config::{PolicyHead, ValueHead};

use super::numbers::{Convolution, DENSE, Dense, Zero, to_leela_zero};
use crate::layout::{EPSILON, TensorSpec, UnitSpec};
use crate::{Inputs, NetError, Shape, Weights};

/// Weights of ours in Leela Zero's way.
///
/// # Errors
/// A layer that the format cannot hold.
pub(crate) fn export(weights: &Weights) -> Result<Zero, NetError> {
    let weights = &weights.in_play();
    let shape = weights.shape();
    let keys = unsupported(shape);
    if !keys.is_empty() {
        return Err(NetError::NoPlace { keys });
    }
    let convolutions = shape.units().iter().map(|unit| convolution(weights, unit)).collect();
    let dense = DENSE.map(|name| dense(weights, name));
    Ok(Zero { shape: Shape { inputs: Inputs::LeelaZero, ..shape }, convolutions, dense })
}

/// The keys of the configuration whose choices the format has no place for. Auxiliary heads are omitted instead.
pub(crate) fn unsupported(shape: Shape) -> Vec<&'static str> {
    let keys = [
        ("network.inputs", shape.inputs.tell_the_board()),
        ("network.policy_head", shape.policy_head != PolicyHead::Dense),
        ("network.value_head", shape.value_head != ValueHead::Tanh),
        ("network.value_pooled", shape.value_pooled),
        ("network.se_channels", shape.blocks > 0 && shape.se_channels > 0),
        ("network.pooled_filters", (0..shape.blocks).any(|block| shape.pools(block))),
    ];
    keys.into_iter().filter(|(_, is_chosen)| *is_chosen).map(|(key, _)| key).collect()
}

fn convolution(weights: &Weights, unit: &UnitSpec) -> Convolution {
    let specs = unit.tensors();
    let tensor = |spec: &TensorSpec| tensor(weights, &spec.name);
    let (ones, zeros) = (vec![1.0; unit.outputs], vec![0.0; unit.outputs]);
    let (scales, shifts) = match &specs.scale_and_shift {
        Some([scale, shift]) => (tensor(scale), tensor(shift)),
        None => (&ones[..], &zeros[..]),
    };
    let (means, variances) = (tensor(&specs.mean), tensor(&specs.variance));
    let kernels = tensor(&specs.weight).chunks_exact(unit.inputs * unit.kernel * unit.kernel);
    let product = |(&a, &b): (&f32, &f32)| (f64::from(a) * f64::from(b)) as f32;
    let bias = |(&shift, &variance): (&f32, &f32)| (f64::from(shift) * (f64::from(variance) + EPSILON).sqrt()) as f32;
    Convolution {
        weights: kernels
            .zip(scales)
            .flat_map(|(kernel, &scale)| to_leela_zero(unit, kernel).into_iter().map(move |w| product((&w, &scale))))
            .collect(),
        biases: shifts.iter().zip(variances).map(bias).collect(),
        means: means.iter().zip(scales).map(product).collect(),
        variances: variances.to_vec(),
    }
}

fn dense(weights: &Weights, name: &str) -> Dense {
    let [rows, biases] = ["weight", "bias"].map(|part| tensor(weights, &format!("{name}.{part}")).to_vec());
    Dense { weights: rows, biases }.in_other_order(weights.shape().size, name)
}

/// A tensor of the shape.
fn tensor<'a>(weights: &'a Weights, name: &str) -> &'a [f32] {
    weights.tensor(name).unwrap_or_else(|| panic!("weights of a shape have every tensor of it, {name} too"))
}
