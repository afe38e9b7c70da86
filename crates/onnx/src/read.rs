//! Files of [`crate::write`], read back.
//!
//! Constants are found by their names, and the network that they make is written again: only a file whose graph is that
//! one is read. So graphs that an optimiser changed, or that other programs made, are refused and not misunderstood.

use std::collections::HashMap;

use cpu::{Block, Convolution, CpuError, Dense, Description, Input, Policy, PolicyHead, SIDES, Value};
use prost::Message;

use crate::proto::{GraphProto, ModelProto, TensorProto, Type};
use crate::{OPSET, graph_of};

/// No network that can be trained has more of anything: the most are the inputs of a dense layer from 256 planes of 361
/// points.
const MOST: i64 = 1 << 17;

/// A file that is no network of Tengen's.
#[derive(Debug, thiserror::Error)]
pub enum OnnxError {
    /// Bytes that are no message.
    #[error("not an ONNX file: {0}")]
    NotOnnx(#[from] prost::DecodeError),
    /// Another program wrote it, or another version of this one.
    #[error("found {found}; expected {expected}, as `trainer export --format onnx` writes")]
    Other {
        /// What it has.
        found: String,
        /// What would be there instead.
        expected: String,
    },
    /// A constant is missing, or is not as the others need it.
    #[error("constant `{name}`: expected {expected}, found {found}")]
    Tensor {
        /// Its name.
        name: String,
        /// What the network needs.
        expected: String,
        /// What the file has.
        found: String,
    },
    /// The graph is not the one of these constants.
    #[error("the graph differs from that of `trainer export`; export the network again")]
    Graph,
    /// A network that no ONNX file holds.
    #[error("the file would have {bytes} bytes, and ONNX files have less than 2 GiB")]
    TooLarge {
        /// Bytes of its file.
        bytes: usize,
    },
    /// Parts that do not fit together.
    #[error(transparent)]
    Network(#[from] CpuError),
}

/// Whether bytes may be an ONNX file: a message that begins with its `ir_version`. Neither safetensors nor the text of
/// Leela Zero begins so.
pub fn looks_like(bytes: &[u8]) -> bool {
    matches!(bytes, [0x08, 1..=0x7f, tag, ..] if tag & 7 == 2) && bytes.get(8) != Some(&b'{')
}

/// The network in the bytes of a file that [`crate::write`] made.
///
/// # Errors
/// A file that is broken, or another program's.
pub fn read(bytes: &[u8]) -> Result<Description, OnnxError> {
    let model = ModelProto::decode(bytes)?;
    let opset = model.opset_import.iter().find(|set| set.domain.is_empty()).map_or(0, |set| set.version);
    let other = |found: String, expected: &str| OnnxError::Other { found, expected: expected.to_owned() };
    if model.producer_name != "tengen" {
        return Err(other(format!("producer \"{}\"", model.producer_name), "\"tengen\""));
    }
    if opset != OPSET {
        return Err(other(format!("opset {opset}"), &OPSET.to_string()));
    }
    let graph = model.graph.ok_or_else(|| other("no graph".to_owned(), "one"))?;
    let network = Reader::new(&graph)?.network()?;
    network.check()?;
    if graph_of(&network) == graph { Ok(network) } else { Err(OnnxError::Graph) }
}

/// The constants of a graph, by name.
struct Reader<'a> {
    constants: HashMap<&'a str, &'a TensorProto>,
    side: usize,
}

impl<'a> Reader<'a> {
    fn new(graph: &'a GraphProto) -> Result<Reader<'a>, OnnxError> {
        let planes = graph.input.first().and_then(|input| input.r#type.as_ref()?.tensor_type.as_ref()?.shape.as_ref());
        let dimensions: Vec<i64> = planes.iter().flat_map(|shape| &shape.dim).filter_map(|dim| dim.dim_value).collect();
        let side = match dimensions[..] {
            [_, rows, columns] if rows == columns && SIDES.contains(&(rows as usize)) => rows as usize,
            _ => {
                let found = format!("an input of dimensions {dimensions:?}");
                return Err(OnnxError::Other { found, expected: "one of [planes, side, side]".to_owned() });
            }
        };
        let constants = graph.initializer.iter().map(|tensor| (tensor.name.as_str(), tensor)).collect();
        Ok(Reader { constants, side })
    }

    fn network(&self) -> Result<Description, OnnxError> {
        let stem = self.convolution("stem")?;
        let blocks = (0..MOST).take_while(|index| self.has(&format!("blocks.{index}.first.weight")));
        let planes = self.convolution("policy.planes")?;
        let head = match self.has("policy.dense.weight") {
            true => PolicyHead::Dense(self.dense("policy.dense")?),
            false => {
                PolicyHead::Convolution { board: self.at_points("policy.board")?, pass: self.dense("policy.pass")? }
            }
        };
        let (value_planes, hidden) = (self.convolution("value.planes")?, self.dense("value.hidden")?);
        Ok(Description {
            side: self.side,
            inputs: self.inputs(stem.inputs)?,
            blocks: blocks.map(|index| self.block(index)).collect::<Result<_, _>>()?,
            policy: Policy { planes, head },
            value: Value {
                // One number a plane.
                pooled: hidden.weight.len() == hidden.bias.len() * value_planes.outputs,
                planes: value_planes,
                hidden,
                out: self.dense("value.out")?,
            },
            stem,
        })
    }

    fn inputs(&self, channels: usize) -> Result<Vec<Input>, OnnxError> {
        let planes = match self.has("inputs.planes") {
            true => self.integers("inputs.planes", channels)?,
            false => (0..channels).collect(),
        };
        if !self.has("inputs.offset") {
            return Ok(planes.into_iter().map(Input::Plane).collect());
        }
        let numbers = |name| self.floats(name, &[channels, 1, 1]);
        let (offsets, divisors) = (numbers("inputs.offset")?, numbers("inputs.divisor")?);
        let input = |((plane, offset), divisor): ((usize, f32), f32)| match (offset, divisor) {
            (0.0, 1.0) => Input::Plane(plane),
            (1.0, -1.0) => Input::Not(plane),
            _ => Input::Scaled { plane, offset, divisor },
        };
        Ok(planes.into_iter().zip(offsets).zip(divisors).map(input).collect())
    }

    fn block(&self, index: i64) -> Result<Block, OnnxError> {
        let name = |part: &str| format!("blocks.{index}.{part}");
        let pooled = || Ok::<_, OnnxError>((self.convolution(&name("pool"))?, self.dense(&name("pool.dense"))?));
        let squeeze = || Ok::<_, OnnxError>([self.dense(&name("squeeze.hidden"))?, self.dense(&name("squeeze.out"))?]);
        Ok(Block {
            first: self.convolution(&name("first"))?,
            pooled: self.has(&name("pool.weight")).then(pooled).transpose()?,
            second: self.convolution(&name("second"))?,
            squeeze: self.has(&name("squeeze.out.weight")).then(squeeze).transpose()?,
        })
    }

    fn convolution(&self, name: &str) -> Result<Convolution, OnnxError> {
        let weight = format!("{name}.weight");
        let [outputs, inputs, rows, columns] = self.dimensions(&weight)?;
        let weight = self.floats(&weight, &[outputs, inputs, rows, columns])?;
        Ok(Convolution { inputs, outputs, weight, bias: self.floats(&format!("{name}.bias"), &[outputs])? })
    }

    fn dense(&self, name: &str) -> Result<Dense, OnnxError> {
        let weight = format!("{name}.weight");
        let [outputs, inputs] = self.dimensions(&weight)?;
        let weight = self.floats(&weight, &[outputs, inputs])?;
        Ok(Dense { weight, bias: self.floats(&format!("{name}.bias"), &[outputs])? })
    }

    /// A 1x1 convolution to one plane.
    fn at_points(&self, name: &str) -> Result<Dense, OnnxError> {
        let Convolution { weight, bias, .. } = self.convolution(name)?;
        Ok(Dense { weight, bias })
    }

    fn has(&self, name: &str) -> bool {
        self.constants.contains_key(name)
    }

    fn constant(&self, name: &str, expected: String) -> Result<&'a TensorProto, OnnxError> {
        let missing = || OnnxError::Tensor { name: name.to_owned(), expected, found: "none".to_owned() };
        self.constants.get(name).copied().ok_or_else(missing)
    }

    /// So many dimensions, each in the range of a network.
    fn dimensions<const N: usize>(&self, name: &str) -> Result<[usize; N], OnnxError> {
        let expected = || format!("{N} dimensions from 1 to {MOST}");
        let found = &self.constant(name, expected())?.dims;
        let sizes: Vec<usize> =
            found.iter().filter(|size| (1..=MOST).contains(*size)).map(|&size| size as usize).collect();
        sizes.try_into().map_err(|_| OnnxError::Tensor {
            name: name.to_owned(),
            expected: expected(),
            found: format!("{found:?}"),
        })
    }

    fn floats(&self, name: &str, dimensions: &[usize]) -> Result<Vec<f32>, OnnxError> {
        let bytes = self.bytes(name, Type::Float, dimensions, 4)?;
        Ok(bytes.as_chunks::<4>().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect())
    }

    fn integers(&self, name: &str, count: usize) -> Result<Vec<usize>, OnnxError> {
        let bytes = self.bytes(name, Type::Long, &[count], 8)?;
        let numbers = bytes.as_chunks::<8>().0.iter().map(|bytes| i64::from_le_bytes(*bytes));
        let in_range = |number: i64| (0..MOST).contains(&number).then_some(number as usize);
        numbers.map(in_range).collect::<Option<_>>().ok_or_else(|| OnnxError::Tensor {
            name: name.to_owned(),
            expected: format!("numbers from 0 to {}", MOST - 1),
            found: "others".to_owned(),
        })
    }

    fn bytes(&self, name: &str, kind: Type, dimensions: &[usize], each: usize) -> Result<&'a [u8], OnnxError> {
        let count = dimensions.iter().try_fold(1_usize, |all, &size| all.checked_mul(size));
        let expected = || format!("type {} of dimensions {dimensions:?}, little-endian in raw_data", kind as i32);
        let found = self.constant(name, expected())?;
        let fits = found.data_type == kind as i32
            && found.dims.iter().map(|&size| size as usize).eq(dimensions.iter().copied())
            && count.and_then(|count| count.checked_mul(each)) == Some(found.raw_data.len());
        if fits {
            return Ok(&found.raw_data);
        }
        let bytes = found.raw_data.len();
        let found = format!("type {} of dimensions {:?} in {bytes} bytes", found.data_type, found.dims);
        Err(OnnxError::Tensor { name: name.to_owned(), expected: expected(), found })
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    fn networks() -> Vec<Description> {
        let names = ["plain", "pooled", "features", "all"];
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../cpu/tests/data");
        let read = |name: &str| std::fs::read(folder.join(format!("{name}.safetensors"))).unwrap();
        names.iter().map(|name| Description::from_safetensors(&read(name)).unwrap()).collect()
    }

    fn changed(change: impl Fn(&mut ModelProto)) -> Vec<u8> {
        let mut model = ModelProto::decode(&*crate::write(&networks()[3])).unwrap();
        change(&mut model);
        model.encode_to_vec()
    }

    fn graph(model: &mut ModelProto) -> &mut GraphProto {
        model.graph.as_mut().unwrap()
    }

    #[test]
    fn network_of_every_shape_is_read_as_it_was_written() {
        for network in networks() {
            let file = crate::write(&network);
            assert!(looks_like(&file));
            assert_eq!(read(&file).unwrap(), network);
        }
    }

    #[test]
    fn dense_layer_may_see_every_point_of_the_most_planes() {
        let mut network = networks().swap_remove(0);
        let (area, value) = (network.area(), &mut network.value);
        let planes = (256_usize * 361).div_ceil(area);
        value.planes.outputs = planes;
        value.planes.weight = vec![0.5; planes * value.planes.inputs];
        value.planes.bias = vec![0.25; planes];
        value.hidden.weight = vec![0.125; planes * area * value.hidden.bias.len()];
        assert_eq!(read(&crate::write(&network)).unwrap(), network);
    }

    #[test]
    fn files_of_others_are_refused() {
        let cases: [(Vec<u8>, &str); 8] = [
            (b"\x08\x08\x12\xffnothing".to_vec(), "not an ONNX file"),
            (changed(|model| model.producer_name = "pytorch".to_owned()), "producer \"pytorch\""),
            (changed(|model| model.opset_import[0].version = 20), "opset 20"),
            (changed(|model| model.graph = None), "no graph"),
            (changed(|model| graph(model).input.clear()), "[planes, side, side]"),
            (
                changed(|model| graph(model).initializer.retain(|t| t.name != "stem.bias")),
                "`stem.bias`: expected type 1",
            ),
            (
                changed(|model| graph(model).initializer.iter_mut().for_each(|tensor| tensor.raw_data.truncate(4))),
                "in 4 bytes",
            ),
            (changed(|model| drop(graph(model).node.swap_remove(5))), "the graph differs"),
        ];
        for (file, reason) in cases {
            let error = read(&file).unwrap_err().to_string();
            assert!(error.contains(reason), "{reason}: {error}");
        }
    }

    #[test]
    fn sizes_of_broken_files_ask_for_no_memory() {
        for sizes in [vec![i64::MAX; 4], vec![-1; 4], vec![1 << 14; 4], vec![0; 4], vec![]] {
            let file = changed(|model| {
                let tensors = graph(model).initializer.iter_mut();
                tensors.for_each(|tensor| tensor.dims.clone_from(&sizes));
            });
            assert!(matches!(read(&file), Err(OnnxError::Tensor { .. })), "{sizes:?}");
        }
    }

    #[test]
    fn other_files_do_not_look_like_onnx() {
        for other in [&b""[..], b"1\n0.1 0.2", b"\x08", &[8, 0, 0, 0, 0, 0, 0, 0, b'{']] {
            assert!(!looks_like(other), "{other:?}");
        }
    }
}
