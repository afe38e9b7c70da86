//! Kernels in the order in which the loops read them.

use crate::board::{Board, FREQUENCIES, PANEL, padded};
use crate::buffer::Buffer;
use crate::description::{Convolution, Dense};
use crate::kernels::LARGEST_INPUT;

/// The largest sum of the magnitudes of an output channel's weights at one frequency: with inputs of [`LARGEST_INPUT`]
/// at most, no sum of products leaves 32 bits, whatever the inputs are and in whatever order they are added.
const LARGEST_SUM: i32 = i32::MAX / LARGEST_INPUT;

/// G of F(3x3, 3x3) with the points 0, 1, -1, 2 and infinity.
const G: [[f64; 3]; 5] = [
    [0.5, 0.0, 0.0],
    [-0.5, -0.5, -0.5],
    [-1.0 / 6.0, 1.0 / 6.0, -1.0 / 6.0],
    [1.0 / 6.0, 1.0 / 3.0, 2.0 / 3.0],
    [0.0, 0.0, 1.0],
];

/// A convolution, ready to be multiplied.
pub(crate) struct Packed {
    /// Padded channels.
    pub(crate) inputs: usize,
    pub(crate) outputs: usize,
    pub(crate) weights: Weights,
    pub(crate) bias: Buffer<f32>,
}

/// Transformed kernels, by panel of output channels, frequency, input and output channel: as they are read.
pub(crate) enum Weights {
    Exact(Buffer<f32>),
    Rounded {
        /// Two inputs side by side for each output channel.
        weights: Buffer<i16>,
        /// What sums are multiplied by, by frequency and output channel.
        scales: Buffer<f32>,
    },
}

/// A matrix of f32, ready to be multiplied: a 1x1 convolution or a dense layer.
pub(crate) struct Matrix {
    /// Inputs of an output; they are not padded.
    pub(crate) inputs: usize,
    /// Padded outputs, one panel.
    pub(crate) outputs: usize,
    pub(crate) weights: Buffer<f32>,
    pub(crate) bias: Buffer<f32>,
}

/// The layers of a residual block.
pub(crate) struct PackedBlock {
    pub(crate) first: Packed,
    pub(crate) pooled: Option<Pooled>,
    pub(crate) second: Packed,
    pub(crate) squeeze: Option<[Matrix; 2]>,
}

pub(crate) struct Pooled {
    pub(crate) conv: Packed,
    /// Channels that are not padding.
    pub(crate) channels: usize,
    pub(crate) dense: Matrix,
}

impl Packed {
    /// Packs a 3x3 convolution; `scales` are those that its transformed inputs are multiplied by, if they are rounded.
    pub(crate) fn new(conv: &Convolution, scales: Option<&[f32; FREQUENCIES]>) -> Packed {
        let (inputs, outputs) = (padded(conv.inputs), padded(conv.outputs));
        let kernels: Vec<_> = conv.weight.as_chunks::<9>().0.iter().map(transform).collect();
        let weights = match scales {
            None => exact(conv, &kernels),
            Some(scales) => rounded(conv, &kernels, scales),
        };
        Packed { inputs, outputs, weights, bias: extended(&conv.bias, outputs) }
    }

    /// A convolution in f32 whose weights and biases are zeros; channels are padded.
    pub(crate) fn zeros(inputs: usize, outputs: usize) -> Packed {
        let weights = Weights::Exact(Buffer::new(FREQUENCIES * inputs * outputs));
        Packed { inputs, outputs, weights, bias: Buffer::new(outputs) }
    }

    /// Multiply-adds of a position, those of the zeros that boards and channels are padded by included.
    pub(crate) fn multiply_adds(&self, board: Board) -> u64 {
        (FREQUENCIES * board.columns() * self.inputs * self.outputs) as u64
    }
}

/// Numbers with zeros after them.
pub(crate) fn extended(numbers: &[f32], len: usize) -> Buffer<f32> {
    let mut buffer = Buffer::new(len);
    buffer[..numbers.len()].copy_from_slice(numbers);
    buffer
}

/// Where a weight is: `step` inputs of an output channel are side by side.
fn place(conv: &Convolution, step: usize, frequency: usize, output: usize, input: usize) -> usize {
    let (inputs, outputs) = (padded(conv.inputs), padded(conv.outputs));
    let first = output / PANEL * PANEL;
    let width = PANEL.min(outputs - first);
    let in_panel = (input / step * width + output - first) * step + input % step;
    (first * FREQUENCIES + frequency * width) * inputs + in_panel
}

fn exact(conv: &Convolution, kernels: &[[f64; FREQUENCIES]]) -> Weights {
    let mut weights = Buffer::new(FREQUENCIES * padded(conv.inputs) * padded(conv.outputs));
    for (index, kernel) in kernels.iter().enumerate() {
        let (output, input) = (index / conv.inputs, index % conv.inputs);
        for (frequency, &weight) in kernel.iter().enumerate() {
            weights[place(conv, 1, frequency, output, input)] = weight as f32;
        }
    }
    Weights::Exact(weights)
}

fn rounded(conv: &Convolution, kernels: &[[f64; FREQUENCIES]], input_scales: &[f32; FREQUENCIES]) -> Weights {
    let outputs = padded(conv.outputs);
    let mut weights = Buffer::new(FREQUENCIES * padded(conv.inputs) * outputs);
    let mut scales = Buffer::new(FREQUENCIES * outputs);
    for (output, kernels) in kernels.chunks_exact(conv.inputs).enumerate() {
        for frequency in 0..FREQUENCIES {
            let exact: Vec<f64> = kernels.iter().map(|kernel| kernel[frequency]).collect();
            let (integers, scale) = round(&exact);
            for (input, integer) in integers.into_iter().enumerate() {
                weights[place(conv, 2, frequency, output, input)] = integer;
            }
            scales[frequency * outputs + output] = (1.0 / (scale * f64::from(input_scales[frequency]))) as f32;
        }
    }
    Weights::Rounded { weights, scales }
}

/// Weights of one frequency and output channel as integers, and what they were multiplied by: as much as 16 bits and
/// [`LARGEST_SUM`] allow.
fn round(exact: &[f64]) -> (Vec<i16>, f64) {
    let largest = exact.iter().map(|weight| weight.abs()).fold(0.0, f64::max);
    if largest < f64::from(f32::MIN_POSITIVE) {
        return (vec![0; exact.len()], 1.0);
    }
    let sum: f64 = exact.iter().map(|weight| weight.abs()).sum();
    // Rounding adds at most a half to each.
    let room = f64::from(LARGEST_SUM) - 0.5 * exact.len() as f64;
    assert!(room > 0.0, "{} inputs of a convolution are too many for sums of 32 bits", exact.len());
    let scale = (room / sum).min(f64::from(i16::MAX) / largest);
    let integers: Vec<i16> = exact.iter().map(|weight| (weight * scale).round_ties_even() as i16).collect();
    let found: i64 = integers.iter().map(|&weight| i64::from(weight).abs()).sum();
    assert!(found <= i64::from(LARGEST_SUM), "a sum of magnitudes of {found} could overflow 32 bits");
    (integers, scale)
}

/// G g Gᵀ.
pub(crate) fn transform(kernel: &[f32; 9]) -> [f64; FREQUENCIES] {
    let mut transformed = [0.0; FREQUENCIES];
    for (frequency, number) in transformed.iter_mut().enumerate() {
        let (rows, columns) = (G[frequency / 5], G[frequency % 5]);
        for (index, &weight) in kernel.iter().enumerate() {
            *number += rows[index / 3] * columns[index % 3] * f64::from(weight);
        }
    }
    transformed
}

impl Matrix {
    /// Packs a matrix of outputs and inputs. Input `i` of the result is input `order(i)` of the matrix.
    pub(crate) fn new(weight: &[f32], bias: &[f32], order: impl Fn(usize) -> usize) -> Matrix {
        let (inputs, outputs) = (weight.len() / bias.len(), padded(bias.len()));
        let mut weights = Buffer::new(inputs * outputs);
        for (output, row) in weight.chunks_exact(inputs).enumerate() {
            for input in 0..inputs {
                weights[input * outputs + output] = row[order(input)];
            }
        }
        Matrix { inputs, outputs, weights, bias: extended(bias, outputs) }
    }

    pub(crate) fn dense(dense: &Dense) -> Matrix {
        Matrix::new(&dense.weight, &dense.bias, |input| input)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn magnitudes(integers: &[i16]) -> i64 {
        integers.iter().map(|&weight| i64::from(weight).abs()).sum()
    }

    #[test]
    fn weights_fill_16_bits_when_few_and_stay_below_the_bound_when_many() {
        let (few, scale) = round(&[1.0, -0.5]);
        assert_eq!((few, scale), (vec![32767, -16384], 32767.0));
        for count in [8, 9, 64, 129, 1024, 16384] {
            let (many, _) = round(&vec![0.37; count]);
            assert!(magnitudes(&many) <= i64::from(LARGEST_SUM), "{count}");
            assert!(magnitudes(&many) > i64::from(LARGEST_SUM) * 15 / 16, "{count}");
        }
    }

    #[test]
    fn weights_that_are_no_numbers_of_f32_are_zero() {
        assert_eq!(round(&[0.0, 1e-40]), (vec![0, 0], 1.0));
    }

    #[test]
    fn largest_sums_of_products_fit_32_bits() {
        let (weights, _) = round(&vec![1.0; 200]);
        let sum: i64 = weights.iter().map(|&weight| i64::from(weight) * i64::from(LARGEST_INPUT)).sum();
        assert!(sum <= i64::from(i32::MAX) && sum > i64::from(i32::MAX) * 99 / 100, "{sum}");
    }

    #[test]
    fn constant_kernel_has_a_known_transform() {
        let transformed = transform(&[1.0; 9]);
        assert_eq!([transformed[0], transformed[1], transformed[24]], [0.25, -0.75, 1.0]);
    }
}
