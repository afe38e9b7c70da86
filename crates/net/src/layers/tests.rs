//! Folded layers beside the training tower.

use super::*;
use crate::Shape;
use crate::flat::Format;
use crate::mode::Mode;
use crate::tensor_options::cpu_has_bf16;
use crate::tower::{Tower, numbers};

const BATCH: usize = 8;

fn shape() -> Shape {
    Shape {
        blocks: 2,
        filters: 16,
        policy_planes: 2,
        value_planes: 1,
        value_hidden: 8,
        ..Shape::plain(Size::new(5).unwrap())
    }
}

/// Policies and values.
type Answers = (Vec<f32>, Vec<f32>);

/// The outputs for some input, by the training tower and by the folded layers.
fn both(shape: Shape, kind: Kind) -> Result<[Answers; 2], NetError> {
    let count = BATCH * shape.inputs.len(shape.size);
    let planes: Vec<u8> = (0..count).map(|i| u8::from(i * i % 11 < 4)).collect();
    let options = |kind| TensorOptions { device: tch::Device::Cpu, kind };
    let weights = Weights::synthetic(shape, 1);
    let tower = Tower::new(&weights, options(Kind::Float), Format::Points)?;
    let trained = tower.forward(&planes, Mode::Playing)?;
    let policies: Tensor = trained.logits.f_softmax(-1, Kind::Float)?;
    let folded = Layers::new(&weights, options(kind), BATCH)?.forward(&planes)?;
    let folded = (numbers(&folded.policies)?, numbers(&folded.values)?);
    Ok([(numbers(&policies)?, numbers(&trained.values)?), folded])
}

fn difference(a: &[f32], b: &[f32]) -> f32 {
    assert_eq!(a.len(), b.len());
    a.iter().zip(b).map(|(x, y)| (x - y).abs()).fold(0.0, f32::max)
}

#[test]
fn whatever_a_network_is_made_of_it_plays_as_it_was_trained() {
    // `shape()` has another number of planes for each head; the samples have as many.
    for shape in Shape::samples(shape().size).into_iter().chain([shape()]) {
        let [trained, folded] = both(shape, Kind::Float).unwrap();
        assert!(difference(&trained.0[..26], &trained.0[26..52]) > 0.01, "{shape}");
        let apart = difference(&trained.0, &folded.0).max(difference(&trained.1, &folded.1));
        assert!(apart < 2e-5, "{shape}: {apart}");
        if has_bf16() {
            let [exact, rounded] = both(shape, Kind::BFloat16).unwrap();
            let apart = difference(&exact.0, &rounded.0).max(difference(&exact.1, &rounded.1));
            assert!(apart > 0.0 && apart < 0.05, "{shape}: {apart}");
        }
    }
}

/// Whether the CPU has kernels for bf16; where it has none, the skip is recorded.
fn has_bf16() -> bool {
    let found = cpu_has_bf16();
    if !found {
        testing::unsupported("bf16");
    }
    found
}

#[test]
fn convolution_folds_by_hand() {
    let weights = Weights::synthetic(shape(), 1);
    let folded = weights.description().unwrap().stem;
    let tensor = |part: &str| weights.tensor(&format!("stem.{part}")).unwrap();
    let k = tensor("norm.weight")[3] / (tensor("norm.running_var")[3] + 1e-5).sqrt();
    let inputs = 17 * 9;
    assert!((folded.weight[3 * inputs + 5] - k * tensor("conv.weight")[3 * inputs + 5]).abs() < 1e-7);
    assert!((folded.bias[3] - (tensor("norm.bias")[3] - k * tensor("norm.running_mean")[3])).abs() < 1e-7);
    assert_eq!((folded.inputs, folded.outputs, folded.weight.len()), (17, 16, 16 * inputs));
}
