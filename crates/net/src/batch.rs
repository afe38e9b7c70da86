//! Examples as the numbers a tower learns from.

use go::Symmetry;
use record::Example;

use crate::frame::Frame;
use crate::targets::ILLEGAL;
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
    /// One a point: 1 the mover's in the end, 0 the opponent's, ½ nobody's; empty where it is not learned.
    pub(crate) ownership: Vec<f32>,
    /// By position: whether that is known, 1 or 0.
    pub(crate) ownership_known: Vec<f32>,
    /// Margins for the side to move in points, by the side of the board; 0 where unknown.
    pub(crate) scores: Vec<f32>,
    /// By position: whether that is known, 1 or 0.
    pub(crate) scores_known: Vec<f32>,
    /// 1 for the move that the opponent answered with, one number a move; zeros where that is not known, empty where it is not
    /// learned.
    pub(crate) replies: Vec<f32>,
    /// How much each example counts, above 0.
    pub(crate) weights: Vec<f32>,
}

impl Batch {
    /// Encodes examples, each seen through its symmetry; those of a smaller board in the middle of the network's.
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
            mask: vec![0.0; if targets.legal_only { examples.len() * size.moves() } else { 0 }],
            ownership: vec![0.5; if targets.ownership { examples.len() * size.area() } else { 0 }],
            replies: vec![0.0; if targets.opponent { examples.len() * size.moves() } else { 0 }],
            ..Batch::default()
        };
        let planes = batch.planes.chunks_exact_mut(inputs.len(size));
        let policies = batch.policies.chunks_exact_mut(size.moves());
        let mut seen = Vec::with_capacity(examples.len());
        for (((example, &symmetry), planes), policy) in examples.iter().zip(symmetries).zip(planes).zip(policies) {
            let Some(frame) = Frame::new(example.size, size, inputs) else {
                return Err(NetError::OtherBoard { expected: size, found: example.size });
            };
            seen.push((example, symmetry, frame));
            frame.write_planes(inputs, planes, |planes| inputs.of_example(example, symmetry, planes))?;
            frame.write(policy, 0.0, |policy| targets.policy(example, symmetry, policy))?;
            let [outcome, search] = targets.value_sources(example)?;
            batch.outcomes.push(outcome);
            batch.searches.push(search);
            let score = targets.score(example);
            batch.scores.push(score.unwrap_or(0.0));
            batch.scores_known.push(f32::from(u8::from(score.is_some())));
            batch.weights.push(targets.weight(example)?);
        }
        for (&(example, symmetry, frame), row) in seen.iter().zip(batch.ownership.chunks_exact_mut(size.area())) {
            let known = frame.write(row, 0.5, |row| targets.ownership(example, symmetry, row));
            batch.ownership_known.push(f32::from(u8::from(known)));
        }
        for (&(example, symmetry, frame), row) in seen.iter().zip(batch.replies.chunks_exact_mut(size.moves())) {
            frame.write(row, 0.0, |row| targets.reply(example, symmetry, row))?;
        }
        for (&(example, symmetry, frame), row) in seen.iter().zip(batch.mask.chunks_exact_mut(size.moves())) {
            frame.write(row, ILLEGAL, |row| targets.illegal(example, symmetry, row))?;
        }
        Ok(batch)
    }
}

#[cfg(test)]
mod tests {
    use config::PolicyTarget;
    use go::Size;
    use record::synthetic;

    use super::*;
    use crate::{Inputs, features};

    #[test]
    fn an_example_of_a_smaller_board_is_itself_in_the_middle_and_nothing_around() {
        let targets = Targets {
            choice_moves: 0,
            policy: PolicyTarget::Visits,
            policy_exponent: 1.0,
            outcome_share: 1.0,
            legal_only: true,
            ownership: true,
            opponent: true,
        };
        let [three, five] =
            [3, 5].map(|side| Shape { inputs: Inputs::Features, ..Shape::plain(Size::new(side).unwrap()) });
        let examples = synthetic::game("made-1", "batch", 1, three.size, 9).examples().unwrap();
        let symmetries: Vec<Symmetry> = (0..examples.len()).map(|index| Symmetry::ALL[index % 8]).collect();
        let own = Batch::encode(three, &examples, &targets, &symmetries).unwrap();
        let seen = Batch::encode(five, &examples, &targets, &symmetries).unwrap();
        let outside = |index: usize| if index == 9 { 25 } else { (index / 3 + 1) * 5 + index % 3 + 1 };
        let same = |own: &[f32], seen: &[f32], beyond: f32| {
            let width = seen.len() / examples.len();
            for (own, seen) in own.chunks_exact(own.len() / examples.len()).zip(seen.chunks_exact(width)) {
                let mut expected = vec![beyond; width];
                own.iter().enumerate().for_each(|(index, &number)| expected[outside(index)] = number);
                assert_eq!(seen, expected);
            }
        };
        same(&own.policies, &seen.policies, 0.0);
        same(&own.replies, &seen.replies, 0.0);
        same(&own.ownership, &seen.ownership, 0.5);
        same(&own.mask, &seen.mask, ILLEGAL);
        assert_eq!((&own.outcomes, &own.scores), (&seen.outcomes, &seen.scores));
        let planes = own.planes.chunks_exact(9).zip(seen.planes.chunks_exact(25)).enumerate();
        for (number, (own, seen)) in planes {
            let komi = number % features::COUNT == features::KOMI;
            let mut expected = vec![if komi { own[0] } else { 0 }; 25];
            own.iter().enumerate().for_each(|(index, &byte)| expected[outside(index)] = byte);
            assert_eq!(seen, expected);
        }
        let refused = Batch::encode(Shape::plain(five.size), &examples, &targets, &symmetries);
        assert!(matches!(refused, Err(NetError::OtherBoard { .. })));
    }
}
