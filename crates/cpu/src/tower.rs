//! The way of a group of positions through the tower.

use crate::board::Board;
use crate::buffer::Buffer;
use crate::kernels::Plain;
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
    /// Outputs of dense layers, by position.
    hidden: Buffer<f32>,
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

/// ReLU after a convolution, or not.
fn plain(relu: bool) -> After<'static> {
    After { bias: None, add: false, relu }
}

impl Tower {
    pub(crate) fn new(model: &Model) -> Tower {
        let (board, filters) = (model.board, model.stem.outputs);
        let [_, pooled] = model.widths();
        let squeeze = model.blocks.iter().flat_map(|block| &block.squeeze).flatten();
        let hidden = squeeze.map(|matrix| matrix.outputs).max().unwrap_or(0);
        let buffer = |len: usize| Buffer::new(model.group * len);
        Tower {
            input: buffer(board.len(model.stem.inputs)),
            trunk: buffer(board.len(filters)),
            inner: buffer(board.len(filters)),
            pooled: buffer(board.len(pooled)),
            seen: buffer(2 * filters.max(pooled)),
            hidden: buffer(hidden),
            bias: buffer(filters.max(hidden)),
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
        self.workspace.convolve(self.positions, &model.stem, plain(true), &mut self.tower.trunk);
        for (index, block) in model.blocks.iter().enumerate() {
            self.block(index, block);
        }
    }

    fn block(&mut self, index: usize, block: &PackedBlock) {
        self.gather(2 * index + 1, Source::Trunk);
        let mut after = plain(true);
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
                self.workspace.convolve(self.positions, &block.second, plain(false), &mut self.tower.inner);
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
        workspace.convolve(positions, &pooled.conv, plain(true), &mut tower.pooled);
        let count = pooled.channels;
        let points = Points { board: model.board, positions, channels: pooled.conv.outputs };
        model.kernels.plain(Pool { points, count, planes: &tower.pooled, seen: &mut tower.seen });
        multiply(model.kernels, &pooled.dense, positions, &tower.seen, 2 * count, &mut tower.bias);
        for sums in tower.bias.chunks_exact_mut(bias.len()).take(positions) {
            sums.iter_mut().zip(bias).for_each(|(sum, bias)| *sum += bias);
        }
    }

    /// Squeeze and excitation of the inside of a block, added to the trunk.
    fn squeeze(&mut self, [first, second]: &[Matrix; 2]) {
        let Pass { model, positions, ref mut tower, .. } = *self;
        let filters = model.filters;
        let points = Points { board: model.board, positions, channels: model.stem.outputs };
        let Tower { trunk, inner, seen, hidden, bias, .. } = &mut **tower;
        model.kernels.plain(Means { points, count: filters, numbers: inner, means: seen });
        multiply(model.kernels, first, positions, seen, filters, bias);
        bias.iter_mut().for_each(|number| *number = relu(*number));
        multiply(model.kernels, second, positions, bias, first.outputs, hidden);
        model.kernels.plain(Excite { points, filters, gates: hidden, width: second.outputs, inner, trunk });
    }
}

/// Where the points of some positions are in memory.
#[derive(Clone, Copy)]
struct Points {
    board: Board,
    positions: usize,
    /// Padded channels of a point.
    channels: usize,
}

impl Points {
    /// Those of a position, row by row.
    #[inline(always)]
    fn of(self, position: usize) -> impl Iterator<Item = usize> {
        let Points { board, channels, .. } = self;
        (0..board.area()).map(move |point| board.index(position, point / board.side, point % board.side, channels))
    }

    /// The mean of each channel of a position, whose points are added in order.
    #[inline(always)]
    fn mean(self, position: usize, numbers: &[f32], means: &mut [f32]) {
        means.fill(0.0);
        for index in self.of(position) {
            means.iter_mut().zip(&numbers[index..]).for_each(|(sum, number)| *sum += number);
        }
        means.iter_mut().for_each(|sum| *sum /= self.board.area() as f32);
    }
}

/// Means and maxima of the planes of global pooling.
struct Pool<'a> {
    points: Points,
    /// Channels that are not padding.
    count: usize,
    planes: &'a [f32],
    /// By position: means, then maxima.
    seen: &'a mut [f32],
}

impl Plain for Pool<'_> {
    #[inline(always)]
    fn run(self) {
        let Pool { points, count, planes, seen } = self;
        for (position, seen) in seen.chunks_exact_mut(2 * count).take(points.positions).enumerate() {
            let (means, maxima) = seen.split_at_mut(count);
            points.mean(position, planes, means);
            // After a ReLU nothing is below 0; the means keep NaN, which `max` drops.
            maxima.fill(0.0);
            for index in points.of(position) {
                let planes = &planes[index..][..count];
                maxima.iter_mut().zip(planes).for_each(|(largest, &number)| *largest = largest.max(number));
            }
        }
    }
}

/// Means of channels, by position.
struct Means<'a> {
    points: Points,
    count: usize,
    numbers: &'a [f32],
    means: &'a mut [f32],
}

impl Plain for Means<'_> {
    #[inline(always)]
    fn run(self) {
        let Means { points, count, numbers, means } = self;
        for (position, means) in means.chunks_exact_mut(count).take(points.positions).enumerate() {
            points.mean(position, numbers, means);
        }
    }
}

/// Scales and shifts the inside of a block, and adds it to the trunk.
struct Excite<'a> {
    points: Points,
    filters: usize,
    /// By position: logits of scales, then shifts, and padding.
    gates: &'a mut [f32],
    /// How many numbers of a position these are.
    width: usize,
    inner: &'a [f32],
    trunk: &'a mut [f32],
}

impl Plain for Excite<'_> {
    #[inline(always)]
    fn run(self) {
        let Excite { points, filters, gates, width, inner, trunk } = self;
        for (position, gates) in gates.chunks_exact_mut(width).take(points.positions).enumerate() {
            let (scales, shifts) = gates.split_at_mut(filters);
            scales.iter_mut().for_each(|scale| *scale = sigmoid(*scale));
            for index in points.of(position) {
                let sums = trunk[index..][..filters].iter_mut().zip(&inner[index..]);
                for ((sum, inner), (scale, shift)) in sums.zip(scales.iter().zip(&*shifts)) {
                    *sum = relu(inner * scale + shift + *sum);
                }
            }
        }
    }
}
