//! The way of a group of positions through the tower.

use crate::board::Board;
use crate::buffer::Buffer;
use crate::math::{relu, sigmoid};
use crate::model::Model;
use crate::pack::{Matrix, PackedBlock, Pooled};
use crate::scales::{Scales, observe};
use crate::workspace::{After, Workspace, multiply};

/// Activations of a group of positions.
pub(crate) struct Tower {
    pub(crate) input: Buffer<f32>,
    /// What blocks add to.
    trunk: Buffer<f32>,
    /// The inside of a block.
    inner: Buffer<f32>,
    /// Planes of global pooling.
    pooled: Buffer<f32>,
    /// Means and maxima of channels, by position.
    seen: Buffer<f32>,
    /// Scales and shifts of a squeeze, by position.
    gates: Buffer<f32>,
    /// Biases that global pooling adds to, by position; or the hidden layer of a squeeze.
    bias: Buffer<f32>,
}

/// Convolutions that transform their inputs, and where these are.
#[derive(Clone, Copy)]
enum Source {
    Input,
    Trunk,
    Inner,
}

/// A group on its way.
pub(crate) struct Pass<'a> {
    pub(crate) model: &'a Model,
    pub(crate) positions: usize,
    pub(crate) workspace: &'a mut Workspace,
    pub(crate) tower: &'a mut Tower,
    /// With calibration: the largest inputs so far.
    pub(crate) observed: Option<&'a mut Scales>,
}

/// A convolution with its own bias, and a ReLU after it.
const RELU: After<'static> = After { bias: None, add: false, relu: true };
/// The same without a ReLU.
const LINEAR: After<'static> = After { relu: false, ..RELU };

impl Tower {
    pub(crate) fn new(model: &Model) -> Tower {
        let (board, filters) = (model.board, model.stem.outputs);
        let [_, pooled] = model.widths();
        let squeeze = model.blocks.iter().flat_map(|block| &block.squeeze).flatten();
        let widest = squeeze.map(|matrix| matrix.outputs).max().unwrap_or(0);
        let buffer = |len: usize| Buffer::new(model.group * len);
        Tower {
            input: buffer(board.len(model.stem.inputs)),
            trunk: buffer(board.len(filters)),
            inner: buffer(board.len(filters)),
            pooled: buffer(board.len(pooled)),
            seen: buffer(2 * filters.max(pooled)),
            gates: buffer(widest),
            bias: buffer(filters.max(widest)),
        }
    }

    /// The activations that the heads see.
    pub(crate) fn output(&self) -> &[f32] {
        &self.trunk
    }
}

impl Pass<'_> {
    pub(crate) fn run(&mut self) {
        let model = self.model;
        self.gather(0, Source::Input);
        self.workspace.convolve(self.positions, &model.stem, RELU, &mut self.tower.trunk);
        for (index, block) in model.blocks.iter().enumerate() {
            self.block(index, block);
        }
    }

    fn block(&mut self, index: usize, block: &PackedBlock) {
        self.gather(2 * index + 1, Source::Trunk);
        let mut after = RELU;
        if let Some(pooled) = &block.pooled {
            self.pool(pooled, &block.first.bias);
            after.bias = Some(&self.tower.bias[..self.positions * block.first.outputs]);
        }
        self.workspace.convolve(self.positions, &block.first, after, &mut self.tower.inner);
        self.gather(2 * index + 2, Source::Inner);
        match &block.squeeze {
            None => {
                let after = After { bias: None, add: true, relu: true };
                self.workspace.convolve(self.positions, &block.second, after, &mut self.tower.trunk);
            }
            Some(layers) => {
                self.workspace.convolve(self.positions, &block.second, LINEAR, &mut self.tower.inner);
                self.squeeze(layers);
            }
        }
    }

    /// Transforms the inputs of a layer.
    fn gather(&mut self, layer: usize, source: Source) {
        let Tower { input, trunk, inner, .. } = &*self.tower;
        let (from, channels) = match source {
            Source::Input => (input, self.model.stem.inputs),
            Source::Trunk => (trunk, self.model.stem.outputs),
            Source::Inner => (inner, self.model.stem.outputs),
        };
        let seen = self.workspace.gather(self.positions, channels, from, self.model.factors.get(layer));
        if let Some(Scales(observed)) = &mut self.observed {
            observe(&mut observed[layer], seen, channels);
        }
    }

    /// The biases of a convolution that global pooling adds to.
    fn pool(&mut self, pooled: &Pooled, bias: &[f32]) {
        let Pass { model, positions, ref mut workspace, ref mut tower, .. } = *self;
        workspace.convolve(positions, &pooled.conv, RELU, &mut tower.pooled);
        let (count, channels) = (pooled.channels, pooled.conv.outputs);
        for (position, seen) in tower.seen.chunks_exact_mut(2 * count).take(positions).enumerate() {
            let (means, maxima) = seen.split_at_mut(count);
            mean(model.board, position, channels, &tower.pooled, means);
            // After a ReLU nothing is below 0; the means keep NaN, which `max` drops.
            maxima.fill(0.0);
            for index in points(model.board, position, channels) {
                let planes = &tower.pooled[index..][..count];
                maxima.iter_mut().zip(planes).for_each(|(largest, &number)| *largest = largest.max(number));
            }
        }
        multiply(model.kernels, &pooled.dense, positions, &tower.seen, 2 * count, &mut tower.bias);
        for sums in tower.bias.chunks_exact_mut(bias.len()).take(positions) {
            sums.iter_mut().zip(bias).for_each(|(sum, bias)| *sum += bias);
        }
    }

    /// Squeeze and excitation of the inside of a block, added to the trunk.
    fn squeeze(&mut self, [first, second]: &[Matrix; 2]) {
        let Pass { model, positions, ref mut tower, .. } = *self;
        let (filters, channels) = (model.filters, model.stem.outputs);
        let Tower { trunk, inner, seen, gates, bias: hidden, .. } = &mut **tower;
        for (position, means) in seen.chunks_exact_mut(filters).take(positions).enumerate() {
            mean(model.board, position, channels, inner, means);
        }
        multiply(model.kernels, first, positions, seen, filters, hidden);
        hidden.iter_mut().for_each(|number| *number = relu(*number));
        multiply(model.kernels, second, positions, hidden, first.outputs, gates);
        for (position, gates) in gates.chunks_exact_mut(second.outputs).take(positions).enumerate() {
            let (scales, shifts) = gates.split_at_mut(filters);
            scales.iter_mut().for_each(|scale| *scale = sigmoid(*scale));
            for index in points(model.board, position, channels) {
                let sums = trunk[index..][..filters].iter_mut().zip(&inner[index..]);
                for ((sum, inner), (scale, shift)) in sums.zip(scales.iter().zip(&*shifts)) {
                    *sum = relu(inner * scale + shift + *sum);
                }
            }
        }
    }
}

/// The mean of each channel of a position.
fn mean(board: Board, position: usize, channels: usize, numbers: &[f32], means: &mut [f32]) {
    means.fill(0.0);
    for index in points(board, position, channels) {
        means.iter_mut().zip(&numbers[index..]).for_each(|(sum, number)| *sum += number);
    }
    means.iter_mut().for_each(|sum| *sum /= board.area() as f32);
}

/// Where the points of a position are in memory, row by row.
fn points(board: Board, position: usize, channels: usize) -> impl Iterator<Item = usize> {
    let side = board.side;
    (0..board.area()).map(move |point| board.index(position, point / side, point % side, channels))
}
