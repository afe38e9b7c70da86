//! A convolution of a group of positions, in its three steps.

use crate::board::{Board, FREQUENCIES, LANES, PANEL};
use crate::buffer::Buffer;
use crate::kernels::{Element, Gather, Kernels, Panel, Products, Scatter};
use crate::pack::{Matrix, Packed, Weights};

/// What the working set of a group of positions may be, in bytes: the second-level cache has 512 KiB on Zen 2 and 3, 1
/// MiB on Zen 4 and 1.25 to 2 MiB on newer processors of Intel, and weights pass through it, too.
const GROUP_BYTES: usize = 512 << 10;

/// Positions in a group at least, so that weights that do not fit the cache are fetched for several: 19x19 with 128
/// channels, whose weights are 17 MB, gained from them with VNNI (`experiments/0063-integer-winograd`). On AVX2, where
/// products take longer, it was 5 % faster one by one (`experiments/0088-faster-loops-on-avx2`).
const FEWEST: usize = 4;

/// What transformed inputs and products of a block of tiles may be, in bytes, so that these are still in the
/// second-level cache when they are transformed back.
const BLOCK_BYTES: usize = 256 << 10;

/// Memory for transformed inputs and for the products of a block of tiles and a panel.
pub(crate) struct Workspace {
    kernels: Kernels,
    board: Board,
    exact: Buffer<f32>,
    rounded: Buffer<i16>,
    products: Buffer<f32>,
}

/// Operations on the output of a convolution.
#[derive(Clone, Copy)]
pub(crate) struct After<'a> {
    /// Biases of each position instead of those of the convolution.
    pub(crate) bias: Option<&'a [f32]>,
    /// Whether it is added to the present content.
    pub(crate) add: bool,
    pub(crate) relu: bool,
}

/// How many positions are in a group, with so many padded channels at most.
pub(crate) fn group(board: Board, channels: usize) -> usize {
    let activations = 2 * board.len(channels) * size_of::<f32>();
    let transformed = FREQUENCIES * board.columns() * channels * size_of::<i16>();
    // As if products of all tiles were kept, as they were when group sizes were measured (experiments/0095).
    let products = FREQUENCIES * board.columns() * PANEL * size_of::<f32>();
    let positions = GROUP_BYTES / (activations + transformed + products);
    // Columns of the tiles of an odd board fill blocks of six in pairs; with AVX-512, of twelve, half of the last one.
    (positions / 2 * 2).clamp(FEWEST, 16)
}

/// Tiles of a block, with so many padded channels of inputs of some type.
fn block<T>(channels: usize) -> usize {
    let tile = FREQUENCIES * (channels * size_of::<T>() + PANEL * size_of::<f32>());
    // Columns of two blocks of registers, or of one with AVX-512.
    (BLOCK_BYTES / tile / 6 * 6).max(12)
}

impl Workspace {
    /// Memory for groups of `positions`, with so many padded channels at most.
    pub(crate) fn new(kernels: Kernels, board: Board, positions: usize, channels: usize, is_exact: bool) -> Workspace {
        let columns = positions * board.columns();
        let transformed = FREQUENCIES * columns * channels;
        Workspace {
            kernels,
            board,
            exact: Buffer::new(if is_exact { transformed } else { 0 }),
            rounded: Buffer::new(if is_exact { 0 } else { transformed }),
            products: Buffer::new(FREQUENCIES * columns.min(block::<i16>(LANES)) * PANEL),
        }
    }

    /// Transforms the inputs of the convolutions that follow, to integers if there are scales. Gives them back when
    /// they are not rounded.
    pub(crate) fn gather(
        &mut self,
        positions: usize,
        channels: usize,
        from: &[f32],
        scales: Option<&[f32; FREQUENCIES]>,
    ) -> &[f32] {
        let job = |scales| Gather { board: self.board, positions, channels, from, scales };
        match scales {
            None => self.kernels.gather(job(&[1.0; FREQUENCIES]), &mut self.exact),
            Some(scales) => self.kernels.gather(job(scales), &mut self.rounded),
        }
        let len = FREQUENCIES * positions * self.board.columns() * channels;
        if scales.is_none() { &self.exact[..len] } else { &[] }
    }

    /// How many times a convolution of so many positions reads its weights: once for each block of tiles.
    pub(crate) fn passes(&self, positions: usize, conv: &Packed) -> usize {
        let block = match conv.weights {
            Weights::Exact(_) => block::<f32>(conv.inputs),
            Weights::Rounded { .. } => block::<i16>(conv.inputs),
        };
        (positions * self.board.columns()).div_ceil(block.min(self.kernels.tiles()))
    }

    /// Convolves the inputs that were gathered.
    pub(crate) fn convolve(&mut self, positions: usize, conv: &Packed, after: After<'_>, out: &mut [f32]) {
        let Workspace { kernels, board, exact, rounded, products } = self;
        let mut panels = Panels { kernels: *kernels, board: *board, positions, conv, after, products };
        match &conv.weights {
            Weights::Exact(weights) => panels.run(weights, &[], exact, out),
            Weights::Rounded { weights, scales } => panels.run(weights, scales, rounded, out),
        }
    }
}

/// A convolution, panel of output channels by panel.
struct Panels<'a> {
    kernels: Kernels,
    board: Board,
    positions: usize,
    conv: &'a Packed,
    after: After<'a>,
    products: &'a mut [f32],
}

impl<'a> Panels<'a> {
    fn run<T: Element>(&mut self, weights: &[T], scales: &[f32], inputs: &[T], out: &mut [f32]) {
        let (depth, outputs) = (self.conv.inputs, self.conv.outputs);
        for first in (0..outputs).step_by(PANEL) {
            let job = Panel {
                depth,
                inputs,
                weights: &weights[first * FREQUENCIES * depth..],
                scales: scales.get(first..).unwrap_or(&[]),
                scatter: self.scatter(first, PANEL.min(outputs - first)),
                block: block::<T>(depth),
                products: self.products,
            };
            self.kernels.panel(job, out);
        }
    }

    fn scatter(&self, first: usize, width: usize) -> Scatter<'a> {
        Scatter {
            board: self.board,
            positions: self.positions,
            width,
            first,
            channels: self.conv.outputs,
            bias: self.after.bias.unwrap_or(&self.conv.bias),
            add: self.after.add,
            relu: self.after.relu,
            // Of integers `bound` proves it.
            strict: matches!(self.conv.weights, Weights::Exact(_)),
        }
    }
}

/// Multiplies rows of `stride` numbers by a matrix; the biases are added.
pub(crate) fn multiply(kernels: Kernels, matrix: &Matrix, rows: usize, inputs: &[f32], stride: usize, out: &mut [f32]) {
    products(kernels, matrix, rows, inputs, stride, out);
    for row in out.chunks_exact_mut(matrix.outputs).take(rows) {
        row.iter_mut().zip(matrix.bias.iter()).for_each(|(sum, bias)| *sum += bias);
    }
}

/// The same without the biases.
pub(crate) fn products(kernels: Kernels, matrix: &Matrix, rows: usize, inputs: &[f32], stride: usize, out: &mut [f32]) {
    let Matrix { inputs: depth, outputs, weights, .. } = matrix;
    let job = Products {
        depth: *depth,
        width: *outputs,
        weights,
        // The next row is multiplied by the same.
        next: weights,
        columns: rows,
        inputs,
        strides: (stride, *outputs),
        scales: &[],
    };
    kernels.products(job, out);
}
