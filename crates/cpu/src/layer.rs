//! A single convolution, for tests and measurements.

use crate::board::{Board, FREQUENCIES, SIDES, padded};
use crate::buffer::Buffer;
use crate::description::{Convolution, finite};
use crate::kernels::Kernels;
use crate::pack::Packed;
use crate::scales::{Scales, factors, observe};
use crate::workspace::{After, Workspace, group};
use crate::{CpuError, InstructionSet, bound};

mod work;

pub use work::Work;

/// A 3x3 convolution with a bias and ReLU, and the positions that it is applied to.
pub struct Layer {
    board: Board,
    conv: Packed,
    channels: (usize, usize),
    scales: Option<[f32; FREQUENCIES]>,
    workspace: Workspace,
    group: usize,
    positions: usize,
    input: Buffer<f32>,
    output: Buffer<f32>,
}

impl Layer {
    /// A layer in f32, with its positions: rows of channels, rows and columns.
    ///
    /// # Errors
    /// A board that there is not, numbers that do not fit together or are not finite, or an instruction set that this
    /// processor lacks.
    pub fn exact(conv: &Convolution, side: usize, input: &[f32], set: InstructionSet) -> Result<Layer, CpuError> {
        Layer::new(conv, side, input, set, None)
    }

    /// The same in integers, calibrated on these positions.
    ///
    /// # Errors
    /// As for [`Layer::exact`], and numbers that could overflow f32.
    pub fn rounded(
        conv: &Convolution,
        side: usize,
        input: &[f32],
        calibration: &[f32],
        set: InstructionSet,
    ) -> Result<Layer, CpuError> {
        let mut exact = Layer::exact(conv, side, calibration, InstructionSet::best())?;
        let mut largest = [0.0; FREQUENCIES];
        exact.each_group(|layer, positions, input, _| {
            let channels = layer.conv.inputs;
            observe(&mut largest, layer.workspace.gather(positions, channels, input, None), channels);
        });
        Scales(vec![largest]).check(1)?;
        let layer = Layer::new(conv, side, input, set, Some(factors(&largest)))?;
        let most = input.iter().fold(0.0, |most: f32, number| most.max(number.abs()));
        bound::layer(&layer.conv, most)?;
        Ok(layer)
    }

    fn new(
        conv: &Convolution,
        side: usize,
        input: &[f32],
        set: InstructionSet,
        scales: Option<[f32; FREQUENCIES]>,
    ) -> Result<Layer, CpuError> {
        if !SIDES.contains(&side) {
            return Err(CpuError::Side(side));
        }
        conv.check("layer", conv.inputs, conv.outputs, 3)?;
        finite("input", input)?;
        let board = Board::new(side);
        let positions = input.len() / (conv.inputs * board.area());
        let (inputs, outputs) = (padded(conv.inputs), padded(conv.outputs));
        let group = group(board, inputs.max(outputs));
        let mut layer = Layer {
            board,
            conv: Packed::new(conv, scales.as_ref()),
            channels: (conv.inputs, conv.outputs),
            scales,
            workspace: Workspace::new(Kernels::new(set)?, board, group, inputs, scales.is_none()),
            group,
            positions,
            input: Buffer::new(positions * board.len(inputs)),
            output: Buffer::new(positions * board.len(outputs)),
        };
        for (index, &number) in input.iter().enumerate() {
            let place = layer.place(index, conv.inputs, inputs);
            layer.input[place] = number;
        }
        Ok(layer)
    }

    /// Where a number is in memory, by its index in rows of channels, rows and columns.
    fn place(&self, index: usize, channels: usize, padded: usize) -> usize {
        let (plane, point) = (index / self.board.area(), index % self.board.area());
        let (position, channel) = (plane / channels, plane % channels);
        self.board.index(position, point / self.board.side, point % self.board.side, padded) + channel
    }

    fn each_group(&mut self, mut work: impl FnMut(&mut Layer, usize, &[f32], &mut [f32])) {
        let (input, mut output) =
            (std::mem::replace(&mut self.input, Buffer::new(0)), std::mem::replace(&mut self.output, Buffer::new(0)));
        let lens = [self.conv.inputs, self.conv.outputs].map(|channels| self.group * self.board.len(channels));
        let groups = input.chunks(lens[0]).zip(output.chunks_mut(lens[1]));
        for (index, (input, output)) in groups.enumerate() {
            let positions = self.group.min(self.positions - index * self.group);
            work(self, positions, input, output);
        }
        (self.input, self.output) = (input, output);
    }

    /// Convolves all positions.
    pub fn run(&mut self) {
        self.each_group(|layer, positions, input, output| {
            layer.workspace.gather(positions, layer.conv.inputs, input, layer.scales.as_ref());
            let after = After { bias: None, add: false, relu: true };
            layer.workspace.convolve(positions, &layer.conv, after, output);
        });
    }

    /// The output: rows of channels, rows and columns.
    pub fn output(&self) -> Vec<f32> {
        let count = self.positions * self.channels.1 * self.board.area();
        (0..count).map(|index| self.output[self.place(index, self.channels.1, self.conv.outputs)]).collect()
    }

    /// Multiplications and additions of a direct convolution of all positions, counting each as one.
    pub fn operations(&self) -> u64 {
        (2 * 9 * self.positions * self.board.area() * self.channels.0 * self.channels.1) as u64
    }
}

#[cfg(test)]
mod rounding_tests;
