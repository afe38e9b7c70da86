//! The weights of a network, as numbers and as a file.

use std::collections::BTreeMap;

use rand::{RngExt, SeedableRng};
use rand_distr::{Distribution, StandardNormal};
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::file::{self, File, Named};
use crate::shape::{Role, Shape, ShapeFields, TensorSpec};
use crate::{KEY, NetError};

/// What the file says it is.
pub(crate) const VERSION: &str = "tengen-weights/1";

/// The weights of a network.
///
/// As a file they are safetensors in f32. The metadata key `tengen` holds a line of JSON with `format`, `size`,
/// `blocks`, `filters`, `value_hidden` and `planes`, so that the file opens with nothing else. The names are those of
/// a PyTorch module, and dimensions are PyTorch's (outputs first):
///
/// | name | dimensions |
/// |---|---|
/// | `stem.conv.weight` | filters, planes (17; 18 from Leela Zero), 3, 3 |
/// | `blocks.I.first.conv.weight`, `blocks.I.second.conv.weight` | filters, filters, 3, 3 |
/// | `policy.conv.weight` | 2, filters, 1, 1 |
/// | `value.conv.weight` | 1, filters, 1, 1 |
/// | `X.norm.running_mean`, `X.norm.running_var`, X being what is before `.conv` | outputs of `X.conv` |
/// | `X.norm.weight`, `X.norm.bias` but for the heads | outputs of `X.conv` |
/// | `policy.dense.weight`, `policy.dense.bias` | moves, 2·points; moves |
/// | `value.hidden.weight`, `value.hidden.bias` | hidden, points; hidden |
/// | `value.out.weight`, `value.out.bias` | 1, hidden; 1 |
/// | with `score`: `value.score.weight`, `value.score.bias` | 1, hidden; 1 |
/// | with `ownership`: `ownership.conv.weight`, `ownership.conv.bias` | 1, filters, 1, 1; 1 |
#[derive(Clone, Debug, PartialEq)]
pub struct Weights {
    shape: Shape,
    tensors: BTreeMap<String, Vec<f32>>,
}

impl Weights {
    /// Weights to start training from: a network that knows nothing and says so, with every move as probable as any
    /// other and value 0.
    ///
    /// The layers that answer start at 0, and so do the scales of the last batch norm of each block, so that the tower
    /// is at first a stem (Goyal et al. 2017, section 5.1). The rest are normal numbers of variance 2 / inputs (He et
    /// al. 2015). Random answers would have to be unlearned first: with 600 batches of human games a small network went
    /// to 22 % of the moves guessed instead of 5 %.
    pub fn random(shape: Shape, seed: u64) -> Weights {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
        let draw = |spec: TensorSpec| {
            let numbers = match spec.role {
                Role::Scale if spec.name.ends_with(".second.norm.weight") => vec![0.0; spec.len()],
                Role::Scale | Role::Variance => vec![1.0; spec.len()],
                Role::Weight if !is_answer(&spec.name) => normal(&spec, &mut rng),
                Role::Weight | Role::Bias | Role::Shift | Role::Mean => vec![0.0; spec.len()],
            };
            (spec.name, numbers)
        };
        Weights { shape, tensors: shape.tensors().into_iter().map(draw).collect() }
    }

    /// Made-up weights, for tests and measurements: nothing in them is 0 or 1, as after training, and every position has
    /// answers of its own.
    pub fn synthetic(shape: Shape, seed: u64) -> Weights {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
        let draw = |spec: TensorSpec| {
            let numbers = match spec.role {
                Role::Weight => normal(&spec, &mut rng),
                Role::Scale | Role::Variance => around(1.0, spec.len(), &mut rng),
                Role::Bias | Role::Shift | Role::Mean => around(0.0, spec.len(), &mut rng),
            };
            (spec.name, numbers)
        };
        Weights { shape, tensors: shape.tensors().into_iter().map(draw).collect() }
    }

    /// Reads a file.
    ///
    /// # Errors
    /// Bytes that are not a whole safetensors file of weights, a tensor missing, to spare, of another type or of other
    /// dimensions than the stated shape asks for, or a number that is not finite.
    pub fn from_bytes(bytes: &[u8]) -> Result<Weights, NetError> {
        let file = File::read(bytes)?;
        let fields: ShapeFields = file.header(VERSION)?;
        let shape = Shape::try_from(fields).map_err(|problem| NetError::Header { key: KEY, problem })?;
        let tensors = read_tensors(&file, "", shape.tensors())?;
        if let Some(name) = file.names().into_iter().find(|&name| !tensors.contains_key(name)) {
            return Err(NetError::UnknownTensor { tensor: name.to_owned(), shape });
        }
        Ok(Weights { shape, tensors })
    }

    /// Makes a file. Equal weights make equal files.
    pub fn to_bytes(&self) -> Vec<u8> {
        let specs = self.shape.tensors();
        file::write(VERSION, &ShapeFields::from(self.shape), self.named(&specs))
    }

    /// The same network without what only helps it learn.
    pub fn in_play(&self) -> Weights {
        let shape = self.shape.in_play();
        let tensors = shape.tensors().into_iter().map(|spec| {
            let numbers = self.tensors[&spec.name].clone();
            (spec.name, numbers)
        });
        Weights { shape, tensors: tensors.collect() }
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
        Ok(Weights { shape, tensors })
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

/// Whether a layer's outputs are the network's.
fn is_answer(name: &str) -> bool {
    ["policy.dense.", "value.out.", "value.score.", "ownership."].iter().any(|layer| name.starts_with(layer))
}

fn normal(spec: &TensorSpec, rng: &mut Xoshiro256PlusPlus) -> Vec<f32> {
    let deviation = (2.0 / spec.inputs() as f64).sqrt() as f32;
    (0..spec.len()).map(|_| deviation * Distribution::<f32>::sample(&StandardNormal, rng)).collect()
}

/// Numbers at most 0.4 from the middle.
fn around(middle: f32, count: usize, rng: &mut Xoshiro256PlusPlus) -> Vec<f32> {
    (0..count).map(|_| middle + 0.8 * (rng.random::<f32>() - 0.5)).collect()
}
