//! The form that plays, as a file: batch norms folded into the convolutions before them.
//!
//! A safetensors file like that of [`Weights`], with `tengen-folded/2` for its format, the shape, and `sha256`, the
//! hash of all tensors: name, a zero byte, and the numbers as little-endian f32, in the order of
//! [`cpu::Layout::folded_tensors`]; `scales` as there. A convolution is `X.weight` (outputs, inputs, rows, columns) and
//! `X.bias`, X being `stem`, `blocks.I.first`, `blocks.I.pool`, `blocks.I.second`, `policy` and `value`. ReLU follows
//! each: after the shifts of pooling in `first`, and in `second` after squeeze-and-excitation and the sum. Whatever
//! else a shape may have is as in [`Weights`].

use std::collections::BTreeMap;

use cpu::{Convolution, Scales};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::described::convolution;
use crate::file::{self, File};
use crate::layout::{TensorSpec, UnitSpec};
use crate::weights::{checked, named, read_tensors, without_norm};
use crate::{NetError, Weights};

pub(crate) const VERSION: &str = cpu::FOLDED;

#[derive(Serialize, Deserialize)]
struct Header {
    #[serde(flatten)]
    shape: cpu::Header,
    sha256: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    scales: Option<Scales>,
}

/// Makes a file.
///
/// # Errors
/// Numbers that are not finite once they are folded.
pub(crate) fn write(weights: &Weights) -> Result<Vec<u8>, NetError> {
    let weights = &weights.in_play();
    let (shape, network) = (weights.shape(), weights.description()?);
    let mut tensors = BTreeMap::new();
    for unit in shape.units() {
        let Convolution { weight, bias, .. } = convolution(&network, &unit);
        let [of_weight, of_bias] = unit.folded_tensors();
        tensors.extend([(of_weight.name, weight.clone()), (of_bias.name, bias.clone())]);
    }
    for spec in shape.layout().dense_tensors() {
        let numbers = weights.tensor(&spec.name).expect("weights of a shape have every tensor of it").to_vec();
        tensors.insert(spec.name, numbers);
    }
    let specs = shape.layout().folded_tensors();
    let scales = weights.stored_scales().cloned();
    let header = Header { shape: shape.into(), sha256: digest(&specs, &tensors), scales };
    Ok(file::write(VERSION, &header, named("", &specs, &tensors)))
}

/// Reads a file into weights that play the same, with batch norms that change nothing but for the bias.
///
/// # Errors
/// A file that is not whole, whose numbers are not those it was made with, or with scales of another network.
pub(crate) fn read(bytes: &[u8]) -> Result<Weights, NetError> {
    let file = File::read(bytes)?;
    let header: Header = file.header(VERSION)?;
    let shape = file::shape(header.shape)?;
    let specs = shape.layout().folded_tensors();
    let mut tensors = read_tensors(&file, "", specs.clone())?;
    if let Some(name) = file.names().into_iter().find(|&name| !tensors.contains_key(name)) {
        return Err(NetError::UnknownTensor { tensor: name.to_owned(), shape: Box::new(shape) });
    }
    let found = digest(&specs, &tensors);
    if found != header.sha256 {
        return Err(NetError::OtherDigest { expected: header.sha256, found });
    }
    for unit in shape.units() {
        unfold(&unit, &mut tensors);
    }
    let weights = Weights::assemble(shape, tensors)?;
    Ok(match checked(header.scales, shape)? {
        Some(scales) => weights.with_scales(scales),
        None => weights,
    })
}

/// Puts back what was folded.
fn unfold(unit: &UnitSpec, tensors: &mut BTreeMap<String, Vec<f32>>) {
    let take = |spec: TensorSpec| tensors.remove(&spec.name).expect("every unit was read with both");
    let [weight, bias] = unit.folded_tensors().map(take);
    without_norm(unit, weight, bias, tensors);
}

fn digest(specs: &[TensorSpec], tensors: &BTreeMap<String, Vec<f32>>) -> String {
    let mut hash = Sha256::new();
    for TensorSpec { name, .. } in specs {
        hash.update(name);
        hash.update([0]);
        tensors[name].iter().for_each(|number| hash.update(number.to_le_bytes()));
    }
    format!("{:x}", hash.finalize())
}

#[cfg(test)]
mod tests {
    use go::Size;

    use super::*;
    use crate::Shape;

    fn size() -> Size {
        Size::new(5).unwrap()
    }

    #[test]
    fn tensors_of_no_unit_stay_as_they_were() {
        for shape in Shape::samples(size()) {
            let units = shape.units();
            let is_of = |name: &str, unit: &UnitSpec| {
                [".conv.", ".norm."].iter().any(|part| name.starts_with(&format!("{}{part}", unit.name)))
            };
            let names = shape.tensors().into_iter().map(|spec| spec.name);
            let expected: Vec<String> = names.filter(|name| !units.iter().any(|unit| is_of(name, unit))).collect();
            assert!(expected.contains(&"value.out.weight".to_owned()), "{expected:?}");
            let found: Vec<String> = shape.layout().dense_tensors().map(|spec| spec.name).collect();
            assert_eq!(found, expected, "{shape}");
        }
    }

    #[test]
    fn scales_of_another_network_are_refused() {
        let weights = Weights::synthetic(Shape { blocks: 1, filters: 8, ..Shape::plain(size()) }, 1);
        let file = write(&weights.with_scales(Scales(vec![[1.0; 25]]))).unwrap();
        let error = read(&file).unwrap_err();
        assert!(matches!(error, NetError::Cpu(cpu::CpuError::Scales { expected: 3, found: 1 })), "{error}");
    }

    /// Its tensors are listed before the first is missed. To compare each with all units takes minutes.
    #[test]
    fn header_with_the_most_blocks_is_refused() {
        let shape = Shape { blocks: 1 << 14, se_channels: 1, ..Shape::plain(size()) };
        let header = Header { shape: shape.into(), sha256: String::new(), scales: None };
        let error = read(&file::write(VERSION, &header, Vec::new())).unwrap_err();
        assert!(matches!(&error, NetError::MissingTensor { tensor } if tensor == "stem.weight"), "{error}");
    }
}
