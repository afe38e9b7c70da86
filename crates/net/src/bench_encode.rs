//! Examples as tensors, for measurements.

use go::Symmetry;
use record::Example;
use tch::Tensor;

use crate::batch::Batch;
use crate::columns::Columns;
use crate::{NetError, Shape, Targets};

/// A batch of examples in tensors on the CPU: planes as bytes, and as f32 policies, outcomes, root values, ownership,
/// scores and weights. Tensors of a trainer also have the opponent's moves and which targets are known.
#[derive(Debug)]
pub struct EncodedBatch(Vec<Tensor>);

impl EncodedBatch {
    /// Encodes examples as a network of this shape sees them, each through its symmetry.
    ///
    /// # Errors
    /// No examples, one for another board, or one that makes no sense.
    ///
    /// # Panics
    /// When there are fewer symmetries than examples.
    pub fn new(
        shape: Shape,
        examples: &[Example],
        targets: &Targets,
        symmetries: &[Symmetry],
    ) -> Result<EncodedBatch, NetError> {
        assert!(symmetries.len() >= examples.len(), "a symmetry for each example");
        let batch = Batch::encode(shape, examples, targets, symmetries)?;
        let planes = Tensor::f_from_slice(&batch.planes)?;
        let Columns { policies, outcomes, searches, ownership, scores, weights, .. } = &batch.columns;
        let others = [policies, outcomes, searches, ownership, scores, weights];
        let others = others.into_iter().map(|numbers| Ok(Tensor::f_from_slice(numbers)?));
        let mut tensors: Vec<Tensor> = others.collect::<Result<_, NetError>>()?;
        tensors.push(planes);
        Ok(EncodedBatch(tensors))
    }

    /// Numbers in all tensors.
    pub fn numbers(&self) -> usize {
        self.0.iter().map(Tensor::numel).sum()
    }
}

#[cfg(test)]
mod tests {
    use config::PolicyTarget;
    use go::Size;
    use record::synthetic;

    use super::*;

    #[test]
    fn batch_has_every_number_of_every_example() {
        let shape = Shape::plain(Size::new(5).unwrap());
        let examples = synthetic::game("random", "w", 1, shape.size, 20).examples().unwrap();
        let targets = Targets {
            choice_moves: 0,
            policy: PolicyTarget::Visits,
            policy_exponent: 1.0,
            ownership: false,
            opponent_policy: false,
        };
        let symmetries = vec![Symmetry::Rot90; examples.len()];
        let ready = EncodedBatch::new(shape, &examples, &targets, &symmetries).unwrap();
        assert_eq!(ready.numbers(), examples.len() * (17 * 25 + 26 + 4));
        assert!(matches!(EncodedBatch::new(shape, &[], &targets, &[]), Err(NetError::NoExamples)));
    }
}
