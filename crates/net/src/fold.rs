//! The tower for inference: batch norms folded into the convolutions before them, and layers
//! with the same input as one.

use cpu::Norm;

use crate::Weights;
use crate::layout::Unit;

/// A convolution with a bias, and no batch norm after it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Convolution {
    /// Outputs, inputs, rows, columns.
    pub(crate) dimensions: [usize; 4],
    pub(crate) weight: Vec<f32>,
    pub(crate) bias: Vec<f32>,
}

/// A convolution and the batch norm after it.
pub(crate) fn fold(weights: &Weights, unit: &Unit) -> Convolution {
    let dimensions = [unit.outputs, unit.inputs, unit.kernel, unit.kernel];
    let weight = tensor(weights, &format!("{}.conv.weight", unit.name));
    let folded = cpu::fold(unit.inputs, weight, &norm(weights, &format!("{}.norm", unit.name), unit.outputs));
    Convolution { dimensions, weight: folded.weight, bias: folded.bias }
}

/// A batch norm. Those of the heads have neither scale nor shift.
fn norm(weights: &Weights, name: &str, channels: usize) -> Norm {
    let part = |part: &str| weights.tensor(&format!("{name}.{part}")).map(<[f32]>::to_vec);
    let statistics = |part: &str| tensor(weights, &format!("{name}.{part}")).to_vec();
    Norm {
        scale: part("weight").unwrap_or_else(|| vec![1.0; channels]),
        shift: part("bias").unwrap_or_else(|| vec![0.0; channels]),
        mean: statistics("running_mean"),
        variance: statistics("running_var"),
    }
}

/// Two convolutions of the same input as one, the outputs of `first` coming first.
pub(crate) fn beside(first: Convolution, second: Convolution) -> Convolution {
    let [outputs, ..] = first.dimensions;
    let [more, inputs, rows, columns] = second.dimensions;
    Convolution {
        dimensions: [outputs + more, inputs, rows, columns],
        weight: [first.weight, second.weight].concat(),
        bias: [first.bias, second.bias].concat(),
    }
}

/// A dense layer: one row of weights for each output.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Matrix {
    pub(crate) weight: Vec<f32>,
    pub(crate) bias: Vec<f32>,
}

/// The dense layer of this name.
pub(crate) fn dense_layer(weights: &Weights, name: &str) -> Matrix {
    let part = |part: &str| tensor(weights, &format!("{name}.{part}")).to_vec();
    Matrix { weight: part("weight"), bias: part("bias") }
}

/// Two dense layers as one, whose input is that of `first` and after it that of `second`. It multiplies by zeros what
/// does not belong together, and is quicker on small boards for being one operation.
pub(crate) fn together(first: Matrix, second: Matrix) -> Matrix {
    let inputs = |matrix: &Matrix| matrix.weight.len() / matrix.bias.len();
    let (before, after) = (vec![0.0; inputs(&first)], vec![0.0; inputs(&second)]);
    let first_rows = first.weight.chunks_exact(before.len()).map(|row| [row, &after].concat());
    let second_rows = second.weight.chunks_exact(after.len()).map(|row| [&before, row].concat());
    let weight = first_rows.chain(second_rows).flatten().collect();
    Matrix { weight, bias: [first.bias, second.bias].concat() }
}

/// A tensor of the shape.
pub(crate) fn tensor<'a>(weights: &'a Weights, name: &str) -> &'a [f32] {
    weights.tensor(name).unwrap_or_else(|| panic!("weights of a shape have every tensor of it, {name} too"))
}

#[cfg(feature = "torch")]
#[cfg(test)]
mod tests {
    use go::Size;
    use tch::{Kind, Tensor};

    use super::*;
    use crate::NetError;
    use crate::Shape;
    use crate::flat::Format;
    use crate::layers::Layers;
    use crate::mode::Mode;
    use crate::tensor_options::TensorOptions;
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

    fn weights() -> Weights {
        Weights::synthetic(shape(), 1)
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
    fn folded_layers_compute_the_same_function() {
        let [trained, folded] = both(shape(), Kind::Float).unwrap();
        // The outputs differ from row to row, so an equality here means something.
        assert!(difference(&trained.0[..26], &trained.0[26..52]) > 0.01);
        // A few roundings of f32 over six layers.
        assert!(difference(&trained.0, &folded.0) < 1e-5);
        assert!(difference(&trained.1, &folded.1) < 1e-5);
    }

    #[test]
    fn whatever_a_network_is_made_of_it_plays_as_it_was_trained() {
        for shape in Shape::samples(shape().size) {
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
    fn rounding_to_bf16_changes_little() {
        if !has_bf16() {
            return;
        }
        let [exact, rounded] = both(shape(), Kind::BFloat16).unwrap();
        // 8 bits of precision are 0.4 % a layer.
        assert!(difference(&exact.0, &rounded.0) < 0.03, "{}", difference(&exact.0, &rounded.0));
        assert!(difference(&exact.1, &rounded.1) < 0.03, "{}", difference(&exact.1, &rounded.1));
        assert!(difference(&exact.0, &rounded.0) > 0.0);
    }

    #[test]
    fn convolution_folds_by_hand() {
        let weights = weights();
        let unit = &shape().units()[0];
        let folded = fold(&weights, unit);
        let tensor = |part: &str| weights.tensor(&format!("stem.{part}")).unwrap();
        let k = tensor("norm.weight")[3] / (tensor("norm.running_var")[3] + 1e-5).sqrt();
        let inputs = 17 * 9;
        assert!((folded.weight[3 * inputs + 5] - k * tensor("conv.weight")[3 * inputs + 5]).abs() < 1e-7);
        assert!((folded.bias[3] - (tensor("norm.bias")[3] - k * tensor("norm.running_mean")[3])).abs() < 1e-7);
        assert_eq!(folded.dimensions, [16, 17, 3, 3]);
    }
}
