//! From the last activations of the tower to policies and values.

use crate::board::{Board, padded};
use crate::buffer::Buffer;
use crate::description::Dense;
use crate::math::{relu, softmax, tanh};
use crate::model::{Model, PackedPolicy};
use crate::workspace::multiply;

/// Numbers of a group of positions on their way through the heads.
pub(crate) struct HeadsMemory {
    /// By position, point and padded plane.
    planes: Buffer<f32>,
    /// The input of the dense layer of each head.
    policy: Buffer<f32>,
    value: Buffer<f32>,
    logits: Buffer<f32>,
    hidden: Buffer<f32>,
}

impl HeadsMemory {
    pub(crate) fn new(model: &Model) -> HeadsMemory {
        let (heads, area) = (&model.heads, model.board.area());
        let buffer = |len: usize| Buffer::new(model.group * len);
        HeadsMemory {
            planes: buffer(area * heads.planes.outputs),
            policy: buffer(area * heads.counts[0]),
            value: buffer(area * heads.counts[1]),
            logits: buffer(padded(model.moves())),
            hidden: buffer(heads.hidden.outputs),
        }
    }

    /// Outputs of as many positions as there are values.
    pub(crate) fn forward(&mut self, model: &Model, trunk: &[f32], policies: &mut [f32], values: &mut [f32]) {
        let heads = &model.heads;
        let positions = values.len();
        self.planes(model, trunk, positions);
        match &heads.policy {
            PackedPolicy::Dense(matrix) => {
                multiply(model.kernels, matrix, positions, &self.policy, matrix.inputs, &mut self.logits);
                let rows = policies.chunks_exact_mut(model.moves()).zip(self.logits.chunks_exact(matrix.outputs));
                rows.for_each(|(policy, logits)| policy.copy_from_slice(&logits[..policy.len()]));
            }
            PackedPolicy::Convolution { board, pass } => {
                let (area, count) = (model.board.area(), heads.counts[0]);
                let rows = policies.chunks_exact_mut(model.moves()).zip(self.policy.chunks_exact(area * count));
                rows.for_each(|(policy, planes)| by_convolution(board, pass, planes, policy));
            }
        }
        policies.chunks_exact_mut(model.moves()).for_each(softmax);
        self.values(model, values);
    }

    /// The hidden layer of the value head after ReLU, of the first position.
    pub(crate) fn hidden(&self, model: &Model) -> impl Iterator<Item = f32> {
        self.hidden[..model.heads.hidden_width].iter().map(|&x| relu(x))
    }

    /// The planes of both heads after ReLU, point by point.
    fn planes(&mut self, model: &Model, trunk: &[f32], positions: usize) {
        let (board, heads) = (model.board, &model.heads);
        let (filters, width) = (model.stem.outputs, heads.planes.outputs);
        let Board { side, .. } = board;
        for row in 0..positions * side {
            let from = &trunk[board.index(row / side, row % side, 0, filters)..];
            multiply(model.kernels, &heads.planes, side, from, filters, &mut self.planes[row * side * width..]);
        }
        let [policy, value] = heads.counts;
        let points = self.planes.chunks_exact(width).take(positions * board.area());
        let places = self.policy.chunks_exact_mut(policy).zip(self.value.chunks_exact_mut(value));
        for (point, (policies, values)) in points.zip(places) {
            let cut = |to: &mut [f32], from: &[f32]| to.iter_mut().zip(from).for_each(|(to, &from)| *to = relu(from));
            cut(policies, point);
            cut(values, &point[policy..]);
        }
    }

    fn values(&mut self, model: &Model, values: &mut [f32]) {
        let heads = &model.heads;
        let count = heads.counts[1];
        let stride = model.board.area() * count;
        if heads.value_pooled {
            // Means take the place of the first point.
            self.value.chunks_exact_mut(stride).take(values.len()).for_each(|planes| means(planes, count));
        }
        multiply(model.kernels, &heads.hidden, values.len(), &self.value, stride, &mut self.hidden);
        for (value, hidden) in values.iter_mut().zip(self.hidden.chunks_exact(heads.hidden.outputs)) {
            let out = |index: usize| output(&heads.out, index, hidden[..heads.hidden_width].iter().map(|&x| relu(x)));
            *value = match heads.out.bias.len() {
                1 => tanh(out(0)),
                _ => {
                    let mut chances = [out(0), out(1), out(2)];
                    softmax(&mut chances);
                    chances[0] - chances[2]
                }
            };
        }
    }
}

/// An output of a dense layer: products in order, and the bias.
pub(crate) fn output(dense: &Dense, index: usize, inputs: impl Iterator<Item = f32>) -> f32 {
    let width = dense.weight.len() / dense.bias.len();
    let weights = &dense.weight[index * width..][..width];
    weights.iter().zip(inputs).fold(0.0, |sum, (weight, input)| sum + weight * input) + dense.bias[index]
}

/// Logits of all moves from the planes of a position.
fn by_convolution(board: &Dense, pass: &Dense, planes: &[f32], policy: &mut [f32]) {
    let count = board.weight.len();
    let points = planes.chunks_exact(count);
    let area = points.len() as f32;
    policy.iter_mut().zip(points.clone()).for_each(|(logit, point)| *logit = output(board, 0, point.iter().copied()));
    let of_plane = |plane: usize| points.clone().map(move |point| point[plane]);
    let means = (0..count).map(|plane| of_plane(plane).sum::<f32>() / area);
    // After a ReLU nothing is below 0; the means keep NaN, which `max` drops.
    let maxima = (0..count).map(|plane| of_plane(plane).fold(0.0, f32::max));
    if let Some(last) = policy.last_mut() {
        *last = output(pass, 0, means.chain(maxima));
    }
}

/// Puts the means of the planes of a position first.
fn means(planes: &mut [f32], count: usize) {
    let points = planes.len() / count;
    for plane in 0..count {
        let sum: f32 = planes[plane..].iter().step_by(count).sum();
        planes[plane] = sum / points as f32;
    }
}
