//! The tower as it is trained: batch norms in place, gradients on.

use config::ValueHead;
use tch::{Kind, Tensor};

use crate::flat::{Arrangement, Flat, Format};
use crate::layers::channels_last;
use crate::layout::{DenseSpec, TensorSpec};
use crate::mode::Mode;
use crate::modules::{Block, Dense, Pass, Policy, Tensors, Unit, means};
use crate::norm::{Norm, Statistics};
use crate::shape::Shape;
use crate::tensor_options::TensorOptions;
use crate::unit::After;
use crate::{NetError, Weights};

/// A network whose tensors can be trained.
pub(crate) struct Tower {
    shape: Shape,
    options: TensorOptions,
    format: Format,
    /// Every tensor; the parts below hold other handles to the same numbers.
    tensors: Vec<(TensorSpec, Tensor)>,
    arrangement: Arrangement,
    /// The trained ones of them, as they are arranged.
    trained: Flat,
    stem: Unit,
    blocks: Vec<Block>,
    policy_planes: Unit,
    policy: Policy,
    opponent_policy: Option<Policy>,
    value_planes: Unit,
    value_hidden: Dense,
    value_out: Dense,
    score: Option<Dense>,
    ownership: Option<Dense>,
}

/// Output of the tower for a batch.
pub(crate) struct TowerOutput {
    /// Logarithms of probabilities up to a constant, one row a position.
    pub(crate) logits: Tensor,
    /// Values for the side to move, one a position.
    pub(crate) values: Tensor,
    /// Logits of its winning, drawing and losing, one row a position, where the value comes of these.
    pub(crate) value_logits: Option<Tensor>,
    /// As `logits`, of the opponent's next move, if the network has the head.
    pub(crate) opponent_policy: Option<Tensor>,
    /// Logits of the points' being the mover's in the end, one row a position, if the network has the head.
    pub(crate) ownership: Option<Tensor>,
    /// The mover's margin in points by the side of the board, one a position, if the network has the head.
    pub(crate) scores: Option<Tensor>,
    /// Batch statistics of the norms, from the input on, when training.
    pub(crate) statistics: Vec<Statistics>,
}

impl Tower {
    pub(crate) fn new(weights: &Weights, options: TensorOptions, format: Format) -> Result<Tower, NetError> {
        let shape = weights.shape();
        let load = |spec: TensorSpec| load(weights, &spec, options, format).map(|tensor| (spec, tensor));
        let mut tensors = shape.tensors().into_iter().map(load).collect::<Result<Vec<_>, NetError>>()?;
        let arrangement = Arrangement::new(tensors.iter().map(|(spec, _)| spec), format);
        let trained = tensors.iter_mut().filter(|(spec, _)| spec.role.is_trainable());
        let loaded: Vec<Tensor> = trained.map(|(_, tensor)| tensor.shallow_clone()).collect();
        let flat = arrangement.flat(&loaded)?;
        let trained = tensors.iter_mut().filter(|(spec, _)| spec.role.is_trainable());
        for ((_, tensor), of_flat) in trained.zip(flat.iter()) {
            *tensor = of_flat.f_set_requires_grad(true)?;
        }
        Tower::assemble(shape, options, format, tensors, arrangement, flat)
    }

    /// A copy of the tower for another thread; it shares the tensors.
    pub(crate) fn share(&self) -> Tower {
        let tensors = self.tensors.iter().map(|(spec, tensor)| (spec.clone(), tensor.shallow_clone()));
        let (arrangement, trained) = (self.arrangement.clone(), self.trained.share());
        Tower::assemble(self.shape, self.options, self.format, tensors.collect(), arrangement, trained)
            .expect("the same tensors made a tower before")
    }

    fn assemble(
        shape: Shape,
        options: TensorOptions,
        format: Format,
        tensors: Vec<(TensorSpec, Tensor)>,
        arrangement: Arrangement,
        trained: Flat,
    ) -> Result<Tower, NetError> {
        let (parts, layout) = (Tensors { all: &tensors, options }, shape.layout());
        let dense = |layer: &DenseSpec| parts.dense(layer);
        Ok(Tower {
            shape,
            options,
            format,
            stem: parts.unit(&layout.stem)?,
            blocks: layout.blocks.iter().map(|block| parts.block(block)).collect::<Result<_, NetError>>()?,
            policy_planes: parts.unit(&layout.policy)?,
            policy: parts.policy(&layout.policy_head),
            opponent_policy: layout.opponent_policy.as_ref().map(|head| parts.policy(head)),
            value_planes: parts.unit(&layout.value)?,
            value_hidden: dense(&layout.value_hidden),
            value_out: dense(&layout.value_out),
            score: layout.score.as_ref().map(dense),
            ownership: layout.ownership.as_ref().map(dense),
            tensors,
            arrangement,
            trained,
        })
    }

    pub(crate) fn shape(&self) -> Shape {
        self.shape
    }

    pub(crate) fn options(&self) -> TensorOptions {
        self.options
    }

    pub(crate) fn device(&self) -> tch::Device {
        self.options.device
    }

    /// The tensors that the gradient changes.
    pub(crate) fn trainable(&self) -> impl Iterator<Item = &(TensorSpec, Tensor)> {
        self.tensors.iter().filter(|(spec, _)| spec.role.is_trainable())
    }

    /// How tensors like those are arranged.
    pub(crate) fn arrangement(&self) -> &Arrangement {
        &self.arrangement
    }

    /// Their numbers as arranged, a change of which changes them; without a gradient.
    pub(crate) fn trained(&self) -> &Flat {
        &self.trained
    }

    /// The present weights.
    pub(crate) fn weights(&self) -> Result<Weights, NetError> {
        let numbers = |(spec, tensor): &(TensorSpec, Tensor)| Ok((spec.name.clone(), numbers(tensor)?));
        Weights::assemble(self.shape, self.tensors.iter().map(numbers).collect::<Result<_, NetError>>()?)
    }

    /// Evaluates a batch, given as the planes of its positions one after the other.
    pub(crate) fn forward(&self, planes: &[u8], mode: Mode) -> Result<TowerOutput, NetError> {
        self.forward_there(&self.options.upload(planes)?, mode)
    }

    /// Evaluates a batch whose planes are on the device, by [`TensorOptions::upload`].
    pub(crate) fn forward_there(&self, planes: &Tensor, mode: Mode) -> Result<TowerOutput, NetError> {
        let mut pass = Pass::new(mode, self.options);
        let mut x = self.stem.forward(&self.input(planes)?, After::Relu, &mut pass)?;
        for block in &self.blocks {
            x = block.forward(&x, &mut pass)?;
        }
        let policy = self.policy_planes.forward(&x, After::Relu, &mut pass)?;
        let value = self.value_planes.forward(&x, After::Relu, &mut pass)?;
        let value = pass.exact(&value)?;
        let value = if self.shape.value_pooled { means(&value)? } else { value.f_flatten(1, -1)? };
        let hidden = self.value_hidden.forward(&value)?.f_relu()?;
        let (values, value_logits) = self.values(self.value_out.forward(&hidden)?)?;
        let opponent_policy = |head: &Policy| head.forward(&policy, &pass);
        let ownership = |layer: &Dense| layer.at_every_point(&x, &pass);
        let score = |layer: &Dense| -> Result<Tensor, NetError> { Ok(layer.forward(&hidden)?.f_flatten(0, -1)?) };
        Ok(TowerOutput {
            logits: self.policy.forward(&policy, &pass)?,
            values,
            value_logits,
            opponent_policy: self.opponent_policy.as_ref().map(opponent_policy).transpose()?,
            ownership: self.ownership.as_ref().map(ownership).transpose()?,
            scores: self.score.as_ref().map(score).transpose()?,
            statistics: pass.statistics,
        })
    }

    /// Values, and the logits that they come of if they are three.
    fn values(&self, out: Tensor) -> Result<(Tensor, Option<Tensor>), NetError> {
        match self.shape.value_head {
            ValueHead::Tanh => Ok((out.f_tanh()?.f_flatten(0, -1)?, None)),
            ValueHead::WinDrawLoss => {
                let chances = out.f_softmax(-1, out.kind())?;
                Ok((chances.f_select(1, 0)? - chances.f_select(1, 2)?, Some(out)))
            }
        }
    }

    /// Updates the running statistics by a batch, given by the statistics of each of its parts.
    pub(crate) fn follow(&self, parts: &[Vec<Statistics>]) -> Result<(), NetError> {
        self.norms(parts, Norm::follow)
    }

    /// Sets the running statistics to those of some positions, given by the statistics of their parts.
    pub(crate) fn become_those(&self, parts: &[Vec<Statistics>]) -> Result<(), NetError> {
        self.norms(parts, Norm::become_those)
    }

    fn norms(
        &self,
        parts: &[Vec<Statistics>],
        change: fn(&Norm, &[&Statistics]) -> Result<(), NetError>,
    ) -> Result<(), NetError> {
        let blocks = self.blocks.iter().flat_map(Block::norms);
        let heads = [&self.policy_planes, &self.value_planes].map(Unit::norm);
        for (i, norm) in [self.stem.norm()].into_iter().chain(blocks).chain(heads).enumerate() {
            change(norm, &parts.iter().map(|part| &part[i]).collect::<Vec<_>>())?;
        }
        Ok(())
    }

    fn input(&self, planes: &Tensor) -> Result<Tensor, NetError> {
        let side = self.shape.size.side() as i64;
        let x = planes.f_view([-1, self.shape.inputs.written() as i64, side, side])?.f_to_kind(self.options.kind)?;
        let x = self.shape.inputs.complete(x)?;
        match self.format {
            Format::Planes => Ok(x),
            Format::Points => channels_last(&x),
        }
    }
}

fn load(weights: &Weights, spec: &TensorSpec, at: TensorOptions, format: Format) -> Result<Tensor, NetError> {
    let numbers = weights.tensor(&spec.name).expect("weights of a shape have every tensor of it");
    tensor_of(numbers, spec, at, format)
}

/// Numbers as a tensor in the layout of the tower's own.
pub(crate) fn tensor_of(
    numbers: &[f32],
    spec: &TensorSpec,
    at: TensorOptions,
    format: Format,
) -> Result<Tensor, NetError> {
    let dimensions: Vec<i64> = spec.dimensions.iter().map(|&n| n as i64).collect();
    let tensor = Tensor::f_from_slice(numbers)?.f_view(dimensions.as_slice())?;
    let tensor = tensor.f_to_device(at.device)?.f_to_kind(at.exact())?;
    if format == Format::Points && dimensions.len() == 4 { channels_last(&tensor) } else { Ok(tensor) }
}

/// The numbers of a tensor, rows of the last dimension following each other.
pub(crate) fn numbers(tensor: &Tensor) -> Result<Vec<f32>, NetError> {
    let plain = tensor.f_detach()?.f_to_device(tch::Device::Cpu)?.f_to_kind(Kind::Float)?.f_contiguous()?;
    let mut numbers = vec![0.0; plain.numel()];
    plain.f_copy_data(&mut numbers, plain.numel())?;
    Ok(numbers)
}
