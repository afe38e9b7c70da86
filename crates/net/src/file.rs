//! Safetensors files of ours: named tensors of f32, and one line of JSON that says what they are.
//!
//! The line is the value of one metadata key. The format allows many keys, but they are written in no fixed order, and
//! equal networks shall be equal files.

use std::borrow::Cow;
use std::collections::HashMap;

use cpu::Kind;
use safetensors::tensor::{Dtype, View};
use safetensors::{SafeTensors, serialize};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::layout::{Role, TensorSpec};
use crate::{KEY, NetError, Shape};

/// A file that was read and is not yet checked tensor by tensor.
pub(crate) struct File<'a> {
    tensors: SafeTensors<'a>,
    line: String,
}

impl<'a> File<'a> {
    /// Finds the tensors and the line.
    pub(crate) fn read(bytes: &'a [u8]) -> Result<File<'a>, NetError> {
        let broken = |error: safetensors::SafeTensorError| NetError::NotSafetensors(error.to_string());
        let (_, metadata) = SafeTensors::read_metadata(bytes).map_err(broken)?;
        let line = metadata.metadata().as_ref().and_then(|all| all.get(KEY)).cloned();
        let line = line.ok_or(NetError::NoHeader)?;
        Ok(File { tensors: SafeTensors::deserialize(bytes).map_err(broken)?, line })
    }

    /// What the line says, if it is a line of `version`.
    pub(crate) fn header<T: DeserializeOwned>(&self, version: &'static str) -> Result<T, NetError> {
        let found = self.version()?;
        if found != version {
            return Err(NetError::Version { expected: version, found });
        }
        serde_json::from_str(&self.line).map_err(unreadable)
    }

    /// The kind that the file declares.
    pub(crate) fn version(&self) -> Result<String, NetError> {
        let found: Kind = serde_json::from_str(&self.line).map_err(unreadable)?;
        Ok(found.format)
    }

    /// The names of all tensors.
    pub(crate) fn names(&self) -> Vec<&str> {
        self.tensors.names()
    }

    /// The numbers of a tensor, which is under `prefix` and else as specified.
    pub(crate) fn numbers(&self, prefix: &str, spec: &TensorSpec) -> Result<Vec<f32>, NetError> {
        let numbers = self.any_numbers(prefix, spec)?;
        check(&format!("{prefix}{}", spec.name), spec.role, &numbers)?;
        Ok(numbers)
    }

    /// The same, whatever numbers they are.
    pub(crate) fn any_numbers(&self, prefix: &str, spec: &TensorSpec) -> Result<Vec<f32>, NetError> {
        let tensor = format!("{prefix}{}", spec.name);
        let Ok(view) = self.tensors.tensor(&tensor) else {
            return Err(NetError::MissingTensor { tensor });
        };
        if view.dtype() != Dtype::F32 {
            return Err(NetError::TensorType { tensor, found: format!("{:?}", view.dtype()) });
        }
        if view.shape() != spec.dimensions {
            let (expected, found) = (spec.dimensions.clone(), view.shape().to_vec());
            return Err(NetError::Dimensions { tensor, expected, found });
        }
        let (numbers, _) = view.data().as_chunks::<4>();
        Ok(numbers.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect())
    }
}

fn unreadable(error: serde_json::Error) -> NetError {
    NetError::Header { problem: error.to_string() }
}

/// The shape that a header states.
pub(crate) fn shape(header: cpu::Header) -> Result<Shape, NetError> {
    Shape::try_from(header).map_err(|problem| NetError::Header { problem })
}

/// Finds the first number that no network may have.
pub(crate) fn check(tensor: &str, role: Role, numbers: &[f32]) -> Result<(), NetError> {
    match numbers.iter().position(|&value| !role.allows(value)) {
        Some(index) => Err(NetError::BadNumber { tensor: tensor.to_owned(), index, value: numbers[index] }),
        None => Ok(()),
    }
}

/// A tensor to be written.
pub(crate) struct Named<'a> {
    pub(crate) name: String,
    pub(crate) dimensions: &'a [usize],
    pub(crate) numbers: &'a [f32],
}

impl Named<'_> {
    /// The same with a prefix to its name.
    pub(crate) fn under(self, prefix: &str) -> Self {
        Named { name: format!("{prefix}{}", self.name), ..self }
    }
}

/// Makes a file. Equal tensors and headers make equal bytes.
pub(crate) fn write(version: &str, header: &impl Serialize, tensors: Vec<Named<'_>>) -> Vec<u8> {
    let header = Header { kind: Kind { format: version.to_owned() }, header };
    let line = serde_json::to_string(&header).expect("plain fields are JSON");
    let metadata = HashMap::from([(KEY.to_owned(), line)]);
    let tensors = tensors.into_iter().map(|tensor| (tensor.name.clone(), tensor));
    serialize(tensors, Some(metadata)).expect("tensors have the dimensions that their specification gives them")
}

#[derive(Serialize)]
struct Header<'a, T> {
    #[serde(flatten)]
    kind: Kind,
    #[serde(flatten)]
    header: &'a T,
}

impl View for Named<'_> {
    fn dtype(&self) -> Dtype {
        Dtype::F32
    }

    fn shape(&self) -> &[usize] {
        self.dimensions
    }

    fn data(&self) -> Cow<'_, [u8]> {
        Cow::Owned(self.numbers.iter().flat_map(|number| number.to_le_bytes()).collect())
    }

    fn data_len(&self) -> usize {
        size_of_val(self.numbers)
    }
}
