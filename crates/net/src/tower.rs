//! The tower as it is trained: batch norms in place, gradients on.

use tch::{Kind, Tensor};

use crate::layers::{Place, channels_last};
use crate::norm::{Norm, Statistics, constant};
use crate::shape::{Shape, TensorSpec};
use crate::{NetError, Weights, planes};

/// How the numbers of an activation follow each other in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    /// Plane after plane: libtorch's default.
    Planes,
    /// Point after point, a quarter faster to train with on a CPU.
    Points,
}

/// A network whose tensors can be trained.
pub(crate) struct Tower {
    shape: Shape,
    place: Place,
    format: Format,
    /// Every tensor; the layers below hold other handles to the same numbers.
    tensors: Vec<(TensorSpec, Tensor)>,
    stem: Unit,
    blocks: Vec<[Unit; 2]>,
    policy: Unit,
    policy_dense: Dense,
    value: Unit,
    value_hidden: Dense,
    value_out: Dense,
    score: Option<Dense>,
    ownership: Option<Dense>,
}

/// A convolution and its batch norm.
struct Unit {
    weight: Tensor,
    norm: Norm,
}

struct Dense {
    weight: Tensor,
    bias: Tensor,
}

/// What the tower says of a batch.
pub(crate) struct Answers {
    /// Logarithms of probabilities up to a constant, one row a position.
    pub(crate) logits: Tensor,
    /// Values for the side to move, one a position.
    pub(crate) values: Tensor,
    /// Logits of the points' being the mover's in the end, one row a position, where the network learns them.
    pub(crate) ownership: Option<Tensor>,
    /// The mover's margin in points by the side of the board, one a position, where the network learns it.
    pub(crate) scores: Option<Tensor>,
    /// What the batch norms have seen, from the input on, when training.
    pub(crate) statistics: Vec<Statistics>,
}

/// Where batch norms take their statistics from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    /// From the batch itself.
    Training,
    /// From the running ones.
    Playing,
}

impl Tower {
    pub(crate) fn new(weights: &Weights, place: Place, format: Format) -> Result<Tower, NetError> {
        let shape = weights.shape();
        let load = |spec: TensorSpec| load(weights, &spec, place, format).map(|tensor| (spec, tensor));
        Tower::assemble(shape, place, format, shape.tensors().into_iter().map(load).collect::<Result<_, NetError>>()?)
    }

    /// The same tower once more, for another thread: the tensors are the same.
    pub(crate) fn share(&self) -> Tower {
        let tensors = self.tensors.iter().map(|(spec, tensor)| (spec.clone(), tensor.shallow_clone()));
        Tower::assemble(self.shape, self.place, self.format, tensors.collect()).expect("it could be made before")
    }

    fn assemble(
        shape: Shape,
        place: Place,
        format: Format,
        tensors: Vec<(TensorSpec, Tensor)>,
    ) -> Result<Tower, NetError> {
        let find = |name: String| {
            let found = tensors.iter().find(|(spec, _)| spec.name == name);
            found.map(|(_, tensor)| tensor.shallow_clone())
        };
        let get = |name: String| find(name).expect("a shape has a tensor for every layer");
        let unit = |name: &str| -> Result<Unit, NetError> {
            let weight = get(format!("{name}.conv.weight"));
            let channels = weight.size()[0] as usize;
            let or_constant = |found: Option<Tensor>, value| match found {
                Some(tensor) => Ok(tensor),
                None => constant(value, channels, place),
            };
            let norm = Norm {
                scale: or_constant(find(format!("{name}.norm.weight")), 1.0)?,
                shift: or_constant(find(format!("{name}.norm.bias")), 0.0)?,
                mean: get(format!("{name}.norm.running_mean")),
                variance: get(format!("{name}.norm.running_var")),
            };
            Ok(Unit { weight, norm })
        };
        let dense = |name: &str| Dense { weight: get(format!("{name}.weight")), bias: get(format!("{name}.bias")) };
        let block = |i| Ok([unit(&format!("blocks.{i}.first"))?, unit(&format!("blocks.{i}.second"))?]);
        Ok(Tower {
            shape,
            place,
            format,
            stem: unit("stem")?,
            blocks: (0..shape.blocks).map(block).collect::<Result<_, NetError>>()?,
            policy: unit("policy")?,
            policy_dense: dense("policy.dense"),
            value: unit("value")?,
            value_hidden: dense("value.hidden"),
            value_out: dense("value.out"),
            score: shape.score.then(|| dense("value.score")),
            ownership: shape.ownership.then(|| dense("ownership.conv")),
            tensors,
        })
    }

    pub(crate) fn shape(&self) -> Shape {
        self.shape
    }

    pub(crate) fn place(&self) -> Place {
        self.place
    }

    pub(crate) fn device(&self) -> tch::Device {
        self.place.device
    }

    /// The tensors that the gradient changes.
    pub(crate) fn learned(&self) -> impl Iterator<Item = &(TensorSpec, Tensor)> {
        self.tensors.iter().filter(|(spec, _)| spec.role.is_learned())
    }

    /// The present weights.
    pub(crate) fn weights(&self) -> Result<Weights, NetError> {
        let numbers = |(spec, tensor): &(TensorSpec, Tensor)| Ok((spec.name.clone(), numbers(tensor)?));
        Weights::assemble(self.shape, self.tensors.iter().map(numbers).collect::<Result<_, NetError>>()?)
    }

    /// Answers a batch, given as the planes of its positions one after the other.
    pub(crate) fn forward(&self, planes: &[u8], mode: Mode) -> Result<Answers, NetError> {
        let mut statistics = Vec::new();
        let mut unit = |unit: &Unit, x: &Tensor| unit.forward(x, mode, self.place.kind, &mut statistics);
        let mut x = unit(&self.stem, &self.input(planes)?)?.f_relu()?;
        for [first, second] in &self.blocks {
            let y = unit(first, &x)?.f_relu()?;
            x = unit(second, &y)?.f_add(&x)?.f_relu()?;
        }
        let rows = |x: Tensor| x.f_relu()?.f_flatten(1, -1)?.f_to_kind(self.place.exact());
        let policy = rows(unit(&self.policy, &x)?)?;
        let value = rows(unit(&self.value, &x)?)?;
        let hidden = self.value_hidden.forward(&value)?.f_relu()?;
        let ownership = |layer: &Dense| -> Result<Tensor, NetError> {
            Ok(layer.convolve(&x, self.place.kind)?.f_flatten(1, -1)?.f_to_kind(self.place.exact())?)
        };
        let score = |layer: &Dense| -> Result<Tensor, NetError> { Ok(layer.forward(&hidden)?.f_flatten(0, -1)?) };
        Ok(Answers {
            logits: self.policy_dense.forward(&policy)?,
            values: self.value_out.forward(&hidden)?.f_tanh()?.f_flatten(0, -1)?,
            ownership: self.ownership.as_ref().map(ownership).transpose()?,
            scores: self.score.as_ref().map(score).transpose()?,
            statistics,
        })
    }

    /// Lets the running statistics follow a batch, given by what the norms have seen of each of its parts.
    pub(crate) fn follow(&self, parts: &[Vec<Statistics>]) -> Result<(), NetError> {
        self.norms(parts, Norm::follow)
    }

    /// Makes the running statistics those of some positions, given by what the norms have seen of their parts.
    pub(crate) fn become_those(&self, parts: &[Vec<Statistics>]) -> Result<(), NetError> {
        self.norms(parts, Norm::become_those)
    }

    fn norms(
        &self,
        parts: &[Vec<Statistics>],
        change: fn(&Norm, &[&Statistics]) -> Result<(), NetError>,
    ) -> Result<(), NetError> {
        let units = [&self.stem].into_iter().chain(self.blocks.iter().flatten()).chain([&self.policy, &self.value]);
        for (i, unit) in units.enumerate() {
            change(&unit.norm, &parts.iter().map(|part| &part[i]).collect::<Vec<_>>())?;
        }
        Ok(())
    }

    fn input(&self, planes: &[u8]) -> Result<Tensor, NetError> {
        let side = self.shape.size.side() as i64;
        let bytes = Tensor::f_from_slice(planes)?.f_to_device(self.place.device)?;
        let x = bytes.f_view([-1, planes::COUNT as i64, side, side])?.f_to_kind(self.place.kind)?;
        let x = self.shape.turn_planes.complete(x)?;
        match self.format {
            Format::Planes => Ok(x),
            Format::Points => channels_last(&x),
        }
    }
}

fn load(weights: &Weights, spec: &TensorSpec, at: Place, format: Format) -> Result<Tensor, NetError> {
    let numbers = weights.tensor(&spec.name).expect("weights of a shape have every tensor of it");
    let tensor = place(numbers, spec, at, format)?;
    Ok(tensor.f_set_requires_grad(spec.role.is_learned())?)
}

/// Numbers as a tensor in the layout of the tower's own.
pub(crate) fn place(numbers: &[f32], spec: &TensorSpec, at: Place, format: Format) -> Result<Tensor, NetError> {
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

impl Unit {
    /// Kernels are kept as f32 and rounded for each use, so that small steps are not lost.
    fn forward(
        &self,
        x: &Tensor,
        mode: Mode,
        kind: Kind,
        statistics: &mut Vec<Statistics>,
    ) -> Result<Tensor, NetError> {
        let weight = self.weight.f_to_kind(kind)?;
        let padding = weight.size()[3] / 2;
        let y = x.f_conv2d::<Tensor>(&weight, None, [1, 1], [padding, padding], [1, 1], 1)?;
        match mode {
            Mode::Playing => self.norm.play(&y),
            Mode::Training => {
                let (y, seen) = self.norm.train(&y)?;
                statistics.push(seen);
                Ok(y)
            }
        }
    }
}

impl Dense {
    fn forward(&self, x: &Tensor) -> Result<Tensor, NetError> {
        Ok(x.f_linear(&self.weight, Some(&self.bias))?)
    }

    /// The same at every point of a plane, for a weight of four dimensions.
    fn convolve(&self, x: &Tensor, kind: Kind) -> Result<Tensor, NetError> {
        let (weight, bias) = (self.weight.f_to_kind(kind)?, self.bias.f_to_kind(kind)?);
        Ok(x.f_conv2d::<Tensor>(&weight, Some(bias), [1, 1], [0, 0], [1, 1], 1)?)
    }
}
