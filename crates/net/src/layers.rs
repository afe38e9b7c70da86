//! The tower as it is evaluated: convolutions with biases, in the layout that the device multiplies fastest.
//!
//! On a CPU activations and kernels are in oneDNN's own blocked layout (`to_mkldnn`), kernels reordered once at load.
//! On a machine with AVX512_BF16 that spends 97 % of the time in convolutions running at the speed of a bare matrix
//! product; fusing ReLU and sum into them gained nothing more, and channels-last was slower on narrow towers
//! (`experiments/0013-self-play-throughput`). On a GPU channels-last is what tensor cores read, and cuDNN adds biases
//! and residuals and takes ReLU before an activation is written, which makes a tower twice as fast
//! (`experiments/0084-gpu`).

mod ops;

use cpu::Convolution;
use go::Size;
use tch::{Kind, Tensor};

use crate::evaluator::PlaneEvaluator;
use crate::modules::{mean_and_maximum, means};
use crate::tensor_options::TensorOptions;
use crate::threads::single;
use crate::{Inputs, NetError, Weights};
use ops::{Conv, Dense, Few, to_fast, to_plain};

pub(crate) use ops::channels_last;

/// A network that is ready to evaluate batches, fastest those of one size.
pub(crate) struct Layers {
    options: TensorOptions,
    size: Size,
    batch: usize,
    inputs: Inputs,
    stem: Conv,
    blocks: Vec<Block>,
    /// The first convolutions of both heads, as one.
    planes: Conv,
    heads: Heads,
    value_out: Few,
}

struct Block {
    first: Conv,
    pooled: Option<(Conv, Dense)>,
    second: Conv,
    squeeze: Option<[Dense; 2]>,
}

/// From the planes of both heads to logits and the hidden layer of the value.
enum Heads {
    /// Both are dense: their first layers as one.
    Together(Dense),
    Apart {
        /// How many of the planes are the policy's.
        policy_planes: i64,
        policy: Policy,
        /// Whether `hidden` is of means.
        pooled: bool,
        hidden: Dense,
    },
}

/// From the planes of the policy head to logits.
enum Policy {
    Dense(Dense),
    Convolution { board: Few, pass: Few },
}

/// Outputs of a batch, as rows of f32.
pub(crate) struct Output {
    /// Probabilities, one row a position.
    pub(crate) policies: Tensor,
    /// Values for the side to move, one a position.
    pub(crate) values: Tensor,
}

impl Layers {
    /// Puts folded weights where they will be used.
    ///
    /// # Errors
    /// Numbers that are not finite once they are folded, or an error of libtorch.
    pub(crate) fn new(weights: &Weights, options: TensorOptions, batch: usize) -> Result<Layers, NetError> {
        let shape = weights.shape();
        let network = weights.description()?;
        let (policy, value) = (&network.policy, &network.value);
        let conv = |folded: &Convolution| Conv::new(folded, options, shape.size.side(), batch);
        let dense = |layer: &cpu::Dense| Dense::new(layer, options.device, batch);
        let few = |layer: &cpu::Dense| Few::new(layer, options.device);
        let pooled =
            |(unit, layer): &(Convolution, cpu::Dense)| -> Result<_, NetError> { Ok((conv(unit)?, dense(layer)?)) };
        let squeeze = |[hidden, out]: &[cpu::Dense; 2]| -> Result<_, NetError> { Ok([dense(hidden)?, dense(out)?]) };
        let block = |from: &cpu::Block| -> Result<Block, NetError> {
            Ok(Block {
                first: conv(&from.first)?,
                pooled: from.pooled.as_ref().map(pooled).transpose()?,
                second: conv(&from.second)?,
                squeeze: from.squeeze.as_ref().map(squeeze).transpose()?,
            })
        };
        let heads = match (&policy.head, value.pooled) {
            (cpu::PolicyHead::Dense(logits), false) => Heads::Together(dense(&together(logits, &value.hidden))?),
            (head, pooled) => Heads::Apart {
                policy_planes: policy.planes.outputs as i64,
                policy: match head {
                    cpu::PolicyHead::Dense(logits) => Policy::Dense(dense(logits)?),
                    cpu::PolicyHead::Convolution { board, pass } => {
                        Policy::Convolution { board: few(board)?, pass: few(pass)? }
                    }
                },
                pooled,
                hidden: dense(&value.hidden)?,
            },
        };
        Ok(Layers {
            options,
            size: shape.size,
            batch,
            inputs: shape.inputs,
            stem: conv(&network.stem)?,
            blocks: network.blocks.iter().map(block).collect::<Result<_, NetError>>()?,
            planes: conv(&beside(&policy.planes, &value.planes))?,
            heads,
            value_out: few(&value.out)?,
        })
    }

    /// A copy of the layers; the weights are shared.
    pub(crate) fn share(&self) -> Layers {
        Layers {
            stem: self.stem.share(),
            blocks: self.blocks.iter().map(Block::share).collect(),
            planes: self.planes.share(),
            heads: self.heads.share(),
            value_out: self.value_out.share(),
            ..*self
        }
    }

    /// Evaluates a batch, given as the planes of its positions one after the other.
    pub(crate) fn forward(&self, planes: &[u8]) -> Result<Output, NetError> {
        let side = self.size.side() as i64;
        let bytes = Tensor::f_from_slice(planes)?.f_to_device(self.options.device)?;
        let output = self.on_device(&bytes.f_view([-1, self.inputs.written() as i64, side, side])?)?;
        let home = |tensor: Tensor| tensor.f_to_device(tch::Device::Cpu);
        Ok(Output { policies: home(output.policies)?, values: home(output.values)? })
    }

    /// Evaluates a batch on the device, where its planes lie as bytes (rows, planes, side, side).
    pub(crate) fn on_device(&self, planes: &Tensor) -> Result<Output, NetError> {
        let planes = self.inputs.complete(planes.f_to_kind(self.options.kind)?)?;
        let input = to_fast(&self.stem.with_padding(&planes)?)?;
        let mut x = self.stem.forward_relu(&input)?;
        for block in &self.blocks {
            x = self.block(block, x)?;
        }
        let planes = to_plain(&self.planes.forward(&x)?)?.f_relu_()?;
        let (logits, hidden) = self.heads(&planes)?;
        let out = self.value_out.forward(&hidden.f_relu()?)?;
        let values = match out.size()[1] {
            1 => out.f_tanh()?.f_flatten(0, -1)?,
            _ => {
                let chances = out.f_softmax(-1, Kind::Float)?;
                chances.f_select(1, 0)? - chances.f_select(1, 2)?
            }
        };
        Ok(Output { policies: logits.f_softmax(-1, Kind::Float)?, values })
    }

    fn block(&self, block: &Block, x: Tensor) -> Result<Tensor, NetError> {
        let Block { first, pooled, second, squeeze } = block;
        let y = match pooled {
            None => first.forward_relu(&x)?,
            Some((conv, dense)) => {
                let seen = mean_and_maximum(&to_plain(&conv.forward_relu(&x)?)?)?;
                let added = to_fast(&self.spread(&self.rows_of(dense, &seen)?, self.options.kind)?)?;
                first.forward(&x)?.f_add_(&added)?.f_relu_()?
            }
        };
        let Some([hidden, out]) = squeeze else {
            return second.forward_add_relu(&y, &x);
        };
        let plain = to_plain(&second.forward(&y)?)?;
        let both = self.rows_of(out, &self.rows_of(hidden, &means(&plain)?)?.f_relu()?)?.f_chunk(2, 1)?;
        let scaled = plain * self.spread(&both[0].f_sigmoid()?, Kind::Float)?;
        let shifted = scaled + self.spread(&both[1], Kind::Float)?;
        Ok(to_fast(&shifted.f_to_kind(self.options.kind)?)?.f_add_(&x)?.f_relu_()?)
    }

    /// Logits, and the hidden layer of the value before its ReLU.
    fn heads(&self, planes: &Tensor) -> Result<(Tensor, Tensor), NetError> {
        let rows = |planes: &Tensor| planes.f_flatten(1, -1)?.f_contiguous();
        let moves = self.size.moves() as i64;
        let (policy_planes, policy, pooled, hidden) = match &self.heads {
            Heads::Together(dense) => {
                let both = self.rows_of(dense, &rows(planes)?)?;
                return Ok((both.f_narrow(1, 0, moves)?, both.f_narrow(1, moves, both.size()[1] - moves)?));
            }
            Heads::Apart { policy_planes, policy, pooled, hidden } => (*policy_planes, policy, *pooled, hidden),
        };
        let of_policy = planes.f_narrow(1, 0, policy_planes)?;
        let of_value = planes.f_narrow(1, policy_planes, planes.size()[1] - policy_planes)?;
        let logits = match policy {
            Policy::Dense(dense) => self.rows_of(dense, &rows(&of_policy)?)?,
            Policy::Convolution { board, pass } => {
                let points = of_policy.f_flatten(2, -1)?.f_transpose(1, 2)?.f_contiguous()?;
                let board = board.forward(&points.f_flatten(0, 1)?)?.f_view([planes.size()[0], -1])?;
                Tensor::f_cat(&[board, pass.forward(&mean_and_maximum(&of_policy)?)?], 1)?
            }
        };
        let seen = if pooled { means(&of_value)? } else { rows(&of_value)? };
        Ok((logits, self.rows_of(hidden, &seen)?))
    }

    /// A dense layer of some rows, each computed as in a whole batch; not on a GPU, where that does not make it the
    /// same.
    fn rows_of(&self, dense: &Dense, rows: &Tensor) -> Result<Tensor, NetError> {
        let count = rows.size()[0];
        if !dense.sees_the_batch() || count >= self.batch as i64 {
            return dense.forward(rows);
        }
        Ok(dense.forward(&self.whole(rows.shallow_clone())?)?.f_narrow(0, 0, count)?)
    }

    /// Numbers of channels as planes, all points of which have the same.
    fn spread(&self, numbers: &Tensor, kind: Kind) -> Result<Tensor, NetError> {
        let side = self.size.side() as i64;
        let [rows, channels] = [numbers.size()[0], numbers.size()[1]];
        let planes = numbers.f_to_kind(kind)?.f_unsqueeze(-1)?.f_unsqueeze(-1)?;
        Ok(planes.f_expand([rows, channels, side, side], false)?.f_contiguous()?)
    }

    /// With rows of zeros up to a whole batch: unlike convolutions, matrix products sum in another order for a row of a
    /// batch of another size.
    fn whole(&self, rows: Tensor) -> Result<Tensor, NetError> {
        match self.batch as i64 - rows.size()[0] {
            0 => Ok(rows),
            missing => Ok(rows.f_constant_pad_nd([0, 0, 0, missing])?),
        }
    }
}

impl PlaneEvaluator for Layers {
    /// On a CPU, convolutions take nearly all the time, and give a row the same bits in a batch of any size. So few
    /// positions use a smaller batch, of one of few sizes, because oneDNN prepares itself for each.
    fn rows(&self, positions: usize) -> usize {
        let step = (positions.next_power_of_two() / 4).max(1);
        positions.next_multiple_of(step).min(self.batch)
    }

    fn evaluate(&mut self, planes: &[u8], policies: &mut [f32], values: &mut [f32]) -> Result<(), NetError> {
        single();
        let output = self.forward(planes)?;
        // The first rows of the output; those that only fill the batch stay where they are.
        let copy = |tensor: &Tensor, to: &mut [f32]| tensor.f_copy_data(to, to.len());
        copy(&output.policies, policies)?;
        copy(&output.values, values)?;
        Ok(())
    }
}

impl Block {
    fn share(&self) -> Block {
        Block {
            first: self.first.share(),
            pooled: self.pooled.as_ref().map(|(conv, dense)| (conv.share(), dense.share())),
            second: self.second.share(),
            squeeze: self.squeeze.as_ref().map(|both| both.each_ref().map(Dense::share)),
        }
    }
}

impl Heads {
    fn share(&self) -> Heads {
        match self {
            Heads::Together(dense) => Heads::Together(dense.share()),
            Heads::Apart { policy_planes, policy, pooled, hidden } => {
                let (policy_planes, pooled) = (*policy_planes, *pooled);
                Heads::Apart { policy_planes, policy: policy.share(), pooled, hidden: hidden.share() }
            }
        }
    }
}

impl Policy {
    fn share(&self) -> Policy {
        match self {
            Policy::Dense(dense) => Policy::Dense(dense.share()),
            Policy::Convolution { board, pass } => Policy::Convolution { board: board.share(), pass: pass.share() },
        }
    }
}

/// Two convolutions of the same input as one, the outputs of `first` coming first.
fn beside(first: &Convolution, second: &Convolution) -> Convolution {
    Convolution {
        inputs: first.inputs,
        outputs: first.outputs + second.outputs,
        weight: [&first.weight[..], &second.weight].concat(),
        bias: [&first.bias[..], &second.bias].concat(),
    }
}

/// Two dense layers as one, whose input is that of `first` and after it that of `second`. It multiplies by zeros what
/// does not belong together, and is quicker on small boards for being one operation.
fn together(first: &cpu::Dense, second: &cpu::Dense) -> cpu::Dense {
    let inputs = |layer: &cpu::Dense| layer.weight.len() / layer.bias.len();
    let (before, after) = (vec![0.0; inputs(first)], vec![0.0; inputs(second)]);
    let first_rows = first.weight.chunks_exact(before.len()).map(|row| [row, &after].concat());
    let second_rows = second.weight.chunks_exact(after.len()).map(|row| [&before, row].concat());
    let weight = first_rows.chain(second_rows).flatten().collect();
    cpu::Dense { weight, bias: [&first.bias[..], &second.bias].concat() }
}

#[cfg(test)]
mod tests;
