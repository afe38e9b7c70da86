//! Networks as files: safetensors of training weights (`tengen-weights/2`) and of folded ones (`tengen-folded/2`).

use safetensors::SafeTensors;
use safetensors::tensor::Dtype;
use serde::de::DeserializeOwned;

use crate::CpuError;
use crate::auxiliary::Auxiliary;
use crate::description::{Block, Convolution, Dense, Description, Input, Policy, PolicyHead, Value};
use crate::fold::{Norm, fold};
use crate::header::{FOLDED, Header, KEY, Kind, WEIGHTS};
use crate::layout::{BlockSpec, DenseSpec, PolicySpec, TensorSpec, UnitSpec, UnitTensors};

/// Input planes of AlphaGo Zero's kind. A file names its set of planes by their number alone.
pub const HISTORY_PLANES: usize = 17;
/// Those of Leela Zero: the same, and one that is 1 when White is to move.
pub const LEELA_ZERO_PLANES: usize = HISTORY_PLANES + 1;
/// Planes of features.
pub const FEATURE_PLANES: usize = 16;
/// The same with tactics.
pub const TACTICS_PLANES: usize = 31;
/// The number of the plane of komi, of the sets of planes that have one.
pub const KOMI_PLANE: usize = 15;
/// The byte of that plane that means a komi of 0.
pub const NO_KOMI: f32 = 128.0;

/// A file whose header was read.
struct File<'a> {
    tensors: SafeTensors<'a>,
    header: Header,
    /// Whether batch norms are folded already.
    is_folded: bool,
}

impl Description {
    /// Reads a file of weights, batch norms being folded away in f64.
    ///
    /// # Errors
    /// Bytes that are not a whole file of weights, a tensor that is missing or has other dimensions than the stated
    /// shape asks for, or a number that is not finite.
    pub fn from_safetensors(bytes: &[u8]) -> Result<Description, CpuError> {
        let file = File::read(bytes)?;
        let description = file.description()?;
        description.check()?;
        Ok(description)
    }
}

impl Auxiliary {
    /// Reads the auxiliary heads that the header of a file states. Files of folded weights are written without any.
    ///
    /// # Errors
    /// As [`Description::from_safetensors`].
    pub fn from_safetensors(bytes: &[u8]) -> Result<Auxiliary, CpuError> {
        let file = File::read(bytes)?;
        let layout = file.header.layout();
        let dense = |spec: &DenseSpec| file.dense(spec);
        Ok(Auxiliary {
            ownership: layout.ownership.as_ref().map(dense).transpose()?,
            score: layout.score.as_ref().map(dense).transpose()?,
        })
    }
}

fn parse<T: DeserializeOwned>(line: &str) -> Result<T, CpuError> {
    serde_json::from_str(line).map_err(|error| CpuError::Header(error.to_string()))
}

/// The input channels of a network with so many, by the planes that Tengen writes.
fn inputs(count: usize, side: usize) -> Option<Vec<Input>> {
    /// Whose turn it is, after sixteen boards.
    const BLACK_TO_MOVE: usize = HISTORY_PLANES - 1;
    let of_plane = |plane: usize| match (count, plane) {
        (LEELA_ZERO_PLANES, HISTORY_PLANES) => Input::Not(BLACK_TO_MOVE),
        (FEATURE_PLANES | TACTICS_PLANES, KOMI_PLANE) => {
            Input::Scaled { plane, offset: NO_KOMI, divisor: (2 * side) as f32 }
        }
        _ => Input::Plane(plane),
    };
    // A broken header may have more planes than memory can list.
    let is_known = matches!(count, HISTORY_PLANES | LEELA_ZERO_PLANES | FEATURE_PLANES | TACTICS_PLANES);
    is_known.then(|| (0..count).map(of_plane).collect())
}

impl<'a> File<'a> {
    fn read(bytes: &'a [u8]) -> Result<File<'a>, CpuError> {
        let broken = |error: safetensors::SafeTensorError| CpuError::NotSafetensors(error.to_string());
        let (_, metadata) = SafeTensors::read_metadata(bytes).map_err(broken)?;
        let line = metadata.metadata().as_ref().and_then(|all| all.get(KEY));
        let line = line.ok_or_else(|| CpuError::Header("is missing; this is no network of Tengen".to_owned()))?;
        let Kind { format } = parse(line)?;
        if ![WEIGHTS, FOLDED].contains(&format.as_str()) {
            return Err(CpuError::Header(format!("format {format:?}; this program reads {WEIGHTS} and {FOLDED}")));
        }
        let header: Header = parse(line)?;
        header.check().map_err(CpuError::Header)?;
        let tensors = SafeTensors::deserialize(bytes).map_err(broken)?;
        Ok(File { tensors, header, is_folded: format == FOLDED })
    }

    fn description(&self) -> Result<Description, CpuError> {
        let &Header { size, planes, value_pooled, .. } = &self.header;
        let unknown =
            || CpuError::Header(format!("{planes} planes of input; there are networks with 16, 17, 18 and 31"));
        let inputs = inputs(planes, size).ok_or_else(unknown)?;
        let layout = self.header.layout();
        Ok(Description {
            side: size,
            inputs,
            stem: self.unit(&layout.stem)?,
            blocks: layout.blocks.iter().map(|block| self.block(block)).collect::<Result<_, _>>()?,
            policy: Policy { planes: self.unit(&layout.policy)?, head: self.policy(&layout.policy_head)? },
            value: Value {
                planes: self.unit(&layout.value)?,
                pooled: value_pooled,
                hidden: self.dense(&layout.value_hidden)?,
                out: self.dense(&layout.value_out)?,
            },
        })
    }

    fn block(&self, spec: &BlockSpec) -> Result<Block, CpuError> {
        let pooled = |(unit, dense): &(UnitSpec, DenseSpec)| -> Result<_, CpuError> {
            Ok((self.unit(unit)?, self.dense(dense)?))
        };
        let squeeze =
            |[hidden, out]: &[DenseSpec; 2]| -> Result<_, CpuError> { Ok([self.dense(hidden)?, self.dense(out)?]) };
        Ok(Block {
            first: self.unit(&spec.first)?,
            pooled: spec.pooled.as_ref().map(pooled).transpose()?,
            second: self.unit(&spec.second)?,
            squeeze: spec.squeeze.as_ref().map(squeeze).transpose()?,
        })
    }

    fn policy(&self, spec: &PolicySpec) -> Result<PolicyHead, CpuError> {
        Ok(match spec {
            PolicySpec::Dense(dense) => PolicyHead::Dense(self.dense(dense)?),
            PolicySpec::Convolution { board, pass } => {
                PolicyHead::Convolution { board: self.dense(board)?, pass: self.dense(pass)? }
            }
        })
    }

    fn unit(&self, spec: &UnitSpec) -> Result<Convolution, CpuError> {
        let &UnitSpec { inputs, outputs, .. } = spec;
        if self.is_folded {
            let [weight, bias] = spec.folded_tensors();
            return Ok(Convolution { inputs, outputs, weight: self.numbers(&weight)?, bias: self.numbers(&bias)? });
        }
        let UnitTensors { weight, scale_and_shift, mean, variance } = spec.tensors();
        let weight = self.numbers(&weight)?;
        let (scale, shift) = match scale_and_shift {
            Some([scale, shift]) => (self.numbers(&scale)?, self.numbers(&shift)?),
            None => (vec![1.0; outputs], vec![0.0; outputs]),
        };
        let norm = Norm { scale, shift, mean: self.numbers(&mean)?, variance: self.numbers(&variance)? };
        Ok(fold(inputs, &weight, &norm))
    }

    fn dense(&self, spec: &DenseSpec) -> Result<Dense, CpuError> {
        let [weight, bias] = spec.tensors();
        Ok(Dense { weight: self.numbers(&weight)?, bias: self.numbers(&bias)? })
    }

    fn numbers(&self, spec: &TensorSpec) -> Result<Vec<f32>, CpuError> {
        let TensorSpec { name, dimensions, role } = spec;
        let wrong = |found: String| CpuError::Tensor { tensor: name.clone(), expected: dimensions.clone(), found };
        let view = self.tensors.tensor(name).map_err(|_| wrong("no such tensor".to_owned()))?;
        if view.dtype() != Dtype::F32 || view.shape() != dimensions.as_slice() {
            return Err(wrong(format!("{:?} of dimensions {:?}", view.dtype(), view.shape())));
        }
        let numbers: Vec<f32> = view.data().as_chunks::<4>().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect();
        match numbers.iter().position(|&number| !role.allows(number)) {
            Some(index) => Err(CpuError::Number { tensor: name.clone(), index, value: numbers[index] }),
            None => Ok(numbers),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    const SHAPE: &str =
        r#""size":5,"blocks":1,"filters":4,"policy_planes":2,"value_planes":1,"value_hidden":8,"planes":17"#;

    /// A file of nothing but this line.
    fn without_tensors(line: &str) -> Vec<u8> {
        let tensors: BTreeMap<String, safetensors::tensor::TensorView<'_>> = BTreeMap::new();
        let metadata = [(KEY.to_owned(), line.to_owned())].into();
        safetensors::serialize(&tensors, Some(metadata)).unwrap()
    }

    #[test]
    fn komi_is_scaled_and_white_to_move_is_the_opposite_of_a_plane() {
        assert_eq!(inputs(31, 9).unwrap()[15], Input::Scaled { plane: 15, offset: 128.0, divisor: 18.0 });
        assert_eq!(inputs(18, 19).unwrap()[17], Input::Not(16));
        assert_eq!(inputs(17, 9).unwrap()[16], Input::Plane(16));
        assert_eq!(inputs(20, 9), None);
        assert_eq!(inputs(usize::MAX, 9), None);
    }

    #[test]
    fn bytes_that_are_no_network_are_refused() {
        assert!(matches!(Description::from_safetensors(b"nothing"), Err(CpuError::NotSafetensors(_))));
        let file = |line: &str| Description::from_safetensors(&without_tensors(line)).unwrap_err().to_string();
        assert_eq!(
            file(&format!(r#"{{"format":"tengen-weights/1",{SHAPE}}}"#)),
            "metadata key `tengen`: format \"tengen-weights/1\"; this program reads tengen-weights/2 and tengen-folded/2"
        );
        assert_eq!(
            file(&format!(r#"{{"format":"tengen-weights/2",{SHAPE}}}"#)),
            "tensor `stem.conv.weight`: expected f32 of dimensions [4, 17, 3, 3], found no such tensor"
        );
        let shape = SHAPE.replace("17", "1000000000000");
        assert_eq!(
            file(&format!(r#"{{"format":"tengen-weights/2",{shape}}}"#)),
            "metadata key `tengen`: 1000000000000 planes of input; there are networks with 16, 17, 18 and 31"
        );
    }

    #[test]
    fn heads_that_a_folded_file_states_must_be_there() {
        let heads = |more: &str| {
            Auxiliary::from_safetensors(&without_tensors(&format!(r#"{{"format":"tengen-folded/2",{SHAPE}{more}}}"#)))
        };
        assert_eq!(heads("").unwrap(), Auxiliary::default());
        let error = heads(r#","score":true"#).unwrap_err();
        assert!(matches!(&error, CpuError::Tensor { tensor, .. } if tensor == "value.score.weight"), "{error}");
    }
}
