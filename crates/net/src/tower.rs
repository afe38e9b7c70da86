//! The tower as it is trained: batch norms in place, gradients on.

use tch::{Kind, Tensor};

use crate::fold::EPSILON;
use crate::layers::{Place, channels_last};
use crate::shape::{Shape, TensorSpec};
use crate::{NetError, Weights, planes};

/// How fast running statistics follow the batches: 5 % a batch. Minigo's decay of 0.95, which it found better than
/// 0.997, is this number counted from the other end.
const MOMENTUM: f64 = 0.05;

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
}

/// A convolution and its batch norm.
struct Unit {
    weight: Tensor,
    /// Scale and shift of the norm, where it learns them.
    scale: Option<(Tensor, Tensor)>,
    mean: Tensor,
    variance: Tensor,
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
}

/// Where batch norms take their statistics from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    /// From the batch, which the running ones follow.
    Training,
    /// From the running ones.
    Playing,
}

impl Tower {
    pub(crate) fn new(weights: &Weights, place: Place, format: Format) -> Result<Tower, NetError> {
        let shape = weights.shape();
        let load = |spec: TensorSpec| load(weights, &spec, place.device, format).map(|tensor| (spec, tensor));
        let tensors: Vec<(TensorSpec, Tensor)> =
            shape.tensors().into_iter().map(load).collect::<Result<_, NetError>>()?;
        let find = |name: String| {
            let found = tensors.iter().find(|(spec, _)| spec.name == name);
            found.map(|(_, tensor)| tensor.shallow_clone())
        };
        let get = |name: String| find(name).expect("a shape has a tensor for every layer");
        let unit = |name: &str| Unit {
            weight: get(format!("{name}.conv.weight")),
            scale: find(format!("{name}.norm.weight")).zip(find(format!("{name}.norm.bias"))),
            mean: get(format!("{name}.norm.running_mean")),
            variance: get(format!("{name}.norm.running_var")),
        };
        let dense = |name: &str| Dense { weight: get(format!("{name}.weight")), bias: get(format!("{name}.bias")) };
        let block = |i| [unit(&format!("blocks.{i}.first")), unit(&format!("blocks.{i}.second"))];
        Ok(Tower {
            shape,
            place,
            format,
            stem: unit("stem"),
            blocks: (0..shape.blocks).map(block).collect(),
            policy: unit("policy"),
            policy_dense: dense("policy.dense"),
            value: unit("value"),
            value_hidden: dense("value.hidden"),
            value_out: dense("value.out"),
            tensors,
        })
    }

    pub(crate) fn shape(&self) -> Shape {
        self.shape
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
        let unit = |unit: &Unit, x: &Tensor| unit.forward(x, mode, self.place.kind);
        let mut x = unit(&self.stem, &self.input(planes)?)?.f_relu()?;
        for [first, second] in &self.blocks {
            let y = unit(first, &x)?.f_relu()?;
            x = unit(second, &y)?.f_add(&x)?.f_relu()?;
        }
        let rows = |x: Tensor| x.f_relu()?.f_flatten(1, -1)?.f_to_kind(Kind::Float);
        let policy = rows(unit(&self.policy, &x)?)?;
        let value = rows(unit(&self.value, &x)?)?;
        let hidden = self.value_hidden.forward(&value)?.f_relu()?;
        Ok(Answers {
            logits: self.policy_dense.forward(&policy)?,
            values: self.value_out.forward(&hidden)?.f_tanh()?.f_flatten(0, -1)?,
        })
    }

    fn input(&self, planes: &[u8]) -> Result<Tensor, NetError> {
        let side = self.shape.size.side() as i64;
        let bytes = Tensor::f_from_slice(planes)?.f_to_device(self.place.device)?;
        let x = bytes.f_view([-1, planes::COUNT as i64, side, side])?.f_to_kind(self.place.kind)?;
        match self.format {
            Format::Planes => Ok(x),
            Format::Points => channels_last(&x),
        }
    }
}

fn load(weights: &Weights, spec: &TensorSpec, device: tch::Device, format: Format) -> Result<Tensor, NetError> {
    let numbers = weights.tensor(&spec.name).expect("weights of a shape have every tensor of it");
    let tensor = place(numbers, spec, device, format)?;
    Ok(tensor.f_set_requires_grad(spec.role.is_learned())?)
}

/// Numbers as a tensor in the layout of the tower's own.
pub(crate) fn place(
    numbers: &[f32],
    spec: &TensorSpec,
    device: tch::Device,
    format: Format,
) -> Result<Tensor, NetError> {
    let dimensions: Vec<i64> = spec.dimensions.iter().map(|&n| n as i64).collect();
    let tensor = Tensor::f_from_slice(numbers)?.f_view(dimensions.as_slice())?.f_to_device(device)?;
    if format == Format::Points && dimensions.len() == 4 { channels_last(&tensor) } else { Ok(tensor) }
}

/// The numbers of a tensor, rows of the last dimension following each other.
pub(crate) fn numbers(tensor: &Tensor) -> Result<Vec<f32>, NetError> {
    let plain = tensor.f_detach()?.f_to_device(tch::Device::Cpu)?.f_contiguous()?;
    let mut numbers = vec![0.0; plain.numel()];
    plain.f_copy_data(&mut numbers, plain.numel())?;
    Ok(numbers)
}

impl Unit {
    /// Kernels are kept as f32 and rounded for each use, so that small steps are not lost.
    fn forward(&self, x: &Tensor, mode: Mode, kind: Kind) -> Result<Tensor, NetError> {
        let weight = self.weight.f_to_kind(kind)?;
        let padding = weight.size()[3] / 2;
        let y = x.f_conv2d::<Tensor>(&weight, None, [1, 1], [padding, padding], [1, 1], 1)?;
        let training = mode == Mode::Training;
        let (mean, variance) = (Some(&self.mean), Some(&self.variance));
        let (scale, shift) = self.scale.as_ref().map(|(scale, shift)| (scale, shift)).unzip();
        Ok(y.f_batch_norm(scale, shift, mean, variance, training, MOMENTUM, EPSILON, true)?)
    }
}

impl Dense {
    fn forward(&self, x: &Tensor) -> Result<Tensor, NetError> {
        Ok(x.f_linear(&self.weight, Some(&self.bias))?)
    }
}
