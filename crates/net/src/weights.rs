//! The weights of a network, as numbers and as a file.

use std::collections::BTreeMap;

use cpu::Scales;
use rand::{RngExt, SeedableRng};
use rand_distr::{Distribution, StandardNormal};
use rand_xoshiro::Xoshiro256PlusPlus;
use serde::{Deserialize, Serialize};

use crate::file::{self, File, Named};
use crate::layout::{EPSILON, Role, TensorSpec, UnitSpec};
use crate::{NetError, Shape};

/// The kind of a weights file.
pub(crate) const VERSION: &str = cpu::WEIGHTS;

/// The weights of a network.
///
/// As a file they are safetensors in f32. The metadata key `tengen` holds a line of JSON with `format`, `size`,
/// `blocks`, `filters`, `policy_planes`, `value_planes`, `value_hidden`, `planes` and whatever else a [`Shape`] has
/// that is not plain, so that the file opens with nothing else; published models also have `scales`, which int16
/// inference rounds with: 25 numbers for each layer that `cpu::Scales` lists. The names are those of a PyTorch module,
/// and dimensions are PyTorch's (outputs first):
///
/// | name | dimensions |
/// |---|---|
/// | `stem.conv.weight` | filters, planes (17; 18 from Leela Zero; features 16, tactics 31), 3, 3 |
/// | `blocks.I.first.conv.weight`, `blocks.I.second.conv.weight` | filters, filters, 3, 3 |
/// | `policy.conv.weight` | policy_planes, filters, 1, 1 |
/// | `value.conv.weight` | value_planes, filters, 1, 1 |
/// | `X.norm.running_mean`, `X.norm.running_var`, X being the prefix of `.conv` | outputs of `X.conv` |
/// | `X.norm.weight`, `X.norm.bias` but for the heads | outputs of `X.conv` |
/// | `policy.dense.weight`, `policy.dense.bias` | moves, policy_planes·points; moves |
/// | `value.hidden.weight`, `value.hidden.bias` | hidden, value_planes·points; hidden |
/// | `value.out.weight`, `value.out.bias` | 1, hidden; 1 |
/// | with `score`: `value.score.weight`, `value.score.bias` | 1, hidden; 1 |
/// | with `ownership`: `ownership.conv.weight`, `ownership.conv.bias` | 1, filters, 1, 1; 1 |
/// | with `opponent_policy`: a second copy of the last layers of the policy head, as `opponent_policy` | |
/// | with `pooled_filters`, I odd: `blocks.I.pool.conv.weight`, `blocks.I.pool.norm.*` | pooled, filters, 3, 3 |
/// | … `blocks.I.pool.dense.weight` and `.bias`: means of all pooled planes, then maxima | filters, 2·pooled |
/// | with `se_channels`: `blocks.I.squeeze.hidden.weight` and `.bias` | se_channels, filters |
/// | … `blocks.I.squeeze.out.weight` and `.bias`: logits of scales, then shifts | 2·filters, se_channels |
/// | with `policy_head` convolution, instead of `policy.dense`: `policy.board.weight`, `.bias` | 1, policy_planes, 1, 1; 1 |
/// | … `policy.pass.weight` and `.bias`: means of all planes, then maxima | 1, 2·policy_planes; 1 |
/// | with `value_head` win-draw-loss: `value.out.weight` and `.bias`: logits of winning, drawing, losing | 3, hidden |
/// | with `value_pooled`: `value.hidden.weight`: of the means of all planes | hidden, value_planes |
#[derive(Clone, Debug, PartialEq)]
pub struct Weights {
    shape: Shape,
    tensors: BTreeMap<String, Vec<f32>>,
    /// The scales of int16 inference, where the network was calibrated.
    scales: Option<Scales>,
}

/// The line of a file.
#[derive(Serialize)]
struct Header<'a> {
    #[serde(flatten)]
    shape: cpu::Header,
    #[serde(skip_serializing_if = "Option::is_none")]
    scales: &'a Option<Scales>,
}

/// Entries of the line that are no part of the shape.
#[derive(Deserialize)]
struct Calibrated {
    #[serde(default)]
    scales: Option<Scales>,
}

impl Weights {
    /// Initial weights: a network with a uniform policy and value 0.
    ///
    /// The output layers start at 0, and so does the residual of each block: the scales of its last batch norm, or
    /// their equivalent. So the tower is a stem at first (Goyal et al. 2017, section 5.1). Other weights are normal
    /// with variance 2 / inputs (He et al. 2015). Compared with random output layers, top-1 accuracy of a small network
    /// after 600 batches of human games was 22 % instead of 5 % (`experiments/0021-supervised-pretraining`).
    pub fn random(shape: Shape, seed: u64) -> Weights {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
        let draw = |spec: TensorSpec| {
            let numbers = match spec.role {
                Role::Scale if spec.name.contains(".second.") => vec![0.0; spec.count()],
                Role::Scale | Role::Variance => vec![1.0; spec.count()],
                Role::Weight if !starts_at_zero(&spec.name) => normal(&spec, &mut rng),
                Role::Weight | Role::Bias | Role::Shift | Role::Mean => vec![0.0; spec.count()],
            };
            (spec.name, numbers)
        };
        Weights::new(shape, shape.tensors().into_iter().map(draw).collect())
    }

    /// Synthetic weights for tests and measurements. As after training, none is 0 or 1, and outputs differ by position.
    pub fn synthetic(shape: Shape, seed: u64) -> Weights {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
        let draw = |spec: TensorSpec| {
            let numbers = match spec.role {
                Role::Weight => normal(&spec, &mut rng),
                Role::Scale | Role::Variance => around(1.0, spec.count(), &mut rng),
                Role::Bias | Role::Shift | Role::Mean => around(0.0, spec.count(), &mut rng),
            };
            (spec.name, numbers)
        };
        Weights::new(shape, shape.tensors().into_iter().map(draw).collect())
    }

    /// Reads a file.
    ///
    /// # Errors
    /// The bytes are no complete safetensors file of weights, or a number is not finite. A tensor is missing, unknown,
    /// or of another type or other dimensions than those of the stated shape, or scales are those of another one.
    pub fn from_bytes(bytes: &[u8]) -> Result<Weights, NetError> {
        let file = File::read(bytes)?;
        let shape = file::shape(file.header(VERSION)?)?;
        let tensors = read_tensors(&file, "", shape.tensors())?;
        if let Some(name) = file.names().into_iter().find(|&name| !tensors.contains_key(name)) {
            return Err(NetError::UnknownTensor { tensor: name.to_owned(), shape: Box::new(shape) });
        }
        let Calibrated { scales } = file.header(VERSION)?;
        Ok(Weights { shape, tensors, scales: checked(scales, shape)? })
    }

    /// Makes a file. Equal weights make equal files.
    pub fn to_bytes(&self) -> Vec<u8> {
        let specs = self.shape.tensors();
        let header = Header { shape: self.shape.into(), scales: &self.scales };
        file::write(VERSION, &header, self.named(&specs))
    }

    /// The same network without auxiliary heads.
    pub fn in_play(&self) -> Weights {
        let shape = self.shape.in_play();
        let kept = |spec: TensorSpec| (spec.name.clone(), self.tensors[&spec.name].clone());
        let tensors = shape.tensors().into_iter().map(kept).collect();
        Weights { shape, tensors, scales: self.scales.clone() }
    }

    /// The shape of the network.
    pub fn shape(&self) -> Shape {
        self.shape
    }

    /// The numbers of a tensor, rows of the last dimension following each other; `None` when there is no such tensor.
    pub fn tensor(&self, name: &str) -> Option<&[f32]> {
        self.tensors.get(name).map(Vec::as_slice)
    }

    /// All tensors, to be written; `specs` are those of the shape.
    pub(crate) fn named<'a>(&'a self, specs: &'a [TensorSpec]) -> Vec<Named<'a>> {
        named("", specs, &self.tensors)
    }

    /// Weights whose tensors are all there and of the right length.
    pub(crate) fn assemble(shape: Shape, tensors: BTreeMap<String, Vec<f32>>) -> Result<Weights, NetError> {
        for spec in shape.tensors() {
            file::check(&spec.name, spec.role, &tensors[&spec.name])?;
        }
        Ok(Weights::new(shape, tensors))
    }

    fn new(shape: Shape, tensors: BTreeMap<String, Vec<f32>>) -> Weights {
        Weights { shape, tensors, scales: None }
    }

    /// The scales of the file, if it has any.
    pub(crate) fn stored_scales(&self) -> Option<&Scales> {
        self.scales.as_ref()
    }

    /// Whether the file has scales for int16 inference.
    pub fn has_scales(&self) -> bool {
        self.scales.is_some()
    }

    /// The same weights with these scales.
    pub(crate) fn with_scales(self, scales: Scales) -> Weights {
        Weights { scales: Some(scales), ..self }
    }

    /// The same weights without scales: weights are equal only if their scales are.
    pub fn uncalibrated(self) -> Weights {
        Weights { scales: None, ..self }
    }
}

/// The scales of a file, if they fit its network: they are not looked at again until it plays in int16.
///
/// # Errors
/// Scales of another network.
pub(crate) fn checked(scales: Option<Scales>, shape: Shape) -> Result<Option<Scales>, NetError> {
    if let Some(scales) = &scales {
        scales.check(1 + 2 * shape.blocks)?;
    }
    Ok(scales)
}

/// Adds a convolution with a bias as one with a batch norm that changes nothing but for the bias: a variance of 1 − ε
/// is one that divides by 1.
pub(crate) fn without_norm(
    unit: &UnitSpec,
    weight: Vec<f32>,
    bias: Vec<f32>,
    tensors: &mut BTreeMap<String, Vec<f32>>,
) {
    let specs = unit.tensors();
    let mut put = |spec: TensorSpec, numbers| _ = tensors.insert(spec.name, numbers);
    put(specs.weight, weight);
    put(specs.variance, vec![(1.0 - EPSILON) as f32; unit.outputs]);
    if let Some([scale, shift]) = specs.scale_and_shift {
        put(scale, vec![1.0; unit.outputs]);
        put(shift, bias);
        put(specs.mean, vec![0.0; unit.outputs]);
    } else {
        put(specs.mean, bias.iter().map(|bias| -bias).collect());
    }
}

/// Reads every tensor of a list, the names in the file being prefixed.
pub(crate) fn read_tensors(
    file: &File<'_>,
    prefix: &str,
    specs: Vec<TensorSpec>,
) -> Result<BTreeMap<String, Vec<f32>>, NetError> {
    let read = |spec: TensorSpec| file.numbers(prefix, &spec).map(|numbers| (spec.name, numbers));
    specs.into_iter().map(read).collect()
}

/// Tensors to be written, with their names prefixed.
pub(crate) fn named<'a>(
    prefix: &str,
    specs: &'a [TensorSpec],
    tensors: &'a BTreeMap<String, Vec<f32>>,
) -> Vec<Named<'a>> {
    let one = |spec: &'a TensorSpec| Named {
        name: format!("{prefix}{}", spec.name),
        dimensions: &spec.dimensions,
        numbers: &tensors[&spec.name],
    };
    specs.iter().map(one).collect()
}

/// Whether the outputs of a layer are the network's, or what a block adds to its input.
fn starts_at_zero(name: &str) -> bool {
    let answers = [
        "policy.dense.",
        "policy.board.",
        "policy.pass.",
        "opponent_policy.",
        "value.out.",
        "value.score.",
        "ownership.",
    ];
    let adds = [".pool.dense.weight", ".squeeze.out.weight"];
    answers.iter().any(|layer| name.starts_with(layer)) || adds.iter().any(|layer| name.ends_with(layer))
}

fn normal(spec: &TensorSpec, rng: &mut Xoshiro256PlusPlus) -> Vec<f32> {
    let deviation = (2.0 / spec.inputs() as f64).sqrt() as f32;
    (0..spec.count()).map(|_| deviation * Distribution::<f32>::sample(&StandardNormal, rng)).collect()
}

/// Numbers at most 0.4 from the middle.
fn around(middle: f32, count: usize, rng: &mut Xoshiro256PlusPlus) -> Vec<f32> {
    (0..count).map(|_| middle + 0.8 * (rng.random::<f32>() - 0.5)).collect()
}
