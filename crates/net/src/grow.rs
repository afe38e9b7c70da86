//! A larger tower that begins where a smaller one is (Net2Net: Chen, Goodfellow and Shlens 2016).

use crate::layout::{Role, TensorSpec};
use crate::{NetError, Shape, Weights};

impl Weights {
    /// The same function in a tower of more blocks, more filters, or both: weights of the smaller tower are copied, the
    /// rest is as in [`Weights::random`], and weights from new channels to old ones are 0. New blocks add nothing at
    /// first, as in a new network. So every output stays the same up to rounding, and new weights have gradients from
    /// the first step on. Auxiliary heads (`ownership`, `score`, `opponent_policy`) may be new, and may be missing;
    /// where nothing else differs, the scales of int16 inference stay. [`Inputs::Features`] may become
    /// [`Inputs::Tactics`]: the weights of the additional planes are 0 at first, too. Widths of layers that no block of
    /// this network has may be any.
    ///
    /// [`Inputs::Features`]: crate::Inputs::Features
    /// [`Inputs::Tactics`]: crate::Inputs::Tactics
    ///
    /// # Errors
    /// A shape with fewer blocks or filters, with inputs that do not begin with those of this network, or that differs
    /// in something else.
    pub fn grown(&self, shape: Shape, seed: u64) -> Result<Weights, NetError> {
        let old = self.shape().with_absent_layers_like(shape);
        let Shape { blocks, filters, inputs, ownership, score, opponent_policy, .. } = shape;
        if blocks < old.blocks
            || filters < old.filters
            || !inputs.begin_with(old.inputs)
            || shape != (Shape { blocks, filters, inputs, ownership, score, opponent_policy, ..old })
        {
            return Err(NetError::NotGrown { expected: Box::new(shape), found: Box::new(self.shape()) });
        }
        let fresh = Weights::random(shape, seed);
        let specs = old.tensors();
        let grow = |spec: TensorSpec| {
            let mut numbers = fresh.tensor(&spec.name).expect("weights have every tensor of their shape").to_vec();
            if let Some(small) = specs.iter().find(|small| small.name == spec.name) {
                let known = self.tensor(&small.name).expect("weights have every tensor of their shape");
                copy((small, known), (&spec, &mut numbers));
            }
            (spec.name, numbers)
        };
        let grown = Weights::assemble(shape, shape.tensors().into_iter().map(grow).collect())?;
        Ok(match self.stored_scales() {
            Some(scales) if shape.in_play() == old.in_play() => grown.with_scales(scales.clone()),
            _ => grown,
        })
    }
}

/// Puts a small tensor into a large one. Old outputs take nothing from new inputs.
fn copy((small, known): (&TensorSpec, &[f32]), (large, numbers): (&TensorSpec, &mut [f32])) {
    let (outputs, inputs) = (small.dimensions[0], small.inputs());
    let width = large.inputs();
    // The scales of squeeze and excitation come before the shifts: both parts grow.
    let parts = if small.name.contains(".squeeze.out.") { 2 } else { 1 };
    let (part, large_part) = (outputs / parts, large.dimensions[0] / parts);
    for output in 0..outputs {
        let row = (output / part * large_part + output % part) * width;
        let row = &mut numbers[row..row + width];
        row[..inputs].copy_from_slice(&known[output * inputs..(output + 1) * inputs]);
        if large.role == Role::Weight {
            row[inputs..].fill(0.0);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use go::Size;

    use super::*;
    use crate::Inputs;
    use crate::flat::Format;
    use crate::mode::Mode;
    use crate::tensor_options::TensorOptions;
    use crate::tower::{Tower, numbers};

    /// Outputs of three positions, whose first planes are the same for all inputs.
    fn answers(weights: &Weights) -> [Vec<f32>; 2] {
        let shape = weights.shape();
        let planes = shape.inputs.len(shape.size);
        let planes: Vec<u8> =
            (0..3 * planes).map(|i| i % planes + 7 * (i / planes)).map(|i| u8::from(i * i % 11 < 4)).collect();
        let options = TensorOptions { device: tch::Device::Cpu, kind: tch::Kind::Float };
        let found = Tower::new(weights, options, Format::Points).unwrap().forward(&planes, Mode::Playing).unwrap();
        [numbers(&found.logits).unwrap(), numbers(&found.values).unwrap()]
    }

    #[test]
    fn grown_network_computes_the_same_function() {
        for shape in Shape::samples(Size::new(5).unwrap()) {
            let small = Weights::synthetic(shape, 1);
            let before = answers(&small);
            for (blocks, filters) in [(2, 16), (4, 16), (2, 23), (5, 32)] {
                let large = small.grown(Shape { blocks, filters, ownership: true, ..shape }, 7).unwrap();
                assert_eq!((large.shape().blocks, large.shape().filters), (blocks, filters));
                for (was, is) in before.iter().flatten().zip(answers(&large).iter().flatten()) {
                    assert!((was - is).abs() <= 1e-4 * was.abs().max(1.0), "{shape}: {was} became {is}");
                }
            }
            assert_eq!(small.grown(shape, 7).unwrap(), small);
        }
    }

    #[test]
    fn scales_stay_where_auxiliary_heads_alone_differ() {
        let shape = Shape { blocks: 1, filters: 8, score: true, ..Shape::plain(Size::new(5).unwrap()) };
        let small = Weights::synthetic(shape, 1).calibrated(&[], 1).unwrap();
        let heads = small.grown(Shape { score: false, ownership: true, opponent_policy: true, ..shape }, 7).unwrap();
        assert!(heads.has_scales() && heads.in_play() == small.in_play(), "what plays is the same");
        assert!(!small.grown(Shape { filters: 9, ..shape }, 7).unwrap().has_scales());
    }

    #[test]
    fn widths_of_absent_layers_may_differ() {
        let shape = Shape { blocks: 1, filters: 8, ..Shape::plain(Size::new(5).unwrap()) };
        let small = Weights::synthetic(shape, 1).calibrated(&[], 1).unwrap();
        let pooled = Shape { pooled_filters: 6, ..shape };
        let same = small.grown(pooled, 7).unwrap();
        assert!(same.shape() == pooled && same.has_scales(), "what plays is the same");
        assert_eq!(answers(&same), answers(&small));
        assert!(small.grown(Shape { se_channels: 4, ..shape }, 7).is_err(), "block 0 squeezes");
        let none = Weights::synthetic(Shape { blocks: 0, ..shape }, 1);
        assert_eq!(none.grown(Shape { se_channels: 4, blocks: 0, ..shape }, 7).unwrap().shape().se_channels, 4);
    }

    #[test]
    fn growth_to_tactics_trains_new_planes() {
        let [.., features, _] = Shape::samples(Size::new(5).unwrap());
        let (small, tactics) = (Weights::synthetic(features, 1), Shape { inputs: Inputs::Tactics, ..features });
        let large = small.grown(Shape { filters: 23, ..tactics }, 7).unwrap();
        let answer = answers(&large);
        for (was, is) in answers(&small).iter().flatten().zip(answer.iter().flatten()) {
            assert!((was - is).abs() <= 1e-4 * was.abs().max(1.0), "{was} became {is}");
        }
        // With one weight for the last plane, which is none at first, the outputs are others.
        let tensor = |spec: TensorSpec| (spec.name.clone(), large.tensor(&spec.name).unwrap().to_vec());
        let mut tensors: BTreeMap<String, Vec<f32>> = large.shape().tensors().into_iter().map(tensor).collect();
        let stem = tensors.get_mut("stem.conv.weight").unwrap();
        assert_eq!(std::mem::replace(&mut stem[30 * 9 + 4], 1.0), 0.0);
        assert_ne!(answers(&Weights::assemble(large.shape(), tensors).unwrap()), answer);
        assert!(large.grown(Shape { filters: 23, ..features }, 7).is_err(), "they do not become fewer again");
    }

    #[test]
    fn only_the_tower_grows_and_no_layer_shrinks() {
        let shape = Shape { blocks: 2, filters: 16, ..Shape::plain(Size::MIN) };
        let small = Weights::random(shape, 1);
        let others = [
            Shape { blocks: 1, ..shape },
            Shape { filters: 15, ..shape },
            Shape { value_hidden: 2, ..shape },
            Shape { blocks: 3, se_channels: 4, ..shape },
        ];
        for other in others {
            let refused = small.grown(other, 1).unwrap_err().to_string();
            assert!(refused.contains("only blocks and filters"), "{refused}");
        }
    }
}
