//! The modules of a tower in training.

use cpu::{BlockSpec, PolicySpec, UnitTensors};
use tch::{Kind, Tensor};

use crate::NetError;
use crate::layout::{DenseSpec, TensorSpec, UnitSpec};
use crate::mode::Mode;
use crate::norm::{Norm, Statistics, constant};
use crate::tensor_options::TensorOptions;
use crate::unit::{self, After};

/// Where the parts of a tower find their tensors.
pub(crate) struct Tensors<'a> {
    pub(crate) all: &'a [(TensorSpec, Tensor)],
    pub(crate) options: TensorOptions,
}

/// A batch on its way through the tower.
pub(crate) struct Pass {
    mode: Mode,
    options: TensorOptions,
    /// Batch statistics of the norms, when training.
    pub(crate) statistics: Vec<Statistics>,
}

/// A convolution with its batch norm.
pub(crate) struct Unit {
    weight: Tensor,
    norm: Norm,
}

/// A layer with a bias.
pub(crate) struct Dense {
    weight: Tensor,
    bias: Tensor,
}

/// A residual block.
pub(crate) struct Block {
    first: Unit,
    pooled: Option<(Unit, Dense)>,
    second: Unit,
    squeeze: Option<[Dense; 2]>,
}

/// From the planes of the policy head to logits.
pub(crate) enum Policy {
    Dense(Dense),
    Convolution { board: Dense, pass: Dense },
}

impl Tensors<'_> {
    fn get(&self, spec: &TensorSpec) -> Tensor {
        match self.all.iter().find(|(found, _)| found.name == spec.name) {
            Some((_, tensor)) => tensor.shallow_clone(),
            None => panic!("a shape has a tensor for every layer, and no {}", spec.name),
        }
    }

    pub(crate) fn unit(&self, spec: &UnitSpec) -> Result<Unit, NetError> {
        let UnitTensors { weight, scale_and_shift, mean, variance } = spec.tensors();
        let constant = |value| constant(value, spec.outputs, self.options);
        let [scale, shift] = match scale_and_shift {
            Some(both) => both.map(|spec| self.get(&spec)),
            None => [constant(1.0)?, constant(0.0)?],
        };
        let norm = Norm { scale, shift, mean: self.get(&mean), variance: self.get(&variance) };
        Ok(Unit { weight: self.get(&weight), norm })
    }

    pub(crate) fn dense(&self, spec: &DenseSpec) -> Dense {
        let [weight, bias] = spec.tensors().map(|spec| self.get(&spec));
        Dense { weight, bias }
    }

    pub(crate) fn block(&self, spec: &BlockSpec) -> Result<Block, NetError> {
        let pooled = |(unit, dense): &(UnitSpec, DenseSpec)| -> Result<_, NetError> {
            Ok((self.unit(unit)?, self.dense(dense)))
        };
        let squeeze = |both: &[DenseSpec; 2]| both.each_ref().map(|layer| self.dense(layer));
        Ok(Block {
            first: self.unit(&spec.first)?,
            pooled: spec.pooled.as_ref().map(pooled).transpose()?,
            second: self.unit(&spec.second)?,
            squeeze: spec.squeeze.as_ref().map(squeeze),
        })
    }

    pub(crate) fn policy(&self, spec: &PolicySpec) -> Policy {
        match spec {
            PolicySpec::Dense(dense) => Policy::Dense(self.dense(dense)),
            PolicySpec::Convolution { board, pass } => {
                Policy::Convolution { board: self.dense(board), pass: self.dense(pass) }
            }
        }
    }
}

impl Pass {
    pub(crate) fn new(mode: Mode, options: TensorOptions) -> Pass {
        Pass { mode, options, statistics: Vec::new() }
    }

    fn norm(&mut self, norm: &Norm, x: &Tensor) -> Result<Tensor, NetError> {
        match self.mode {
            Mode::Playing => norm.play(x),
            Mode::Training => {
                let (y, seen) = norm.train(x)?;
                self.statistics.push(seen);
                Ok(y)
            }
        }
    }

    /// As the type of tensors that are not rounded.
    pub(crate) fn exact(&self, x: &Tensor) -> Result<Tensor, NetError> {
        Ok(x.f_to_kind(self.options.exact())?)
    }

    /// Numbers of channels, to be added to or multiplied with planes.
    fn planes_of(&self, x: &Tensor) -> Result<Tensor, NetError> {
        Ok(x.f_to_kind(self.options.kind)?.f_unsqueeze(-1)?.f_unsqueeze(-1)?)
    }
}

impl Unit {
    /// Kernels are kept as f32 and rounded for each use, so that small steps are not lost.
    pub(crate) fn forward(&self, x: &Tensor, after: After<'_>, pass: &mut Pass) -> Result<Tensor, NetError> {
        if pass.mode == Mode::Training && unit::is_supported(x, &self.weight) {
            let applied = unit::apply(x, &self.weight, [&self.norm.scale, &self.norm.shift], after)?;
            pass.statistics.push(Statistics::new(applied.mean, applied.variance, &applied.output));
            return Ok(applied.output);
        }
        let y = pass.norm(&self.norm, &convolve(x, &self.weight, None, pass.options.kind)?)?;
        match after {
            After::Nothing => Ok(y),
            After::Relu => Ok(y.f_relu()?),
            After::SumAndRelu(residual) => Ok(y.f_add(residual)?.f_relu()?),
        }
    }

    pub(crate) fn norm(&self) -> &Norm {
        &self.norm
    }
}

impl Dense {
    pub(crate) fn forward(&self, x: &Tensor) -> Result<Tensor, NetError> {
        Ok(x.f_linear(&self.weight, Some(&self.bias))?)
    }

    /// The same at every point of a plane, for a weight of four dimensions; one row a position.
    pub(crate) fn at_every_point(&self, x: &Tensor, pass: &Pass) -> Result<Tensor, NetError> {
        pass.exact(&convolve(x, &self.weight, Some(&self.bias), pass.options.kind)?.f_flatten(1, -1)?)
    }
}

impl Block {
    pub(crate) fn forward(&self, x: &Tensor, pass: &mut Pass) -> Result<Tensor, NetError> {
        let y = match &self.pooled {
            None => self.first.forward(x, After::Relu, pass)?,
            Some((unit, dense)) => {
                let y = self.first.forward(x, After::Nothing, pass)?;
                let seen = unit.forward(x, After::Relu, pass)?;
                // Not in place: the gradient of the unit needs its output.
                (y + pass.planes_of(&dense.forward(&mean_and_maximum(&pass.exact(&seen)?)?)?)?).f_relu()?
            }
        };
        let Some([hidden, out]) = &self.squeeze else {
            return self.second.forward(&y, After::SumAndRelu(x), pass);
        };
        let y = self.second.forward(&y, After::Nothing, pass)?;
        let mean = pass.exact(&y)?.f_mean_dim(&[2i64, 3][..], false, pass.options.exact())?;
        let both = out.forward(&hidden.forward(&mean)?.f_relu()?)?.f_chunk(2, 1)?;
        let y = y * pass.planes_of(&both[0].f_sigmoid()?)? + pass.planes_of(&both[1])?;
        Ok(y.f_add(x)?.f_relu()?)
    }

    /// Its batch norms, in the order in which a batch meets them.
    pub(crate) fn norms(&self) -> impl Iterator<Item = &Norm> {
        let pooled = self.pooled.iter().map(|(unit, _)| unit);
        [&self.first].into_iter().chain(pooled).chain([&self.second]).map(Unit::norm)
    }
}

impl Policy {
    /// Logits, one row a position, from planes after the ReLU.
    pub(crate) fn forward(&self, planes: &Tensor, pass: &Pass) -> Result<Tensor, NetError> {
        match self {
            Policy::Dense(dense) => dense.forward(&pass.exact(&planes.f_flatten(1, -1)?)?),
            Policy::Convolution { board, pass: dense } => {
                let pooled = mean_and_maximum(&pass.exact(planes)?)?;
                Ok(Tensor::f_cat(&[board.at_every_point(planes, pass)?, dense.forward(&pooled)?], 1)?)
            }
        }
    }
}

/// The mean of each plane, one row a position.
pub(crate) fn means(planes: &Tensor) -> Result<Tensor, NetError> {
    Ok(planes.f_flatten(2, -1)?.f_mean_dim(&[2i64][..], false, planes.kind())?)
}

/// The mean of each plane and then the maximum of each, one row a position.
pub(crate) fn mean_and_maximum(planes: &Tensor) -> Result<Tensor, NetError> {
    let points = planes.f_flatten(2, -1)?;
    Ok(Tensor::f_cat(&[means(planes)?, points.f_amax(&[2i64][..], false)?], 1)?)
}

fn convolve(x: &Tensor, weight: &Tensor, bias: Option<&Tensor>, kind: Kind) -> Result<Tensor, NetError> {
    let bias = bias.map(|bias| bias.f_to_kind(kind)).transpose()?;
    let padding = weight.size()[3] / 2;
    Ok(x.f_conv2d(&weight.f_to_kind(kind)?, bias.as_ref(), [1, 1], [padding, padding], [1, 1], 1)?)
}
