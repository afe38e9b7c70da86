//! Files of networks against the networks: both are asked about the same positions.

use go::Symmetry;
use record::{Example, synthetic};
use tch::Kind;

use crate::leela_zero::{self, Zero};
use crate::mode::Mode;
use crate::tensor_options::TensorOptions;
use crate::threads::single;
use crate::tower::{Format, Tower, numbers};
use crate::{Difference, FileKind, NetError, Shape, Weights, folded};

/// Two ways to calculate the same network may differ by so much in a probability or a value. f32 has 24 bits, and each of
/// some forty layers rounds sums of thousands of products; what was measured stays below a tenth of this, and a network
/// in bf16 is a hundred times further off.
const TOLERANCE: f32 = 1e-4;
/// Positions at a time: a network of 40 blocks and 256 filters takes little memory so.
const BATCH: usize = 8;
const CPU: TensorOptions = TensorOptions { device: tch::Device::Cpu, kind: Kind::Float };

impl FileKind {
    /// Makes a file of this kind, and asks what is in it and the network as it is trained about positions: made-up ones
    /// and those given.
    ///
    /// # Errors
    /// [`NetError::Differs`] when they answer differently, a layer that such a file has no room for, or an example for
    /// another board.
    pub fn write(self, weights: &Weights, examples: &[Example]) -> Result<(Vec<u8>, Difference), NetError> {
        let file = match self {
            FileKind::Weights => weights.to_bytes(),
            FileKind::Folded => folded::write(weights),
            FileKind::LeelaZero => Zero::of_weights(weights)?.to_bytes(),
        };
        let difference = self.read_as(&file, Some(weights), examples)?.1;
        Ok((file, difference))
    }
}

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
        Some(zero) => compare(&batches, |planes| played(&trained, planes), |planes| leela_zero::answers(zero, planes))?,
        None => Difference::default(),
    };
    if original.is_some() {
        let read = Tower::new(found, CPU, Format::Planes)?;
        let more = compare(&batches, |planes| played(&trained, planes), |planes| played(&read, planes))?;
        difference = difference.or(more);
    }
    difference.check()?;
    Ok(difference)
}

impl Difference {
    fn or(self, other: Difference) -> Difference {
        Difference {
            policy: self.policy.max(other.policy),
            value: self.value.max(other.value),
            positions: self.positions.max(other.positions),
        }
    }

    fn check(self) -> Result<(), NetError> {
        // Written so that what is no number is no equality.
        let equal = self.policy <= TOLERANCE && self.value <= TOLERANCE;
        if equal { Ok(()) } else { Err(NetError::Differs { difference: self }) }
    }
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
    let mut batches = vec![Vec::new()];
    for example in made_up.chain(examples.iter().cloned()) {
        if example.size != shape.size {
            return Err(NetError::OtherBoard { expected: shape.size, found: example.size });
        }
        let mut planes = vec![0; shape.inputs.len(shape.size)];
        shape.inputs.of_example(&example, Symmetry::Identity, &mut planes)?;
        if batches.last().is_some_and(|batch| batch.len() == BATCH * planes.len()) {
            batches.push(Vec::new());
        }
        batches.last_mut().expect("there is one from the start").extend(planes);
    }
    Ok(batches)
}

/// Policies and values.
type Answers = (Vec<f32>, Vec<f32>);

fn played(tower: &Tower, planes: &[u8]) -> Result<Answers, NetError> {
    let _no_gradients = tch::no_grad_guard();
    let answers = tower.forward(planes, Mode::Playing)?;
    Ok((numbers(&answers.logits.f_softmax(-1, Kind::Float)?)?, numbers(&answers.values)?))
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
    use go::Size;

    use super::*;

    fn weights(seed: u64) -> Weights {
        let plain = Shape::plain(Size::new(5).unwrap());
        let shape = Shape { blocks: 1, filters: 8, value_hidden: 16, ..plain };
        Weights::synthetic(shape, seed)
    }

    #[test]
    fn a_file_of_another_network_is_refused() {
        for kind in FileKind::ALL {
            let (file, _) = kind.write(&weights(1), &[]).unwrap();
            assert!(kind.read_as(&file, Some(&weights(1)), &[]).is_ok());
            let error = kind.read_as(&file, Some(&weights(2)), &[]).unwrap_err();
            assert!(matches!(error, NetError::Differs { .. }), "{error}");
        }
    }

    #[test]
    fn export_check_finds_a_changed_weight() {
        let slips: [fn(&mut Zero); 4] = [
            |zero| zero.dense[0].biases.swap(3, 4),
            |zero| zero.dense[2].biases[0] += 0.002,
            |zero| zero.convolutions[1].means[0] += 0.01,
            |zero| zero.convolutions[0].weights[..18].reverse(),
        ];
        for (number, slip) in slips.into_iter().enumerate() {
            let mut zero = Zero::of_weights(&weights(1)).unwrap();
            slip(&mut zero);
            let error = FileKind::LeelaZero.read_as(&zero.to_bytes(), Some(&weights(1)), &[]).unwrap_err();
            assert!(matches!(error, NetError::Differs { .. }), "slip {number}: {error}");
        }
    }

    #[test]
    fn what_is_no_number_is_no_equality() {
        assert!(largest(&[0.5, f32::NAN], &[0.5, 0.5]).is_infinite());
        assert!(Difference { policy: f32::NAN, ..Difference::default() }.check().is_err());
        assert!(Difference::default().check().is_ok());
    }
}
