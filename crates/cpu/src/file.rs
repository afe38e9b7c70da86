//! Networks as files: safetensors of training weights (`tengen-weights/2`) and of folded ones (`tengen-folded/2`).

use safetensors::SafeTensors;
use safetensors::tensor::Dtype;
use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::CpuError;
use crate::auxiliary::Auxiliary;
use crate::description::{Block, Convolution, Dense, Description, Input, Policy, PolicyHead, Value, finite};
use crate::fold::{Norm, fold};
use crate::header::{FOLDED, Header, KEY, WEIGHTS, pools};

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

/// What the line says beside the header.
#[derive(Deserialize)]
struct Kind {
    format: String,
}

impl Description {
    /// Reads a file of weights, batch norms being folded away in f64.
    ///
    /// # Errors
    /// Bytes that are not a whole file of weights, a tensor that is missing or has other dimensions than the stated shape asks
    /// for, or a number that is not finite.
    pub fn from_safetensors(bytes: &[u8]) -> Result<Description, CpuError> {
        let file = File::read(bytes)?;
        let description = file.description()?;
        description.check()?;
        Ok(description)
    }
}

impl Auxiliary {
    /// Reads the auxiliary heads of a file of weights. Folded weights have none.
    ///
    /// # Errors
    /// As [`Description::from_safetensors`].
    pub fn from_safetensors(bytes: &[u8]) -> Result<Auxiliary, CpuError> {
        let file = File::read(bytes)?;
        let &Header { filters, value_hidden, .. } = &file.header;
        let has = |name: &str| file.tensors.tensor(&format!("{name}.weight")).is_ok();
        let ownership = || -> Result<_, CpuError> {
            let weight = file.numbers("ownership.conv.weight", &[1, filters, 1, 1])?;
            Ok(Dense { weight, bias: file.numbers("ownership.conv.bias", &[1])? })
        };
        Ok(Auxiliary {
            ownership: has("ownership.conv").then(ownership).transpose()?,
            score: has("value.score").then(|| file.dense("value.score", value_hidden, 1)).transpose()?,
        })
    }
}

fn parse<T: DeserializeOwned>(line: &str) -> Result<T, CpuError> {
    serde_json::from_str(line).map_err(|error| CpuError::Header(error.to_string()))
}

/// The input channels of a network with so many, by the planes that Tengen writes.
fn inputs(count: usize, side: usize) -> Option<Vec<Input>> {
    /// Whose turn it is, after sixteen boards.
    const BLACK_TO_MOVE: usize = 16;
    let of_plane = |plane: usize| match (count, plane) {
        // Leela Zero's: a plane more that is 1 when White is to move.
        (18, 17) => Input::Not(BLACK_TO_MOVE),
        (16 | 31, KOMI_PLANE) => Input::Scaled { plane, offset: NO_KOMI, divisor: (2 * side) as f32 },
        _ => Input::Plane(plane),
    };
    // A broken header may have more planes than memory can list.
    matches!(count, 16 | 17 | 18 | 31).then(|| (0..count).map(of_plane).collect())
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
        let &Header { size, blocks, filters, policy_planes, value_planes, planes, .. } = &self.header;
        let unknown =
            || CpuError::Header(format!("{planes} planes of input; there are networks with 16, 17, 18 and 31"));
        Ok(Description {
            side: size,
            inputs: inputs(planes, size).ok_or_else(unknown)?,
            stem: self.conv("stem", planes, filters)?,
            blocks: (0..blocks).map(|index| self.block(index)).collect::<Result<_, _>>()?,
            policy: Policy { planes: self.head("policy", policy_planes)?, head: self.policy()? },
            value: Value {
                planes: self.head("value", value_planes)?,
                pooled: self.header.value_pooled,
                hidden: self.value_hidden()?,
                out: self.dense("value.out", self.header.value_hidden, self.header.value_head.outputs())?,
            },
        })
    }

    fn block(&self, index: usize) -> Result<Block, CpuError> {
        let &Header { filters, se_channels, pooled_filters, .. } = &self.header;
        let name = |part: &str| format!("blocks.{index}.{part}");
        let pooled = || -> Result<_, CpuError> {
            let conv = self.conv(&name("pool"), filters, pooled_filters)?;
            Ok((conv, self.dense(&name("pool.dense"), 2 * pooled_filters, filters)?))
        };
        let gates = || -> Result<_, CpuError> {
            let hidden = self.dense(&name("squeeze.hidden"), filters, se_channels)?;
            Ok([hidden, self.dense(&name("squeeze.out"), se_channels, 2 * filters)?])
        };
        Ok(Block {
            first: self.conv(&name("first"), filters, filters)?,
            pooled: pools(pooled_filters, index).then(pooled).transpose()?,
            second: self.conv(&name("second"), filters, filters)?,
            squeeze: (se_channels > 0).then(gates).transpose()?,
        })
    }

    fn policy(&self) -> Result<PolicyHead, CpuError> {
        let &Header { size, policy_planes, policy_head, .. } = &self.header;
        let area = size * size;
        Ok(match policy_head {
            config::PolicyHead::Dense => {
                PolicyHead::Dense(self.dense("policy.dense", policy_planes * area, area + 1)?)
            }
            config::PolicyHead::Convolution => PolicyHead::Convolution {
                board: Dense {
                    weight: self.numbers("policy.board.weight", &[1, policy_planes, 1, 1])?,
                    bias: self.numbers("policy.board.bias", &[1])?,
                },
                pass: self.dense("policy.pass", 2 * policy_planes, 1)?,
            },
        })
    }

    fn value_hidden(&self) -> Result<Dense, CpuError> {
        let &Header { size, value_planes, value_hidden, value_pooled, .. } = &self.header;
        let seen = if value_pooled { value_planes } else { value_planes * size * size };
        self.dense("value.hidden", seen, value_hidden)
    }

    /// A 3x3 convolution and the batch norm after it.
    fn conv(&self, name: &str, inputs: usize, outputs: usize) -> Result<Convolution, CpuError> {
        self.unit(name, [outputs, inputs, 3, 3], true)
    }

    /// The 1x1 convolution of a head, whose batch norm has neither scale nor shift.
    fn head(&self, name: &str, outputs: usize) -> Result<Convolution, CpuError> {
        self.unit(name, [outputs, self.header.filters, 1, 1], false)
    }

    fn unit(&self, name: &str, dimensions: [usize; 4], has_scale: bool) -> Result<Convolution, CpuError> {
        let [outputs, inputs, ..] = dimensions;
        if self.is_folded {
            let weight = self.numbers(&format!("{name}.weight"), &dimensions)?;
            let bias = self.numbers(&format!("{name}.bias"), &[outputs])?;
            return Ok(Convolution { inputs, outputs, weight, bias });
        }
        let weight = self.numbers(&format!("{name}.conv.weight"), &dimensions)?;
        Ok(fold(inputs, &weight, &self.norm(&format!("{name}.norm"), outputs, has_scale)?))
    }

    fn norm(&self, name: &str, channels: usize, has_scale: bool) -> Result<Norm, CpuError> {
        let part = |part: &str| self.numbers(&format!("{name}.{part}"), &[channels]);
        let variance = part("running_var")?;
        if let Some(index) = variance.iter().position(|&variance| variance < 0.0) {
            let tensor = format!("{name}.running_var");
            return Err(CpuError::Number { tensor, index, value: variance[index] });
        }
        Ok(Norm {
            scale: if has_scale { part("weight")? } else { vec![1.0; channels] },
            shift: if has_scale { part("bias")? } else { vec![0.0; channels] },
            mean: part("running_mean")?,
            variance,
        })
    }

    fn dense(&self, name: &str, inputs: usize, outputs: usize) -> Result<Dense, CpuError> {
        Ok(Dense {
            weight: self.numbers(&format!("{name}.weight"), &[outputs, inputs])?,
            bias: self.numbers(&format!("{name}.bias"), &[outputs])?,
        })
    }

    fn numbers(&self, tensor: &str, dimensions: &[usize]) -> Result<Vec<f32>, CpuError> {
        let wrong =
            |found: String| CpuError::Tensor { tensor: tensor.to_owned(), expected: dimensions.to_vec(), found };
        let view = self.tensors.tensor(tensor).map_err(|_| wrong("no such tensor".to_owned()))?;
        if view.dtype() != Dtype::F32 || view.shape() != dimensions {
            return Err(wrong(format!("{:?} of dimensions {:?}", view.dtype(), view.shape())));
        }
        let numbers: Vec<f32> = view.data().as_chunks::<4>().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect();
        finite(tensor, &numbers)?;
        Ok(numbers)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

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
        let tensors: BTreeMap<String, safetensors::tensor::TensorView<'_>> = BTreeMap::new();
        let file = |line: &str| {
            let metadata = [(KEY.to_owned(), line.to_owned())].into();
            let bytes = safetensors::serialize(&tensors, Some(metadata)).unwrap();
            Description::from_safetensors(&bytes).unwrap_err().to_string()
        };
        let shape =
            r#""size":5,"blocks":1,"filters":4,"policy_planes":2,"value_planes":1,"value_hidden":8,"planes":17"#;
        assert_eq!(
            file(&format!(r#"{{"format":"tengen-weights/1",{shape}}}"#)),
            "metadata key `tengen`: format \"tengen-weights/1\"; this program reads tengen-weights/2 and tengen-folded/2"
        );
        assert_eq!(
            file(&format!(r#"{{"format":"tengen-weights/2",{shape}}}"#)),
            "tensor `stem.conv.weight`: expected f32 of dimensions [4, 17, 3, 3], found no such tensor"
        );
        let shape = shape.replace("17", "1000000000000");
        assert_eq!(
            file(&format!(r#"{{"format":"tengen-weights/2",{shape}}}"#)),
            "metadata key `tengen`: 1000000000000 planes of input; there are networks with 16, 17, 18 and 31"
        );
    }
}
