//! Examples as the numbers a tower learns from.

use go::{Size, Symmetry};
use record::Example;

use crate::{NetError, Targets, planes};

/// A batch of examples; rows follow each other.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Batch {
    pub(crate) planes: Vec<u8>,
    /// Target probabilities, one a move.
    pub(crate) policies: Vec<f32>,
    /// Target values for the side to move.
    pub(crate) values: Vec<f32>,
    /// How much each example counts, above 0.
    pub(crate) weights: Vec<f32>,
}

impl Batch {
    /// Encodes examples, each seen through its symmetry.
    pub(crate) fn encode(
        size: Size,
        examples: &[Example],
        targets: &Targets,
        symmetries: &[Symmetry],
    ) -> Result<Batch, NetError> {
        if examples.is_empty() {
            return Err(NetError::NoExamples);
        }
        let mut batch = Batch {
            planes: vec![0; examples.len() * planes::len(size)],
            policies: vec![0.0; examples.len() * size.moves()],
            values: Vec::with_capacity(examples.len()),
            weights: Vec::with_capacity(examples.len()),
        };
        let planes = batch.planes.chunks_exact_mut(planes::len(size));
        let policies = batch.policies.chunks_exact_mut(size.moves());
        for (((example, &symmetry), planes), policy) in examples.iter().zip(symmetries).zip(planes).zip(policies) {
            if example.size != size {
                return Err(NetError::OtherBoard { expected: size, found: example.size });
            }
            planes::of_example(example, symmetry, planes)?;
            targets.policy(example, symmetry, policy)?;
            batch.values.push(targets.value(example)?);
            batch.weights.push(targets.weight(example)?);
        }
        Ok(batch)
    }
}
