//! From the last activations of the tower to policies and values.

use crate::board::{Board, LANES, padded};
use crate::buffer::Buffer;
use crate::description::Dense;
use crate::kernels::Plain;
use crate::math::{relu, softmax, tanh};
use crate::model::{Heads, Model, PackedPolicy};
use crate::workspace::{multiply, products};

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
        model.kernels.plain(Softmax { moves: model.moves(), policies });
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
            products(model.kernels, &heads.planes, side, from, filters, &mut self.planes[row * side * width..]);
        }
        let sums = &self.planes[..positions * board.area() * width];
        model.kernels.plain(Cut { heads, sums, policy: &mut self.policy, value: &mut self.value });
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
        model.kernels.plain(Values { heads, hidden: &self.hidden, values });
    }
}

/// Sums of the planes of both heads, which biases and ReLU are missing from.
struct Cut<'a> {
    heads: &'a Heads,
    sums: &'a [f32],
    policy: &'a mut [f32],
    value: &'a mut [f32],
}

impl Plain for Cut<'_> {
    #[inline(always)]
    fn run(self) {
        let Heads { planes, counts, .. } = self.heads;
        let mut first = 0;
        for (&count, to) in counts.iter().zip([self.policy, self.value]) {
            for plane in 0..count {
                let bias = planes.bias[first + plane];
                for (point, to) in self.sums.chunks_exact(planes.outputs).zip(to.chunks_exact_mut(count)) {
                    to[plane] = relu(point[first + plane] + bias);
                }
            }
            first += count;
        }
    }
}

/// Policies that are logits.
struct Softmax<'a> {
    moves: usize,
    policies: &'a mut [f32],
}

impl Plain for Softmax<'_> {
    #[inline(always)]
    fn run(self) {
        for policy in self.policies.chunks_exact_mut(self.moves) {
            softmax(policy);
        }
    }
}

/// Values from the hidden layer, which ReLU is missing from.
struct Values<'a> {
    heads: &'a Heads,
    hidden: &'a [f32],
    values: &'a mut [f32],
}

impl Plain for Values<'_> {
    #[inline(always)]
    fn run(self) {
        let Heads { hidden, hidden_width, out, .. } = self.heads;
        for (value, hidden) in self.values.iter_mut().zip(self.hidden.chunks_exact(hidden.outputs)) {
            let out = |index: usize| {
                let weights = &out.weight[index * hidden_width..][..*hidden_width];
                sum_of_products(weights, &hidden[..*hidden_width]) + out.bias[index]
            };
            *value = match self.heads.out.bias.len() {
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

/// Weights times inputs after ReLU. They are added in order, but without the sum several products are computed at once.
#[inline(always)]
fn sum_of_products(weights: &[f32], inputs: &[f32]) -> f32 {
    let mut sum = 0.0;
    for (weights, inputs) in weights.chunks(LANES).zip(inputs.chunks(LANES)) {
        let mut products = [0.0; LANES];
        let each = products.iter_mut().zip(weights.iter().zip(inputs));
        each.for_each(|(product, (weight, &input))| *product = weight * relu(input));
        sum = products[..weights.len()].iter().fold(sum, |sum, product| sum + product);
    }
    sum
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
