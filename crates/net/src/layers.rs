//! The tower as it is evaluated: convolutions with biases, in the layout that the device multiplies fastest.
//!
//! On a CPU activations and kernels are in oneDNN's own blocked layout (`to_mkldnn`), kernels reordered once at load. On
//! a machine with AVX512_BF16 that spends 97 % of the time in convolutions running at the speed of a bare matrix
//! product; fusing ReLU and sum into them gained nothing more, and channels-last was slower on narrow towers. On a GPU
//! channels-last is what tensor cores read.

use go::Size;
use tch::{Kind, Tensor};

use crate::fold::{Convolution, Matrix, beside, dense_layer, fold, heads};
use crate::{NetError, TurnPlanes, Weights, planes};

/// Where numbers are kept, and of which type.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    pub(crate) device: tch::Device,
    pub(crate) kind: Kind,
}

impl Place {
    /// The type of what is not rounded: weights, statistics and answers while learning.
    pub(crate) fn exact(self) -> Kind {
        if self.kind == Kind::Double { Kind::Double } else { Kind::Float }
    }
}

/// A network that is ready to evaluate batches, fastest those of one size.
pub(crate) struct Layers {
    place: Place,
    size: Size,
    batch: usize,
    turn_planes: TurnPlanes,
    stem: Conv,
    blocks: Vec<[Conv; 2]>,
    /// The first convolutions of both heads, as one.
    heads: Conv,
    /// The first dense layers of both heads, as one: logits, and the hidden layer of the value.
    dense: Dense,
    value_out: Dense,
}

struct Conv {
    weight: Tensor,
    bias: Tensor,
    padding: i64,
}

struct Dense {
    weight: Tensor,
    bias: Tensor,
}

/// Answers to a batch, as rows of f32 on the CPU.
pub(crate) struct Output {
    /// Probabilities, one row a position.
    pub(crate) policies: Tensor,
    /// Values for the side to move, one a position.
    pub(crate) values: Tensor,
}

impl Layers {
    /// Puts folded weights where they will be used.
    pub(crate) fn new(weights: &Weights, place: Place, batch: usize) -> Result<Layers, NetError> {
        let shape = weights.shape();
        let mut units = shape.units().into_iter();
        let mut next = || fold(weights, &units.next().expect("a shape has a unit for every convolution"));
        let conv = |folded: Convolution| Conv::new(folded, place, shape.size, batch);
        let dense = |matrix: Matrix| Dense::new(&matrix, place.device);
        Ok(Layers {
            place,
            size: shape.size,
            batch,
            turn_planes: shape.turn_planes,
            stem: conv(next())?,
            blocks: (0..shape.blocks).map(|_| Ok([conv(next())?, conv(next())?])).collect::<Result<_, NetError>>()?,
            heads: conv(beside(next(), next()))?,
            dense: dense(heads(dense_layer(weights, "policy.dense"), dense_layer(weights, "value.hidden")))?,
            value_out: dense(dense_layer(weights, "value.out"))?,
        })
    }

    /// The same layers once more; the weights are shared.
    pub(crate) fn share(&self) -> Layers {
        Layers {
            stem: self.stem.share(),
            blocks: self.blocks.iter().map(|block| block.each_ref().map(Conv::share)).collect(),
            heads: self.heads.share(),
            dense: self.dense.share(),
            value_out: self.value_out.share(),
            ..*self
        }
    }

    /// Positions in a batch of the size that kernels are laid out for.
    pub(crate) fn batch(&self) -> usize {
        self.batch
    }

    /// How many rows it takes to evaluate so many positions, of a batch at most.
    ///
    /// On a CPU convolutions, which take nearly all the time, answer a row the same bit for bit in a batch of any size, so
    /// a smaller one does for few positions; the sizes are few, because oneDNN prepares itself for each. On a GPU the size
    /// decides which kernel computes a row, and it is always the whole batch.
    pub(crate) fn rows(&self, positions: usize) -> usize {
        if self.place.device.is_cuda() {
            return self.batch;
        }
        let step = (positions.next_power_of_two() / 4).max(1);
        positions.next_multiple_of(step).min(self.batch)
    }

    /// Evaluates a batch, given as the planes of its positions one after the other.
    pub(crate) fn forward(&self, planes: &[u8]) -> Result<Output, NetError> {
        let mut x = self.stem.forward(&self.input(planes)?)?.f_relu_()?;
        for [first, second] in &self.blocks {
            let y = first.forward(&x)?.f_relu_()?;
            x = second.forward(&y)?.f_add_(&x)?.f_relu_()?;
        }
        let heads = to_plain(&self.heads.forward(&x)?)?.f_relu_()?.f_flatten(1, -1)?;
        let heads = self.whole(heads)?;
        let both = self.dense.forward(&heads)?;
        let moves = self.size.moves() as i64;
        let policies = both.f_narrow(1, 0, moves)?.f_softmax(-1, Kind::Float)?;
        let hidden = both.f_narrow(1, moves, both.size()[1] - moves)?.f_relu()?;
        let values = self.value_out.single(&hidden)?.f_tanh_()?;
        let home = |tensor: Tensor| tensor.f_to_device(tch::Device::Cpu);
        Ok(Output { policies: home(policies)?, values: home(values)? })
    }

    /// With rows of zeros up to a whole batch: unlike convolutions, matrix products sum in another order for a row of a
    /// batch of another size.
    fn whole(&self, rows: Tensor) -> Result<Tensor, NetError> {
        match self.batch as i64 - rows.size()[0] {
            0 => Ok(rows),
            missing => Ok(rows.f_constant_pad_nd([0, 0, 0, missing])?),
        }
    }

    fn input(&self, planes: &[u8]) -> Result<Tensor, NetError> {
        let side = self.size.side() as i64;
        let bytes = Tensor::f_from_slice(planes)?.f_to_device(self.place.device)?;
        let x = bytes.f_view([-1, planes::COUNT as i64, side, side])?.f_to_kind(self.place.kind)?;
        to_fast(&self.turn_planes.complete(x)?)
    }
}

/// Into the layout that the tensor's device likes best.
fn to_fast(x: &Tensor) -> Result<Tensor, NetError> {
    if x.device().is_cuda() { channels_last(x) } else { Ok(x.f_to_mkldnn(x.kind())?) }
}

/// Into plain rows of f32.
fn to_plain(x: &Tensor) -> Result<Tensor, NetError> {
    let x = if x.is_mkldnn() { x.f_to_dense(None, false)? } else { x.f_contiguous()? };
    Ok(x.f_to_kind(Kind::Float)?)
}

/// The same numbers with those of one point side by side in memory.
pub(crate) fn channels_last(x: &Tensor) -> Result<Tensor, NetError> {
    Ok(x.f_permute([0, 2, 3, 1])?.f_contiguous()?.f_permute([0, 3, 1, 2])?)
}

impl Conv {
    fn new(folded: Convolution, place: Place, size: Size, batch: usize) -> Result<Conv, NetError> {
        let dimensions = folded.dimensions.map(|n| n as i64);
        let [_, inputs, kernel, _] = dimensions;
        let padding = kernel / 2;
        let weight = Tensor::f_from_slice(&folded.weight)?.f_view(dimensions)?;
        let weight = to_fast(&weight.f_to_device(place.device)?.f_to_kind(place.kind)?)?;
        let bias = Tensor::f_from_slice(&folded.bias)?.f_to_device(place.device)?.f_to_kind(place.kind)?;
        if place.device.is_cuda() {
            return Ok(Conv { weight, bias, padding });
        }
        let side = size.side() as i64;
        let input = [batch as i64, inputs, side, side];
        let (pad, one) = ([padding, padding], [1, 1]);
        let weight = weight.f_mkldnn_reorder_conv2d_weight(pad, one, one, 1, Some(&input[..]))?;
        Ok(Conv { weight, bias: bias.f_to_mkldnn(place.kind)?, padding })
    }

    fn share(&self) -> Conv {
        Conv { weight: self.weight.shallow_clone(), bias: self.bias.shallow_clone(), padding: self.padding }
    }

    fn forward(&self, x: &Tensor) -> Result<Tensor, NetError> {
        let (pad, one) = ([self.padding, self.padding], [1, 1]);
        Ok(x.f_conv2d(&self.weight, Some(&self.bias), one, pad, one, 1)?)
    }
}

impl Dense {
    fn new(matrix: &Matrix, device: tch::Device) -> Result<Dense, NetError> {
        let bias = Tensor::f_from_slice(&matrix.bias)?.f_to_device(device)?;
        let weight = Tensor::f_from_slice(&matrix.weight)?.f_view([bias.size()[0], -1])?.f_to_device(device)?;
        Ok(Dense { weight, bias })
    }

    fn share(&self) -> Dense {
        Dense { weight: self.weight.shallow_clone(), bias: self.bias.shallow_clone() }
    }

    /// On a CPU by oneDNN, for `linear` is MKL's: it sums a row in another order when the row is one of the last few of
    /// a batch that is no multiple of four, and the answer would depend on the place.
    fn forward(&self, x: &Tensor) -> Result<Tensor, NetError> {
        if x.device().is_cuda() {
            return Ok(x.f_linear(&self.weight, Some(&self.bias))?);
        }
        let x = x.f_to_mkldnn(Kind::Float)?;
        Ok(x.f_mkldnn_linear(&self.weight, Some(&self.bias))?.f_to_dense(None, false)?)
    }

    /// The only output of a layer that has one: a sum of products, for which a matrix product is too much ado.
    fn single(&self, x: &Tensor) -> Result<Tensor, NetError> {
        Ok((x * &self.weight).f_sum_dim_intlist(-1, false, Kind::Float)?.f_add_(&self.bias)?)
    }
}
