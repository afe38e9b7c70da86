//! Files of networks against the networks: both evaluate the same positions.

use go::Symmetry;
use record::{Example, Replay, synthetic};
use tch::Kind;

use crate::flat::Format;
use crate::leela_zero::{self, Zero};
use crate::mode::Mode;
use crate::tensor_options::TensorOptions;
use crate::threads::single;
use crate::tower::{Tower, numbers};
use crate::{Difference, NetError, Shape, Weights};

/// Positions at a time: a network of 40 blocks and 256 filters takes little memory so.
const BATCH: usize = 8;
const CPU: TensorOptions = TensorOptions { device: tch::Device::Cpu, kind: Kind::Float };

/// Compares what was read with the numbers of a file of Leela Zero's, and with the weights that the file was made of.
pub(crate) fn verify(
    found: &Weights,
    zero: Option<&Zero>,
    original: Option<&Weights>,
    examples: &[Example],
) -> Result<Difference, NetError> {
    let batches = batches(found.shape(), examples)?;
    let trained = Tower::new(original.unwrap_or(found), CPU, Format::Planes)?;
    let mut difference = match zero {
        Some(zero) => {
            compare(&batches, |planes| evaluate(&trained, planes), |planes| leela_zero::answers(zero, planes))?
        }
        None => Difference::default(),
    };
    if original.is_some() {
        let read = Tower::new(found, CPU, Format::Planes)?;
        let more = compare(&batches, |planes| evaluate(&trained, planes), |planes| evaluate(&read, planes))?;
        difference = difference.or(more);
    }
    if difference.is_rounding() { Ok(difference) } else { Err(NetError::Differs { difference }) }
}

/// The planes of made-up positions and of examples, some positions at a time.
fn batches(shape: Shape, examples: &[Example]) -> Result<Vec<Vec<u8>>, NetError> {
    let made_up = (0..4).flat_map(|index| {
        let game = synthetic::game("made-up", "exchange", index, shape.size, 1);
        let examples = game.examples().expect("made-up games are played by the rules");
        let every = examples.len().div_ceil(4).max(1);
        // An odd distance, so that both sides are to move.
        examples.into_iter().step_by(every | 1)
    });
    let mut replay = Replay::new(shape.size);
    let mut batches = vec![Vec::new()];
    for example in made_up.chain(examples.iter().cloned()) {
        if example.size != shape.size {
            return Err(NetError::OtherBoard { expected: shape.size, found: example.size });
        }
        let mut planes = vec![0; shape.inputs.len(shape.size)];
        shape.inputs.of_example(&example, Symmetry::Identity, &mut replay, &mut planes)?;
        if batches.last().is_some_and(|batch| batch.len() == BATCH * planes.len()) {
            batches.push(Vec::new());
        }
        batches.last_mut().expect("the list begins with a batch").extend(planes);
    }
    Ok(batches)
}

/// Policies and values.
type Answers = (Vec<f32>, Vec<f32>);

fn evaluate(tower: &Tower, planes: &[u8]) -> Result<Answers, NetError> {
    let _no_gradients = tch::no_grad_guard();
    let output = tower.forward(planes, Mode::Playing)?;
    Ok((numbers(&output.logits.f_softmax(-1, Kind::Float)?)?, numbers(&output.values)?))
}

fn compare(
    batches: &[Vec<u8>],
    one: impl Fn(&[u8]) -> Result<Answers, NetError>,
    other: impl Fn(&[u8]) -> Result<Answers, NetError>,
) -> Result<Difference, NetError> {
    single();
    let mut difference = Difference::default();
    for planes in batches {
        let (one, other) = (one(planes)?, other(planes)?);
        let positions = one.1.len();
        let here = Difference { policy: largest(&one.0, &other.0), value: largest(&one.1, &other.1), positions };
        difference = Difference { positions: difference.positions + positions, ..difference.or(here) };
    }
    Ok(difference)
}

/// The largest difference; infinite when one is no number.
fn largest(a: &[f32], b: &[f32]) -> f32 {
    let apart = |(x, y): (&f32, &f32)| if (x - y).is_finite() { (x - y).abs() } else { f32::INFINITY };
    a.iter().zip(b).map(apart).fold(0.0, f32::max)
}

#[cfg(test)]
mod tests {
    use cpu::{Auxiliary, Description, InstructionSet, Model, Precision};
    use go::Size;

    use super::*;

    #[test]
    fn auxiliary_heads_of_crate_cpu_are_those_of_training() {
        let mut compared = [0, 0];
        for shape in Shape::samples(Size::new(5).unwrap()) {
            let bytes = Weights::synthetic(shape, 5).to_bytes();
            let heads = Auxiliary::from_safetensors(&bytes).unwrap();
            assert_eq!((heads.ownership.is_some(), heads.score.is_some()), (shape.ownership, shape.score));
            let description = Description::from_safetensors(&bytes).unwrap();
            let model = Model::new(&description, Precision::F32, InstructionSet::best()).unwrap();
            let mut session = model.session();
            let tower = Tower::new(&Weights::from_bytes(&bytes).unwrap(), CPU, Format::Planes).unwrap();
            let _no_gradients = tch::no_grad_guard();
            for batch in batches(shape, &[]).unwrap() {
                let trained = tower.forward(&batch, Mode::Playing).unwrap();
                let found: Vec<_> =
                    batch.chunks(model.position_len()).map(|planes| session.predict(planes, &heads)).collect();
                if let Some(logits) = trained.ownership {
                    let owners: Vec<f32> = found.iter().flat_map(|one| one.ownership.clone().unwrap()).collect();
                    let expected = numbers(&logits.f_sigmoid().unwrap().f_flatten(0, -1).unwrap()).unwrap();
                    assert_eq!(owners.len(), expected.len());
                    assert!(largest(&owners, &expected) < 1e-4, "{shape}");
                    compared[0] += owners.len();
                }
                if let Some(scores) = trained.scores {
                    let side = shape.size.side() as f32;
                    let margins: Vec<f32> = found.iter().map(|one| one.margin.unwrap() / side).collect();
                    assert!(largest(&margins, &numbers(&scores).unwrap()) < 1e-3, "{shape}");
                    compared[1] += margins.len();
                }
            }
        }
        assert!(compared[0] > 0 && compared[1] > 0);
    }

    #[test]
    fn nan_output_is_a_mismatch() {
        assert!(largest(&[0.5, f32::NAN], &[0.5, 0.5]).is_infinite());
        assert!(!Difference { policy: f32::NAN, ..Difference::default() }.is_rounding());
        assert!(Difference::default().is_rounding());
    }
}
