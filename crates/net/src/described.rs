//! Weights of a network that is known as it plays: [`cpu::Description`], as ONNX files have it.

use std::collections::BTreeMap;

use config::{PolicyHead, ValueHead};
use cpu::{Convolution, Dense, Description};
use go::Size;

use crate::layout::UnitSpec;
use crate::shape::Shape;
use crate::weights::without_norm;
use crate::{Inputs, NetError, Weights};

impl Weights {
    /// Weights that play the same, with batch norms that change nothing but for the bias, and without auxiliary heads.
    ///
    /// # Errors
    /// A network that no shape describes.
    pub fn from_description(network: &Description) -> Result<Weights, NetError> {
        let shape = shape(network)?;
        let mut tensors = BTreeMap::new();
        for unit in shape.units() {
            let Convolution { weight, bias, .. } = convolution(network, &unit);
            without_norm(&unit, weight.clone(), bias.clone(), &mut tensors);
        }
        for (spec, dense) in shape.dense_layers().iter().zip(dense_layers(network)) {
            let [weight, bias] = spec.tensors();
            tensors.extend([(weight.name, dense.weight.clone()), (bias.name, dense.bias.clone())]);
        }
        for spec in shape.tensors() {
            let found = tensors.get(&spec.name).map_or(0, Vec::len);
            if found != spec.count() {
                return Err(unusual(format!("{} has {found} numbers, not {}", spec.name, spec.count())));
            }
        }
        let weights = Weights::assemble(shape, tensors)?;
        // No shape has other planes than those that Tengen writes.
        if Description::from_safetensors(&weights.to_bytes())?.inputs != network.inputs {
            return Err(unusual("its input planes are not those of Tengen".to_owned()));
        }
        Ok(weights)
    }
}

fn unusual(problem: String) -> NetError {
    NetError::Header { problem }
}

fn shape(network: &Description) -> Result<Shape, NetError> {
    let planes = network.inputs.len();
    let first = |part: Option<usize>| part.unwrap_or_default();
    let shape = Shape {
        size: Size::new(network.side).map_err(|error| unusual(error.to_string()))?,
        inputs: Inputs::of_count(planes).ok_or_else(|| unusual(format!("{planes} planes of input")))?,
        blocks: network.blocks.len(),
        filters: network.filters(),
        se_channels: first(network.blocks.iter().find_map(|block| Some(block.squeeze.as_ref()?[0].bias.len()))),
        pooled_filters: first(network.blocks.iter().find_map(|block| Some(block.pooled.as_ref()?.0.outputs))),
        policy_planes: network.policy.planes.outputs,
        policy_head: match network.policy.head {
            cpu::PolicyHead::Dense(_) => PolicyHead::Dense,
            cpu::PolicyHead::Convolution { .. } => PolicyHead::Convolution,
        },
        value_planes: network.value.planes.outputs,
        value_hidden: network.value.hidden.bias.len(),
        value_head: if network.value.out.bias.len() == 1 { ValueHead::Tanh } else { ValueHead::WinDrawLoss },
        value_pooled: network.value.pooled,
        ownership: false,
        score: false,
        opponent_policy: false,
    };
    let fits = |(index, block): (usize, &cpu::Block)| {
        block.pooled.is_some() == shape.pools(index) && block.squeeze.is_some() == (shape.se_channels > 0)
    };
    match network.blocks.iter().enumerate().position(|block| !fits(block)) {
        None => Ok(shape),
        Some(index) => Err(unusual(format!("block {index} has other layers than those before it"))),
    }
}

/// The convolution of a unit of the shape of this network.
pub(crate) fn convolution<'a>(network: &'a Description, unit: &UnitSpec) -> &'a Convolution {
    let mut parts = unit.name.split('.');
    match (parts.next(), parts.next().and_then(|index| index.parse::<usize>().ok()), parts.next()) {
        (Some("stem"), ..) => &network.stem,
        (Some("policy"), ..) => &network.policy.planes,
        (Some("value"), ..) => &network.value.planes,
        (Some("blocks"), Some(index), Some("first")) => &network.blocks[index].first,
        (Some("blocks"), Some(index), Some("second")) => &network.blocks[index].second,
        (Some("blocks"), Some(index), Some("pool")) => {
            &network.blocks[index].pooled.as_ref().expect("the shape says that it pools").0
        }
        _ => unreachable!("{} is a unit of no network", unit.name),
    }
}

/// Its dense layers in the order of [`cpu::Layout::dense_layers`].
fn dense_layers(network: &Description) -> Vec<&Dense> {
    let mut layers: Vec<&Dense> = Vec::new();
    for block in &network.blocks {
        layers.extend(block.pooled.iter().map(|(_, dense)| dense));
        layers.extend(block.squeeze.iter().flatten());
    }
    match &network.policy.head {
        cpu::PolicyHead::Dense(dense) => layers.push(dense),
        cpu::PolicyHead::Convolution { board, pass } => layers.extend([board, pass]),
    }
    layers.extend([&network.value.hidden, &network.value.out]);
    layers
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All numbers of a network, with the layers that they are in.
    fn numbers(network: &Description) -> Vec<(String, Vec<f32>)> {
        let mut all = Vec::new();
        let found = shape(network).unwrap();
        for unit in found.units() {
            let Convolution { weight, bias, .. } = convolution(network, &unit);
            all.extend([(format!("{}.weight", unit.name), weight.clone()), (unit.name, bias.clone())]);
        }
        for (spec, dense) in found.dense_layers().iter().zip(dense_layers(network)) {
            let [weight, bias] = spec.tensors();
            all.extend([(weight.name, dense.weight.clone()), (bias.name, dense.bias.clone())]);
        }
        all
    }

    #[test]
    fn weights_of_every_shape_play_as_described() {
        for shape in Shape::samples(Size::new(5).unwrap()) {
            let network = Description::from_safetensors(&Weights::synthetic(shape, 1).to_bytes()).unwrap();
            let weights = Weights::from_description(&network).unwrap();
            assert_eq!(weights.shape(), shape.in_play());
            let again = Description::from_safetensors(&weights.to_bytes()).unwrap();
            for ((name, expected), (_, found)) in numbers(&network).into_iter().zip(numbers(&again)) {
                // A variance of 1 - ε in f32 is not quite that.
                let far = expected.iter().zip(&found).any(|(one, other)| (one - other).abs() > 2e-7 * one.abs());
                assert!(!far && expected.len() == found.len(), "{name}");
            }
            assert_eq!(numbers(&again).len(), numbers(&network).len());
        }
    }

    type Change = fn(&mut Description);

    #[test]
    fn networks_that_no_shape_describes_are_refused() {
        let shape = Shape::samples(Size::new(5).unwrap())[1];
        let network = Description::from_safetensors(&Weights::synthetic(shape, 1).to_bytes()).unwrap();
        let changes: [(Change, &str); 3] = [
            (|network| network.blocks[0].pooled = network.blocks[1].pooled.clone(), "block 0 has other layers"),
            (|network| network.inputs.truncate(16), "stem.conv.weight has 2448 numbers"),
            (|network| network.inputs.swap(0, 1), "planes are not those of Tengen"),
        ];
        for (change, reason) in changes {
            let mut other = network.clone();
            change(&mut other);
            let error = Weights::from_description(&other).map(|_| reason).unwrap_err().to_string();
            assert!(error.contains(reason), "{reason}: {error}");
        }
    }
}
