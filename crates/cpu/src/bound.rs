//! Proof that no activation of a network in int16 overflows f32, for any input.
//!
//! Integers cannot carry NaN or infinity from one layer to the next, so they have to be impossible. Saturation makes
//! that easy to prove: the sums of a convolution are of 32 bits whatever its inputs are, and so the bounds of layers
//! add up along the trunk instead of multiplying.

use crate::CpuError;
use crate::board::FREQUENCIES;
use crate::description::{Convolution, Dense, Description, Input, PolicyHead};
use crate::pack::{Packed, PackedBlock, Weights};

/// The largest sum of magnitudes of a row of Bᵀ, twice, as tiles are transformed along both sides.
const INPUT_GROWTH: f64 = 36.0;
/// The largest magnitude of each column of Aᵀ.
const OUTPUT_GROWTH: [f64; 5] = [1.0, 1.0, 1.0, 4.0, 1.0];
/// The largest magnitude of a sum of products.
const SUM: f64 = (1u32 << 31) as f64;
/// Half of what f32 has: the rest is for roundings on the way.
const MOST: f64 = f32::MAX as f64 / 2.0;

/// Checks a convolution whose inputs are as large as this.
pub(crate) fn layer(conv: &Packed, inputs: f32) -> Result<(), CpuError> {
    fits("layer: inputs", INPUT_GROWTH * f64::from(inputs))?;
    fits("layer: outputs", of_packed(conv)).map(drop)
}

/// Checks all layers of a network in int16.
pub(crate) fn check(description: &Description, stem: &Packed, blocks: &[PackedBlock]) -> Result<(), CpuError> {
    let input = description.inputs.iter().map(of_input).fold(0.0, f64::max);
    fits("inputs", INPUT_GROWTH * input)?;
    let mut trunk = fits("stem", of_packed(stem))?;
    for (index, packed) in blocks.iter().enumerate() {
        trunk = block(description, packed, index, trunk)?;
    }
    heads(description, trunk)
}

/// The bound, if it is below that of f32.
fn fits(part: &str, bound: f64) -> Result<f64, CpuError> {
    if bound < MOST { Ok(bound) } else { Err(CpuError::Overflow { part: part.to_owned(), bound }) }
}

fn of_input(input: &Input) -> f64 {
    match *input {
        Input::Plane(_) => f64::from(u8::MAX),
        Input::Not(_) => 1.0,
        Input::Scaled { offset, divisor, .. } => {
            (f64::from(u8::MAX) + f64::from(offset).abs()) * f64::from(1.0 / divisor).abs()
        }
    }
}

/// Bound of the outputs of a convolution in int16: sums of 32 bits, in the scale of their frequency, transformed
/// back, and the bias.
fn of_packed(conv: &Packed) -> f64 {
    let Weights::Rounded { scales, .. } = &conv.weights else { return f64::INFINITY };
    let growth = |frequency: usize| OUTPUT_GROWTH[frequency / 5] * OUTPUT_GROWTH[frequency % 5];
    let sums = (0..FREQUENCIES).zip(scales.chunks_exact(conv.outputs));
    sums.map(|(frequency, scales)| growth(frequency) * SUM * largest(scales)).sum::<f64>() + largest(&conv.bias)
}

/// Checks a block, and gives the bound of the trunk after it.
fn block(description: &Description, packed: &PackedBlock, index: usize, trunk: f64) -> Result<f64, CpuError> {
    let block = &description.blocks[index];
    let fits = |part: &str, bound| fits(&format!("blocks.{index}.{part}"), bound);
    let area = description.area() as f64;
    fits("first: inputs", INPUT_GROWTH * trunk)?;
    let mut first = of_packed(&packed.first);
    if let (Some((_, dense)), Some(pooled)) = (&block.pooled, &packed.pooled) {
        // A mean is a sum first.
        first += of_dense(dense, fits("pool", area * of_packed(&pooled.conv))?);
    }
    fits("second: inputs", INPUT_GROWTH * first)?;
    let mut second = of_packed(&packed.second);
    if let Some([hidden, gates]) = &block.squeeze {
        let seen = fits("squeeze", area * second)?;
        let hidden = fits("squeeze.hidden", of_dense(hidden, seen))?;
        second += of_dense(gates, hidden);
    }
    fits("second", trunk + second)
}

fn heads(description: &Description, trunk: f64) -> Result<(), CpuError> {
    let area = description.area() as f64;
    let (policy, value) = (&description.policy, &description.value);
    // Means are sums first.
    let planes = fits("policy", area * of_points(&policy.planes, trunk))?;
    match &policy.head {
        PolicyHead::Dense(dense) => fits("policy.dense", of_dense(dense, planes))?,
        PolicyHead::Convolution { board, pass } => {
            fits("policy.board", of_dense(board, planes))?;
            fits("policy.pass", of_dense(pass, planes))?
        }
    };
    let planes = fits("value", area * of_points(&value.planes, trunk))?;
    let hidden = fits("value.hidden", of_dense(&value.hidden, planes))?;
    // tanh takes twice of it.
    fits("value.out", 2.0 * of_dense(&value.out, hidden)).map(drop)
}

/// A 1x1 convolution.
fn of_points(conv: &Convolution, input: f64) -> f64 {
    of_rows(&conv.weight, conv.inputs, &conv.bias, input)
}

fn of_dense(dense: &Dense, input: f64) -> f64 {
    of_rows(&dense.weight, dense.weight.len() / dense.bias.len(), &dense.bias, input)
}

fn of_rows(weight: &[f32], inputs: usize, bias: &[f32], input: f64) -> f64 {
    let sum = |row: &[f32]| row.iter().map(|weight| f64::from(weight.abs())).sum::<f64>();
    weight.chunks_exact(inputs.max(1)).map(sum).fold(0.0, f64::max) * input + largest(bias)
}

fn largest(numbers: &[f32]) -> f64 {
    numbers.iter().map(|number| f64::from(number.abs())).fold(0.0, f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::LANES;
    use crate::buffer::Buffer;
    use crate::description::{Block, Policy, Value};
    use crate::pack::{Matrix, Pooled};

    /// Shares of the largest allowed number, and whether they are allowed.
    const SHARES: [(f64, bool); 2] = [(0.999, true), (1.001, false)];

    /// Points of 5x5.
    const AREA: f64 = 25.0;

    /// The sum of the growths of all frequencies, times the largest sum: what outputs may be where all scales are 1.
    const OUTPUT: f64 = (1.0 + 1.0 + 1.0 + 4.0 + 1.0) * (1.0 + 1.0 + 1.0 + 4.0 + 1.0) * 2_147_483_648.0;

    /// A convolution in int16 whose sums all have this scale.
    fn packed(scale: f64) -> Packed {
        let mut scales = Buffer::<f32>::new(FREQUENCIES * LANES);
        scales.fill(scale as f32);
        let weights = Weights::Rounded { weights: Buffer::new(0), scales };
        Packed { inputs: LANES, outputs: LANES, weights, bias: Buffer::new(LANES) }
    }

    fn conv(weight: f32) -> Convolution {
        Convolution { inputs: 1, outputs: 1, weight: vec![weight], bias: vec![0.0] }
    }

    fn zeros() -> Dense {
        Dense { weight: vec![0.0], bias: vec![0.0] }
    }

    /// A network with these weights of the planes of its heads; its dense layers are zeros.
    fn network(policy: f32, value: f32) -> Description {
        let (pooled, squeeze) = (Some((conv(0.0), zeros())), Some([zeros(), zeros()]));
        Description {
            side: 5,
            inputs: Vec::new(),
            stem: conv(0.0),
            blocks: vec![Block { first: conv(0.0), pooled, second: conv(0.0), squeeze }],
            policy: Policy { planes: conv(policy), head: PolicyHead::Dense(zeros()) },
            value: Value { planes: conv(value), pooled: false, hidden: zeros(), out: zeros() },
        }
    }

    #[test]
    fn layer_is_bounded_by_the_growth_of_its_transforms() {
        for (share, allowed) in SHARES {
            // The largest sum of magnitudes of a row of Bᵀ is 6.
            assert_eq!(layer(&packed(0.0), (share * MOST / 36.0) as f32).is_ok(), allowed, "inputs");
            assert_eq!(layer(&packed(share * MOST / OUTPUT), 0.0).is_ok(), allowed, "outputs");
        }
    }

    #[test]
    fn sums_over_the_board_are_bounded() {
        for (share, allowed) in SHARES {
            let largest = share * MOST / AREA;
            let check = |pool: f64, second: f64| {
                let pooled = Pooled { conv: packed(pool), channels: 1, dense: Matrix::dense(&zeros()) };
                let (first, second) = (packed(0.0), packed(second));
                let packed = PackedBlock { first, pooled: Some(pooled), second, squeeze: None };
                block(&network(0.0, 0.0), &packed, 0, 0.0).is_ok()
            };
            assert_eq!(check(largest / OUTPUT, 0.0), allowed, "global pooling");
            assert_eq!(check(0.0, largest / OUTPUT), allowed, "squeeze and excitation");
            assert_eq!(heads(&network(1.0, 0.0), largest).is_ok(), allowed, "policy");
            assert_eq!(heads(&network(0.0, 1.0), largest).is_ok(), allowed, "value");
        }
    }
}
