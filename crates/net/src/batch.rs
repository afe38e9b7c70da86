//! Batches of examples as tensors.

use go::Symmetry;
use record::{Example, Replay};

use crate::columns::Columns;
use crate::{NetError, Shape, Targets};

/// A batch of examples; rows follow each other.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Batch {
    pub(crate) planes: Vec<u8>,
    pub(crate) columns: Columns<Vec<f32>>,
}

/// The numbers of some rows of a batch.
struct Rows<'a> {
    planes: &'a mut [u8],
    columns: Columns<&'a mut [f32]>,
}

/// Numbers of each row: bytes of the planes, and of the columns.
#[derive(Clone, Copy)]
struct Widths {
    planes: usize,
    columns: Columns<usize>,
}

impl Widths {
    fn new(Shape { size, inputs, .. }: Shape, targets: &Targets) -> Widths {
        let (moves, area) = (size.moves(), size.area());
        let if_any = |wanted: bool, width: usize| if wanted { width } else { 0 };
        Widths {
            planes: inputs.len(size),
            columns: Columns {
                policies: moves,
                outcomes: 1,
                searches: 1,
                ownership: if_any(targets.ownership, area),
                ownership_known: if_any(targets.ownership, 1),
                scores: 1,
                scores_known: 1,
                opponent_moves: if_any(targets.opponent_policy, moves),
                weights: 1,
            },
        }
    }
}

impl Batch {
    /// Encodes examples, each under its symmetry.
    pub(crate) fn encode(
        shape: Shape,
        examples: &[Example],
        targets: &Targets,
        symmetries: &[Symmetry],
    ) -> Result<Batch, NetError> {
        Batch::encode_on(1, shape, examples, targets, symmetries)
    }

    /// The same with several threads, each of which writes some rows.
    pub(crate) fn encode_on(
        threads: usize,
        shape: Shape,
        examples: &[Example],
        targets: &Targets,
        symmetries: &[Symmetry],
    ) -> Result<Batch, NetError> {
        if examples.is_empty() {
            return Err(NetError::NoExamples);
        }
        let widths = Widths::new(shape, targets);
        let mut batch = Batch::zeros(widths, examples.len());
        let encode = |(rows, (examples, symmetries)): (Rows<'_>, (&[Example], &[Symmetry]))| {
            rows.encode(widths, shape, examples, targets, symmetries)
        };
        let share = examples.len().div_ceil(threads.max(1));
        let inputs = examples.chunks(share).zip(symmetries.chunks(share));
        let encode = &encode;
        std::thread::scope(|scope| {
            let mut shares = batch.shares(widths, share).zip(inputs);
            let own = shares.next();
            let threads: Vec<_> = shares.map(|share| scope.spawn(move || encode(share))).collect();
            let own = own.map_or(Ok(()), encode);
            let others = threads.into_iter().map(|thread| thread.join().expect("an encoding thread does not panic"));
            others.fold(own, Result::and)
        })?;
        Ok(batch)
    }

    fn zeros(widths: Widths, rows: usize) -> Batch {
        let columns = widths.columns.map(|width| vec![0.0; rows * width]);
        Batch { planes: vec![0; rows * widths.planes], columns }
    }

    /// All rows, in shares of so many.
    fn shares(&mut self, widths: Widths, rows: usize) -> impl Iterator<Item = Rows<'_>> {
        let Batch { planes, columns } = self;
        let mut rest = columns.each_mut().map(Vec::as_mut_slice);
        planes.chunks_mut(rows * widths.planes).map(move |planes| {
            let count = planes.len() / widths.planes;
            let columns = rest
                .each_mut()
                .zip(widths.columns)
                .map(|(numbers, width)| numbers.split_off_mut(..count * width).unwrap_or_default());
            Rows { planes, columns }
        })
    }
}

impl Rows<'_> {
    fn encode(
        self,
        widths: Widths,
        Shape { size, inputs, .. }: Shape,
        examples: &[Example],
        targets: &Targets,
        symmetries: &[Symmetry],
    ) -> Result<(), NetError> {
        let Rows { planes, columns } = self;
        // Without `..`: a column that nothing encodes would be trained on zeros.
        let Columns {
            policies,
            outcomes,
            searches,
            ownership,
            ownership_known,
            scores,
            scores_known,
            opponent_moves,
            weights,
        } = columns;
        let (moves, area) = (size.moves(), size.area());
        let mut replay = Replay::new(size);
        for (row, (example, &symmetry)) in examples.iter().zip(symmetries).enumerate() {
            if example.size != size {
                return Err(NetError::OtherBoard { expected: size, found: example.size });
            }
            let planes = &mut planes[row * widths.planes..][..widths.planes];
            inputs.of_example(example, symmetry, &mut replay, planes)?;
            targets.policy(example, symmetry, &mut policies[row * moves..][..moves])?;
            [outcomes[row], searches[row]] = targets.value_sources(example)?;
            let margin = targets.score(example);
            (scores[row], scores_known[row]) = (margin.unwrap_or(0.0), f32::from(u8::from(margin.is_some())));
            weights[row] = targets.weight(example)?;
            if targets.ownership {
                let known = targets.ownership(example, symmetry, &mut ownership[row * area..][..area]);
                ownership_known[row] = f32::from(u8::from(known));
            }
            if targets.opponent_policy {
                targets.opponent_move(example, symmetry, &mut opponent_moves[row * moves..][..moves])?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use config::Preset;
    use go::{Size, Stones};
    use record::synthetic;

    use super::*;

    #[test]
    fn threads_encode_the_same_batch() {
        let shape = Shape { ownership: true, opponent_policy: true, ..Shape::plain(Size::new(5).unwrap()) };
        let targets = Targets::new(&Preset::NineByNine.config());
        let examples = synthetic::game("random", "w", 1, shape.size, 30).examples().unwrap();
        let symmetries: Vec<Symmetry> = (0..examples.len()).map(|index| Symmetry::ALL[index % 8]).collect();
        let expected = Batch::encode(shape, &examples, &targets, &symmetries).unwrap();
        Widths::new(shape, &targets).columns.map(|width| assert!(width > 0, "everything is encoded"));
        for threads in [1, 3, 100] {
            assert!(
                Batch::encode_on(threads, shape, &examples, &targets, &symmetries).unwrap() == expected,
                "{threads}"
            );
        }
        assert!(matches!(Batch::encode_on(3, shape, &[], &targets, &[]), Err(NetError::NoExamples)));
    }

    #[test]
    fn targets_turn_with_the_planes() {
        let size = Size::new(5).unwrap();
        let shape = Shape { ownership: true, opponent_policy: true, ..Shape::plain(size) };
        let targets = Targets::new(&Preset::NineByNine.config());
        let mut games = (0..).map(|index| synthetic::game("random", "w", index, size, 30));
        let examples = games.find(|game| game.score.is_some()).unwrap().examples().unwrap();
        let symmetries: Vec<Symmetry> = (0..examples.len()).map(|index| Symmetry::ALL[index % 8]).collect();
        let turn = |(example, symmetry): (&Example, &Symmetry)| {
            let set = |stones: Stones| testing::transformed(*symmetry, size, &stones);
            let place = |index: u16| symmetry.permutation(size)[usize::from(index)];
            Example {
                base: set(example.base),
                recent: example.recent.iter().map(|&index| place(index)).collect(),
                visits: example.visits.iter().map(|&(index, count)| (place(index), count)).collect(),
                opponent_move: example.opponent_move.map(place),
                area: example.area.map(set),
                ..example.clone()
            }
        };
        let turned: Vec<Example> = examples.iter().zip(&symmetries).map(turn).collect();
        let encode = |examples: &[Example], symmetries: &[Symmetry]| {
            Batch::encode(shape, examples, &targets, symmetries).unwrap()
        };
        let as_they_are = vec![Symmetry::Identity; examples.len()];
        let (batch, unturned) = (encode(&examples, &symmetries), encode(&examples, &as_they_are));
        assert!(batch == encode(&turned, &as_they_are), "the same as of turned boards");
        let (batch, unturned) = (batch.columns, unturned.columns);
        assert!(batch.policies != unturned.policies);
        assert!(batch.ownership != unturned.ownership && batch.opponent_moves != unturned.opponent_moves);
    }
}
