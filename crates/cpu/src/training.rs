//! A 3x3 convolution in training: its output, and the gradients of its input and its weights. [`unit`] is what
//! surrounds it.
//!
//! All three are F(3x3, 3x3) Winograd transforms with products of f32. The gradient of the input is a convolution of
//! that of the output by the kernels turned by half a turn. The gradient of the weights is transformed back once, after
//! the products of all tiles of the batch have been added up in the transformed space.

use std::ops::Range;

use crate::board::{Board, FREQUENCIES, SIDES, padded};
use crate::buffer::Buffer;
use crate::kernels::{Kernels, Outer, Spread};
use crate::pack::{Packed, Weights};
use crate::workspace::{After, Workspace, group};
use crate::{CpuError, InstructionSet};

mod kernels;
mod norm;
#[cfg(test)]
mod tests;
mod unit;

pub use unit::{TrainingUnit, UnitApplied, UnitGradients, UnitInput, UnitOutput};

use kernels::{Turned, Untransformed, Upright};

/// What transformed inputs and gradients of a group of positions should be at most, in bytes, beside a second-level
/// cache of 1.25 MiB or more. Two positions may be more.
const PAIR_BYTES: usize = 1 << 20;

/// A 3x3 convolution without a bias, and memory for the positions that it works on at a time.
///
/// Inputs, outputs and their gradients are f32 by position, row, column and channel; weights and their gradient by
/// output channel, row, column and input channel, as libtorch has them in its memory format `channels_last`. A number
/// that is not finite makes others of the same position NaN, and those of the weights' gradient.
///
/// Results have the same bits with every [`InstructionSet`].
pub(crate) struct Convolution {
    kernels: Kernels,
    board: Board,
    channels: (usize, usize),
    /// Positions at a time: of a convolution, and of the gradient of weights.
    groups: (usize, usize),
    upright: Packed,
    turned: Packed,
    workspace: Workspace,
    /// Boards of a group.
    inputs: Buffer<f32>,
    outputs: Buffer<f32>,
    /// Gradients of their outputs.
    gradient: Vec<f32>,
    /// Transformed gradients of a group.
    spread: Buffer<f32>,
    /// By frequency, output and input channel.
    sums: Buffer<f32>,
}

impl Convolution {
    /// Memory for convolutions of boards of `side` points with so many input and output channels, at least one of each.
    ///
    /// # Errors
    /// A board that there is not, or an instruction set that this processor lacks.
    pub(crate) fn new(
        side: usize,
        inputs: usize,
        outputs: usize,
        set: InstructionSet,
    ) -> Result<Convolution, CpuError> {
        if !SIDES.contains(&side) {
            return Err(CpuError::Side(side));
        }
        let (kernels, board, channels) = (Kernels::new(set)?, Board::new(side), (inputs, outputs));
        let (inputs, outputs) = (padded(inputs), padded(outputs));
        let most = inputs.max(outputs);
        let tile = FREQUENCIES * (inputs + outputs) * size_of::<f32>();
        let groups = (group(board, most), (PAIR_BYTES / (tile * board.columns())).clamp(2, 16));
        let largest = groups.0.max(groups.1);
        Ok(Convolution {
            kernels,
            board,
            channels,
            groups,
            upright: Packed::zeros(inputs, outputs),
            turned: Packed::zeros(outputs, inputs),
            workspace: Workspace::new(kernels, board, largest, most, true),
            inputs: Buffer::new(largest * board.len(inputs)),
            outputs: Buffer::new(largest * board.len(outputs)),
            gradient: vec![0.0; groups.1 * board.area() * channels.1],
            spread: Buffer::new(groups.1 * board.columns() * FREQUENCIES * outputs),
            sums: Buffer::new(FREQUENCIES * inputs * outputs),
        })
    }

    /// Side of the boards, and input and output channels.
    pub(crate) fn shape(&self) -> (usize, usize, usize) {
        (self.board.side, self.channels.0, self.channels.1)
    }

    /// Convolves some positions, and shows the output group by group, while it is in a cache.
    ///
    /// # Panics
    /// When a length does not fit the others.
    pub(crate) fn forward(&mut self, weight: &[f32], input: &[f32], output: &mut [f32], mut seen: impl FnMut(&[f32])) {
        self.check(weight.len(), input.len(), output.len());
        let (board, (inputs, outputs)) = (self.board, self.channels);
        self.kernels.plain(Upright { weight, channels: self.channels, packed: exact(&mut self.upright) });
        let group = self.groups.0 * board.area();
        for (input, output) in input.chunks(group * inputs).zip(output.chunks_mut(group * outputs)) {
            let positions = input.len() / (board.area() * inputs);
            to_boards(board, inputs, input, &mut self.inputs);
            self.workspace.gather(positions, self.upright.inputs, &self.inputs, None);
            self.workspace.convolve(positions, &self.upright, PLAIN, &mut self.outputs);
            from_boards(board, outputs, &self.outputs, output);
            seen(output);
        }
    }

    /// The gradients of the weights, and of the input if `of_input` is there, from that of the output. `of_output`
    /// writes that of some positions.
    ///
    /// # Panics
    /// When a length does not fit the others.
    pub(crate) fn backward(
        &mut self,
        weight: &[f32],
        input: &[f32],
        mut of_output: impl FnMut(Range<usize>, &mut [f32]),
        mut of_input: Option<&mut [f32]>,
        of_weight: &mut [f32],
    ) {
        let (board, (inputs, outputs)) = (self.board, self.channels);
        let all = input.len() / (board.area() * inputs);
        self.check(weight.len(), input.len(), all * board.area() * outputs);
        let of_input_len = of_input.as_ref().map_or(input.len(), |of_input| of_input.len());
        assert_eq!((of_weight.len(), of_input_len), (weight.len(), input.len()), "gradients are as long");
        if of_input.is_some() {
            self.kernels.plain(Turned { weight, channels: self.channels, packed: exact(&mut self.turned) });
        }
        self.sums.fill(0.0);
        for first in (0..all).step_by(self.groups.1) {
            let positions = self.groups.1.min(all - first);
            let gradient = &mut self.gradient[..positions * board.area() * outputs];
            of_output(first..first + positions, gradient);
            to_boards(board, outputs, gradient, &mut self.outputs);
            let range = first * board.area() * inputs..(first + positions) * board.area() * inputs;
            if let Some(of_input) = &mut of_input {
                self.workspace.gather(positions, self.turned.inputs, &self.outputs, None);
                self.workspace.convolve(positions, &self.turned, PLAIN, &mut self.inputs);
                from_boards(board, inputs, &self.inputs, &mut of_input[range.clone()]);
            }
            let job = Spread { board, positions, channels: self.turned.inputs, from: &self.outputs };
            self.kernels.spread(job, &mut self.spread);
            to_boards(board, inputs, &input[range], &mut self.inputs);
            let job = Outer {
                tiles: positions * board.columns(),
                channels: (self.upright.outputs, self.upright.inputs),
                gradients: &self.spread,
                inputs: self.workspace.gather(positions, self.upright.inputs, &self.inputs, None),
            };
            self.kernels.outer(job, &mut self.sums);
        }
        self.kernels.plain(Untransformed { sums: &self.sums, channels: self.channels, of_weight });
    }

    fn check(&self, weight: usize, input: usize, output: usize) {
        let (inputs, outputs) = self.channels;
        let (input_len, output_len) = (self.board.area() * inputs, self.board.area() * outputs);
        assert_eq!(weight, 9 * inputs * outputs, "weights of a 3x3 convolution");
        assert!(input.is_multiple_of(input_len), "whole positions");
        assert_eq!(input / input_len * output_len, output, "as many positions of the output");
    }
}

/// Nothing is done with the output.
const PLAIN: After<'static> = After { bias: None, add: false, relu: false };

fn exact(packed: &mut Packed) -> &mut [f32] {
    match &mut packed.weights {
        Weights::Exact(weights) => weights,
        Weights::Rounded { .. } => unreachable!("it was made with f32"),
    }
}

/// Copies positions into boards with zeros around them and after their channels.
fn to_boards(board: Board, channels: usize, from: &[f32], to: &mut [f32]) {
    let in_memory = padded(channels);
    for (row, from) in from.chunks_exact(board.side * channels).enumerate() {
        let to = &mut to[board.index(row / board.side, row % board.side, 0, in_memory)..];
        if channels == in_memory {
            to[..from.len()].copy_from_slice(from);
        } else {
            for (from, to) in from.chunks_exact(channels).zip(to.chunks_exact_mut(in_memory)) {
                to[..channels].copy_from_slice(from);
                // A convolution may have left numbers there, and NaN times a weight of 0 is NaN.
                to[channels..].fill(0.0);
            }
        }
    }
}

/// The other way round.
fn from_boards(board: Board, channels: usize, from: &[f32], to: &mut [f32]) {
    let in_memory = padded(channels);
    for (row, to) in to.chunks_exact_mut(board.side * channels).enumerate() {
        let from = &from[board.index(row / board.side, row % board.side, 0, in_memory)..];
        if channels == in_memory {
            to.copy_from_slice(&from[..to.len()]);
        } else {
            for (from, to) in from.chunks_exact(in_memory).zip(to.chunks_exact_mut(channels)) {
                to.copy_from_slice(&from[..channels]);
            }
        }
    }
}
