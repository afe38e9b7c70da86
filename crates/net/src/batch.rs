//! Batches of examples as tensors.

use go::Symmetry;
use record::Example;

use crate::{NetError, Shape, Targets};

/// A batch of examples; rows follow each other.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Batch {
    pub(crate) planes: Vec<u8>,
    /// Target probabilities, one a move.
    pub(crate) policies: Vec<f32>,
    /// Added to the logits of the moves, one a move; empty where nothing is added.
    pub(crate) mask: Vec<f32>,
    /// Outcomes for the side to move.
    pub(crate) outcomes: Vec<f32>,
    /// Root values of the search for the side to move.
    pub(crate) searches: Vec<f32>,
    /// One a point: 1 the mover's in the end, 0 the opponent's, ½ neutral; empty without the head.
    pub(crate) ownership: Vec<f32>,
    /// By position: whether that is known, 1 or 0.
    pub(crate) ownership_known: Vec<f32>,
    /// Margins for the side to move in points, by the side of the board; 0 where unknown.
    pub(crate) scores: Vec<f32>,
    /// By position: whether that is known, 1 or 0.
    pub(crate) scores_known: Vec<f32>,
    /// 1 for the move of the opponent's reply, one number a move; zeros where that is not known, empty where it is not
    /// trained.
    pub(crate) replies: Vec<f32>,
    /// How much each example counts, above 0.
    pub(crate) weights: Vec<f32>,
}

impl Batch {
    /// Encodes examples, each under its symmetry.
    pub(crate) fn encode(
        Shape { size, inputs, .. }: Shape,
        examples: &[Example],
        targets: &Targets,
        symmetries: &[Symmetry],
    ) -> Result<Batch, NetError> {
        if examples.is_empty() {
            return Err(NetError::NoExamples);
        }
        let mut batch = Batch {
            planes: vec![0; examples.len() * inputs.len(size)],
            policies: vec![0.0; examples.len() * size.moves()],
            mask: vec![0.0; if targets.mask_illegal { examples.len() * size.moves() } else { 0 }],
            ownership: vec![0.5; if targets.ownership { examples.len() * size.area() } else { 0 }],
            replies: vec![0.0; if targets.opponent { examples.len() * size.moves() } else { 0 }],
            ..Batch::default()
        };
        let planes = batch.planes.chunks_exact_mut(inputs.len(size));
        let policies = batch.policies.chunks_exact_mut(size.moves());
        for (((example, &symmetry), planes), policy) in examples.iter().zip(symmetries).zip(planes).zip(policies) {
            if example.size != size {
                return Err(NetError::OtherBoard { expected: size, found: example.size });
            }
            inputs.of_example(example, symmetry, planes)?;
            targets.policy(example, symmetry, policy)?;
            let [outcome, search] = targets.value_sources(example)?;
            batch.outcomes.push(outcome);
            batch.searches.push(search);
            let score = targets.score(example);
            batch.scores.push(score.unwrap_or(0.0));
            batch.scores_known.push(f32::from(u8::from(score.is_some())));
            batch.weights.push(targets.weight(example)?);
        }
        let seen = || examples.iter().zip(symmetries.iter().copied());
        for ((example, symmetry), row) in seen().zip(batch.ownership.chunks_exact_mut(size.area())) {
            let known = targets.ownership(example, symmetry, row);
            batch.ownership_known.push(f32::from(u8::from(known)));
        }
        for ((example, symmetry), row) in seen().zip(batch.replies.chunks_exact_mut(size.moves())) {
            targets.reply(example, symmetry, row)?;
        }
        for ((example, symmetry), row) in seen().zip(batch.mask.chunks_exact_mut(size.moves())) {
            targets.illegal(example, symmetry, row)?;
        }
        Ok(batch)
    }
}
