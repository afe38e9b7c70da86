//! Transforms of kernels, and of the sums that become their gradient, sixteen input channels at a time.

// An index goes through several arrays at once.
#![allow(clippy::needless_range_loop)]

use crate::board::{FREQUENCIES, LANES, PANEL, padded};
use crate::kernels::Plain;

/// Sixteen numbers that the compiler keeps in vectors.
type Row = [f32; LANES];

/// Kernels for [`crate::pack::Packed`].
pub(super) struct Upright<'a> {
    /// By output channel, row, column and input channel.
    pub(super) weight: &'a [f32],
    /// Input and output channels.
    pub(super) channels: (usize, usize),
    pub(super) packed: &'a mut [f32],
}

/// The same turned by half a turn, with inputs and outputs exchanged.
pub(super) struct Turned<'a> {
    pub(super) weight: &'a [f32],
    pub(super) channels: (usize, usize),
    pub(super) packed: &'a mut [f32],
}

/// From the transformed gradient of kernels to the gradient.
pub(super) struct Untransformed<'a> {
    /// By frequency, output and input channel, padded.
    pub(super) sums: &'a [f32],
    pub(super) channels: (usize, usize),
    /// As weights are.
    pub(super) of_weight: &'a mut [f32],
}

impl Plain for Upright<'_> {
    #[inline(always)]
    fn run(self) {
        let (inputs, outputs) = self.channels;
        let depth = padded(inputs);
        // Rows after the last output channel keep other ones, whose outputs are not read.
        let mut block = [[[0.0; LANES]; LANES]; FREQUENCIES];
        for output in (0..outputs).step_by(LANES) {
            let (first, width) = panel(output, outputs);
            for input in (0..inputs).step_by(LANES) {
                for row in 0..LANES.min(outputs - output) {
                    let transformed = transform(&kernel(self.weight, inputs, output + row, input));
                    for (block, transformed) in block.iter_mut().zip(&transformed) {
                        block[row] = *transformed;
                    }
                }
                for (frequency, block) in block.iter().enumerate() {
                    let begin = first * FREQUENCIES * depth + (frequency * depth + input) * width + output - first;
                    for (lane, place) in self.packed[begin..].chunks_mut(width).take(LANES).enumerate() {
                        place[..LANES].copy_from_slice(&each(|row| block[row][lane]));
                    }
                }
            }
        }
    }
}

impl Plain for Turned<'_> {
    #[inline(always)]
    fn run(self) {
        let (inputs, outputs) = self.channels;
        let depth = padded(outputs);
        for output in 0..outputs {
            for input in (0..inputs).step_by(LANES) {
                let (first, width) = panel(input, inputs);
                let mut kernel = kernel(self.weight, inputs, output, input);
                kernel.reverse();
                for (frequency, row) in transform(&kernel).iter().enumerate() {
                    let begin = first * FREQUENCIES * depth + (frequency * depth + output) * width + input - first;
                    self.packed[begin..][..LANES].copy_from_slice(row);
                }
            }
        }
    }
}

impl Plain for Untransformed<'_> {
    #[inline(always)]
    fn run(self) {
        let (inputs, outputs) = self.channels;
        let (lanes, rows) = (padded(inputs), padded(outputs));
        for output in 0..outputs {
            for input in (0..inputs).step_by(LANES) {
                let count = LANES.min(inputs - input);
                let mut sums = [[0.0; LANES]; FREQUENCIES];
                for (frequency, row) in sums.iter_mut().enumerate() {
                    row.copy_from_slice(&self.sums[(frequency * rows + output) * lanes + input..][..LANES]);
                }
                for (index, row) in untransform(&sums).iter().enumerate() {
                    let begin = (output * 9 + index) * inputs + input;
                    self.of_weight[begin..][..count].copy_from_slice(&row[..count]);
                }
            }
        }
    }
}

/// The first output channel of a panel, and its width.
#[inline(always)]
fn panel(output: usize, outputs: usize) -> (usize, usize) {
    let first = output / PANEL * PANEL;
    (first, PANEL.min(padded(outputs) - first))
}

/// The kernels of an output channel and some input channels; zeros where there are none.
#[inline(always)]
fn kernel(weight: &[f32], inputs: usize, output: usize, input: usize) -> [Row; 9] {
    let mut kernel = [[0.0; LANES]; 9];
    for (index, row) in kernel.iter_mut().enumerate() {
        let numbers = &weight[(output * 9 + index) * inputs + input..][..LANES.min(inputs - input)];
        match numbers.first_chunk() {
            Some(numbers) => *row = *numbers,
            None => row[..numbers.len()].copy_from_slice(numbers),
        }
    }
    kernel
}

#[inline(always)]
fn each(number: impl Fn(usize) -> f32) -> Row {
    let mut row = [0.0; LANES];
    for (lane, place) in row.iter_mut().enumerate() {
        *place = number(lane);
    }
    row
}

/// G times a column of a kernel.
#[inline(always)]
fn g(a: &Row, b: &Row, c: &Row) -> [Row; 5] {
    [
        each(|i| 0.5 * a[i]),
        each(|i| -0.5 * (a[i] + c[i] + b[i])),
        each(|i| (b[i] - (a[i] + c[i])) * (1.0 / 6.0)),
        each(|i| (a[i] + 2.0 * b[i] + 4.0 * c[i]) * (1.0 / 6.0)),
        *c,
    ]
}

/// Gᵀ times a column of sums.
#[inline(always)]
fn g_transposed([a, b, c, d, e]: [&Row; 5]) -> [Row; 3] {
    [
        each(|i| 0.5 * (a[i] - b[i]) + (d[i] - c[i]) * (1.0 / 6.0)),
        each(|i| (c[i] + 2.0 * d[i]) * (1.0 / 6.0) - 0.5 * b[i]),
        each(|i| (4.0 * d[i] - c[i]) * (1.0 / 6.0) - 0.5 * b[i] + e[i]),
    ]
}

/// G g Gᵀ.
#[inline(always)]
fn transform(kernel: &[Row; 9]) -> [Row; FREQUENCIES] {
    let mut transformed = [[0.0; LANES]; FREQUENCIES];
    let mut columns = [[[0.0; LANES]; 5]; 3];
    for x in 0..3 {
        columns[x] = g(&kernel[x], &kernel[3 + x], &kernel[6 + x]);
    }
    for y in 0..5 {
        let row = g(&columns[0][y], &columns[1][y], &columns[2][y]);
        transformed[5 * y..][..5].copy_from_slice(&row);
    }
    transformed
}

/// Gᵀ m G.
#[inline(always)]
fn untransform(sums: &[Row; FREQUENCIES]) -> [Row; 9] {
    let mut kernel = [[0.0; LANES]; 9];
    let mut columns = [[[0.0; LANES]; 3]; 5];
    for x in 0..5 {
        columns[x] = g_transposed([&sums[x], &sums[5 + x], &sums[10 + x], &sums[15 + x], &sums[20 + x]]);
    }
    for y in 0..3 {
        let [a, b, c, d, e] = &columns;
        kernel[3 * y..][..3].copy_from_slice(&g_transposed([&a[y], &b[y], &c[y], &d[y], &e[y]]));
    }
    kernel
}
