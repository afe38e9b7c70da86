//! A network whose weights are packed, to be shared by any number of threads.

use std::sync::Arc;

use crate::board::{Board, FREQUENCIES, padded};
use crate::description::{Block, Dense, Description, Input, PolicyHead, Value};
use crate::kernels::Kernels;
use crate::pack::{Matrix, Packed, PackedBlock, Pooled};
use crate::scales::{Scales, factors};
use crate::workspace::group;
use crate::{CpuError, InstructionSet, bound};

/// The numbers that convolutions are computed with.
#[derive(Clone, Copy, Debug)]
pub enum Precision<'a> {
    /// f32: exact to about 1e-6 of a layer, and to 1e-5 of the spread of logits.
    F32,
    /// int16, with the scales of a calibration: exact to about 1e-3 of a layer, and 1.1 to 1.9 times as fast: the more,
    /// the wider the network (experiments/0088-faster-loops-on-avx2, experiments/0063-integer-winograd).
    Int16(&'a Scales),
}

/// A network, ready to be evaluated. [`Model::session`] opens a session for one thread.
pub struct Model {
    pub(crate) kernels: Kernels,
    pub(crate) board: Board,
    pub(crate) inputs: Vec<Input>,
    /// Planes of a position.
    pub(crate) planes: usize,
    pub(crate) filters: usize,
    /// Positions that go through the network together.
    pub(crate) group: usize,
    pub(crate) stem: Packed,
    pub(crate) blocks: Vec<PackedBlock>,
    pub(crate) heads: Heads,
    /// Factors of the transformed inputs of each layer; empty for f32.
    pub(crate) factors: Vec<[f32; FREQUENCIES]>,
}

pub(crate) struct Heads {
    /// The 1x1 convolutions of both heads, the policy's planes first.
    pub(crate) planes: Matrix,
    /// How many of the planes are the policy's and the value's.
    pub(crate) counts: [usize; 2],
    pub(crate) policy: PackedPolicy,
    pub(crate) value_pooled: bool,
    pub(crate) hidden: Matrix,
    pub(crate) hidden_width: usize,
    pub(crate) out: Dense,
}

pub(crate) enum PackedPolicy {
    Dense(Matrix),
    Convolution { board: Dense, pass: Dense },
}

impl Model {
    /// Packs a network for an instruction set.
    ///
    /// # Errors
    /// A description whose parts do not fit together or that has a number that is not finite, scales of another network
    /// or that are not finite, numbers in int16 that could overflow f32, or an instruction set that this processor
    /// lacks.
    pub fn new(
        description: &Description,
        precision: Precision<'_>,
        set: InstructionSet,
    ) -> Result<Arc<Model>, CpuError> {
        description.check()?;
        let kernels = Kernels::new(set)?;
        let board = Board::new(description.side);
        let layers = 1 + 2 * description.blocks.len();
        let factors: Vec<_> = match precision {
            Precision::F32 => Vec::new(),
            Precision::Int16(scales) => {
                scales.check(layers)?;
                scales.0.iter().map(factors).collect()
            }
        };
        let block = |(index, block): (usize, &Block)| {
            let [first, second] = [1, 2].map(|conv| factors.get(2 * index + conv));
            PackedBlock {
                first: Packed::new(&block.first, first),
                pooled: block.pooled.as_ref().map(|(conv, dense)| Pooled {
                    conv: Packed::new(conv, first),
                    channels: conv.outputs,
                    dense: Matrix::dense(dense),
                }),
                second: Packed::new(&block.second, second),
                squeeze: block.squeeze.as_ref().map(|both| both.each_ref().map(Matrix::dense)),
            }
        };
        let channels = padded(description.filters().max(description.inputs.len()));
        let model = Model {
            kernels,
            board,
            inputs: description.inputs.clone(),
            planes: description.planes(),
            filters: description.filters(),
            group: group(board, channels),
            stem: Packed::new(&description.stem, factors.first()),
            blocks: description.blocks.iter().enumerate().map(block).collect(),
            heads: Heads::new(description),
            factors,
        };
        if let Precision::Int16(_) = precision {
            bound::check(description, &model.stem, &model.blocks)?;
        }
        Ok(Arc::new(model))
    }

    /// Moves of the board, the pass included.
    pub fn moves(&self) -> usize {
        self.board.area() + 1
    }

    /// Layers that transform their inputs.
    pub(crate) fn layers(&self) -> usize {
        1 + 2 * self.blocks.len()
    }

    /// Multiply-adds of the 3x3 convolutions for a position, those of the zeros that boards and channels are padded by
    /// included. Heads have few.
    pub fn multiply_adds(&self) -> u64 {
        let of_block = |block: &PackedBlock| {
            let pooled = block.pooled.as_ref().map_or(0, |pooled| pooled.conv.multiply_adds(self.board));
            block.first.multiply_adds(self.board) + pooled + block.second.multiply_adds(self.board)
        };
        self.stem.multiply_adds(self.board) + self.blocks.iter().map(of_block).sum::<u64>()
    }

    /// Bytes of a position.
    pub fn position_len(&self) -> usize {
        self.planes * self.board.area()
    }

    /// The most padded channels of any input of a 3x3 convolution, and of any output.
    pub(crate) fn widths(&self) -> [usize; 2] {
        let pooled = self.blocks.iter().flat_map(|block| &block.pooled).map(|pooled| pooled.conv.outputs).max();
        [self.stem.inputs.max(self.stem.outputs), pooled.unwrap_or(0)]
    }
}

impl Heads {
    fn new(description: &Description) -> Heads {
        let area = description.area();
        let (policy, value) = (&description.policy, &description.value);
        let counts = [policy.planes.outputs, value.planes.outputs];
        let weight = [&policy.planes.weight[..], &value.planes.weight].concat();
        let bias = [&policy.planes.bias[..], &value.planes.bias].concat();
        // Points come one after the other in memory, planes in the weights.
        let by_point = |dense: &Dense, planes: usize| {
            Matrix::new(&dense.weight, &dense.bias, |input| input % planes * area + input / planes)
        };
        let Value { pooled, hidden, out, .. } = value;
        Heads {
            planes: Matrix::new(&weight, &bias, |input| input),
            counts,
            policy: match &policy.head {
                PolicyHead::Dense(dense) => PackedPolicy::Dense(by_point(dense, counts[0])),
                PolicyHead::Convolution { board, pass } => {
                    PackedPolicy::Convolution { board: board.clone(), pass: pass.clone() }
                }
            },
            value_pooled: *pooled,
            hidden: if *pooled { Matrix::dense(hidden) } else { by_point(hidden, counts[1]) },
            hidden_width: hidden.bias.len(),
            out: out.clone(),
        }
    }
}
