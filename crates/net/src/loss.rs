//! How far answers are from targets.

use tch::{Kind, Tensor};

use crate::NetError;
use crate::batch::Batch;
use crate::tower::{Answers, numbers};

/// What a batch, or many, cost. All are means over positions by their weights, entropies in nats.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Losses {
    /// Cross-entropy −Σ π·ln p of the answered policy p against the target π; at least [`Losses::target_entropy`].
    pub policy: f32,
    /// Squared error (v − t)² of the answered value; 4 at worst.
    pub value: f32,
    /// The penalty λ‖w‖²/2 on the weights.
    pub l2: f32,
    /// policy + c·value + l2: what training makes small.
    pub total: f32,
    /// Share of positions whose most probable move is the target's.
    pub accuracy: f32,
    /// Entropy of the target policies.
    pub target_entropy: f32,
    /// Entropy of the answered policies.
    pub output_entropy: f32,
    /// The answered value.
    pub mean_value: f32,
}

/// The loss of a batch, with all that is worth knowing about it.
pub(crate) struct Loss {
    /// policy + c·value: what the gradient is taken of.
    pub(crate) tensor: Tensor,
    parts: Tensor,
}

/// Compares answers with targets. The probabilities of a target sum to 1.
pub(crate) fn loss(answers: &Answers, batch: &Batch, value_weight: f32) -> Result<Loss, NetError> {
    let device = answers.logits.device();
    let moves = answers.logits.size()[1];
    let target = Tensor::f_from_slice(&batch.policies)?.f_to_device(device)?.f_view([-1, moves])?;
    let target_values = Tensor::f_from_slice(&batch.values)?.f_to_device(device)?;
    let logs = answers.logits.f_log_softmax(-1, Kind::Float)?;
    let weights = Tensor::f_from_slice(&batch.weights)?.f_to_device(device)?;
    let mean = |x: &Tensor| mean(x, &weights);
    let policy = mean(&cross(&target, &logs)?)?;
    let value = mean(&(&answers.values - &target_values).f_square()?)?;
    let tensor = (&policy + &value * f64::from(value_weight)).f_view([1])?;
    // 0·ln 0 is 0 here; xlogy knows.
    let target_entropy = mean(&-target.f_xlogy(&target)?.f_sum_dim_intlist(-1, false, Kind::Float)?)?;
    let output_entropy = mean(&cross(&logs.f_exp()?, &logs)?)?;
    let hits = logs.f_argmax(-1, false)?.f_eq_tensor(&target.f_argmax(-1, false)?)?.f_to_kind(Kind::Float)?;
    let parts = [policy, value, mean(&hits)?, target_entropy, output_entropy, mean(&answers.values)?];
    Ok(Loss { tensor, parts: Tensor::f_stack(&parts, 0)? })
}

/// −Σ p·ln q over the moves, one number a position.
fn cross(p: &Tensor, log_q: &Tensor) -> Result<Tensor, NetError> {
    Ok(-(p * log_q).f_sum_dim_intlist(-1, false, Kind::Float)?)
}

/// Σ w·x / Σ w: a batch of light positions takes a step as large as any other.
fn mean(x: &Tensor, weights: &Tensor) -> Result<Tensor, NetError> {
    Ok((x * weights).f_sum(Kind::Float)?.f_div(&weights.f_sum(Kind::Float)?)?)
}

impl Loss {
    /// The numbers, without the penalty.
    pub(crate) fn read(&self, value_weight: f32) -> Result<Losses, NetError> {
        let parts = numbers(&self.parts)?;
        let &[policy, value, accuracy, target_entropy, output_entropy, mean_value] = parts.as_slice() else {
            unreachable!("six numbers were stacked");
        };
        let total = policy + value_weight * value;
        Ok(Losses { policy, value, l2: 0.0, total, accuracy, target_entropy, output_entropy, mean_value })
    }
}

impl Losses {
    /// The mean of several batches, each with the sum of the weights of its positions; `None` of none.
    pub fn mean(batches: &[(f64, Losses)]) -> Option<Losses> {
        let total: f64 = batches.iter().map(|(weight, _)| weight).sum();
        let mean = |part: fn(&Losses) -> f32| {
            let sum: f64 = batches.iter().map(|(weight, losses)| weight * f64::from(part(losses))).sum();
            (sum / total) as f32
        };
        (total > 0.0).then(|| Losses {
            policy: mean(|l| l.policy),
            value: mean(|l| l.value),
            l2: mean(|l| l.l2),
            total: mean(|l| l.total),
            accuracy: mean(|l| l.accuracy),
            target_entropy: mean(|l| l.target_entropy),
            output_entropy: mean(|l| l.output_entropy),
            mean_value: mean(|l| l.mean_value),
        })
    }

    /// With the penalty on the weights, which does not depend on positions.
    pub(crate) fn with_l2(self, l2: f32) -> Losses {
        Losses { l2, total: self.total + l2, ..self }
    }

    /// Every number with its name, for logs and plots.
    pub fn named(&self) -> [(&'static str, f32); 8] {
        [
            ("policy", self.policy),
            ("value", self.value),
            ("l2", self.l2),
            ("total", self.total),
            ("accuracy", self.accuracy),
            ("target_entropy", self.target_entropy),
            ("output_entropy", self.output_entropy),
            ("mean_value", self.mean_value),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LN2: f32 = std::f32::consts::LN_2;

    /// Two positions with three moves.
    fn batch(policies: [f32; 6], values: [f32; 2]) -> Batch {
        Batch { planes: Vec::new(), policies: policies.to_vec(), values: values.to_vec(), weights: vec![1.0; 2] }
    }

    fn answers(logits: [f32; 6], values: [f32; 2]) -> Answers {
        let leaf = |numbers: &[f32]| Tensor::from_slice(numbers).set_requires_grad(true);
        let logits = leaf(&logits).view([2, 3]).detach().set_requires_grad(true);
        Answers { logits, values: leaf(&values), statistics: Vec::new() }
    }

    fn close(a: f32, b: f32) -> bool {
        (a - b).abs() < 1e-6
    }

    #[test]
    fn a_case_by_hand() {
        // Probabilities 1/2, 1/4, 1/4 and 1/4, 1/4, 1/2.
        let answers = answers([LN2, 0.0, 0.0, 3.0, 3.0, 3.0 + LN2], [0.5, -0.25]);
        let batch = batch([1.0, 0.0, 0.0, 0.5, 0.5, 0.0], [1.0, -1.0]);
        let losses = loss(&answers, &batch, 2.0).unwrap().read(2.0).unwrap().with_l2(0.125);
        assert!(close(losses.policy, (LN2 + 2.0 * LN2) / 2.0), "{losses:?}");
        assert!(close(losses.value, (0.25 + 0.5625) / 2.0), "{losses:?}");
        assert!(close(losses.total, 1.5 * LN2 + 2.0 * 0.40625 + 0.125), "{losses:?}");
        assert!(close(losses.accuracy, 0.5), "{losses:?}");
        assert!(close(losses.target_entropy, LN2 / 2.0), "{losses:?}");
        assert!(close(losses.output_entropy, 1.5 * LN2), "{losses:?}");
        assert!(close(losses.mean_value, 0.125), "{losses:?}");
    }

    #[test]
    fn gradients_are_those_of_the_formulas() {
        let (target, values) = ([0.2, 0.3, 0.5, 1.0, 0.0, 0.0], [1.0, -1.0]);
        let answers = answers([0.3, -1.0, 0.7, 0.0, 2.0, -2.0], [0.5, -0.25]);
        let loss = loss(&answers, &batch(target, values), 0.5).unwrap();
        let gradients = Tensor::run_backward(&[&loss.tensor], &[&answers.logits, &answers.values], false, false);
        // Mean over two rows: (p − π)/2 for the logits, 2·c·(v − t)/2 for the values.
        let probabilities = numbers(&answers.logits.softmax(-1, Kind::Float)).unwrap();
        let found = numbers(&gradients[0]).unwrap();
        assert!(found.iter().zip(probabilities).zip(target).all(|((g, p), t)| close(*g, (p - t) / 2.0)), "{found:?}");
        let found = numbers(&gradients[1]).unwrap();
        assert!(close(found[0], 0.5 * (0.5 - 1.0)) && close(found[1], 0.5 * (-0.25 + 1.0)), "{found:?}");
    }

    /// A position with the weight 3 counts as three with the weight 1.
    #[test]
    fn weights_count_as_repetitions() {
        let (target, values) = ([0.2, 0.3, 0.5, 1.0, 0.0, 0.0], [1.0, -1.0]);
        let (logits, answered) = ([0.3, -1.0, 0.7, 0.0, 2.0, -2.0], [0.5, -0.25]);
        let of = |weights: &[f32], rows: &[usize]| {
            let pick = |all: &[f32], width: usize| -> Vec<f32> {
                rows.iter().flat_map(|row| all[row * width..(row + 1) * width].to_vec()).collect()
            };
            let logits = Tensor::from_slice(&pick(&logits, 3)).view([-1, 3]).set_requires_grad(true);
            let answered = Tensor::from_slice(&pick(&answered, 1)).set_requires_grad(true);
            let answers = Answers { logits, values: answered, statistics: Vec::new() };
            let (policies, values) = (pick(&target, 3), pick(&values, 1));
            let batch = Batch { planes: Vec::new(), policies, values, weights: weights.to_vec() };
            let loss = loss(&answers, &batch, 0.5).unwrap();
            let gradients = Tensor::run_backward(&[&loss.tensor], &[&answers.logits], false, false);
            let gradient = numbers(&gradients[0].sum_dim_intlist(0, false, Kind::Float)).unwrap();
            (loss.read(0.5).unwrap(), gradient)
        };
        let (weighted, gradient) = of(&[3.0, 1.0], &[0, 1]);
        let (repeated, expected) = of(&[1.0; 4], &[0, 0, 0, 1]);
        for ((name, a), (_, b)) in weighted.named().into_iter().zip(repeated.named()) {
            assert!(close(a, b), "{name}: {a} {b}");
        }
        let (first, second) = (of(&[1.0], &[0]).0, of(&[1.0], &[1]).0);
        assert!(close(weighted.policy, (3.0 * first.policy + second.policy) / 4.0));
        assert!(gradient.iter().zip(&expected).all(|(a, b)| close(*a, *b)), "{gradient:?} {expected:?}");
        assert!((weighted.policy - of(&[1.0; 2], &[0, 1]).0.policy).abs() > 0.01, "and it matters");
    }

    #[test]
    fn the_least_loss_is_the_entropy_of_the_target() {
        let target = [0.25, 0.25, 0.5, 0.7, 0.2, 0.1];
        let answers = answers(target.map(f32::ln), [1.0, -1.0]);
        let losses = loss(&answers, &batch(target, [1.0, -1.0]), 1.0).unwrap().read(1.0).unwrap();
        assert!(close(losses.policy, losses.target_entropy) && close(losses.policy, losses.output_entropy));
        assert_eq!((losses.value, losses.accuracy), (0.0, 1.0));
    }

    #[test]
    fn batches_count_by_their_weights() {
        let one = |policy| Losses { policy, ..Losses::default() };
        assert_eq!(Losses::mean(&[(3.0, one(1.0)), (1.0, one(5.0))]).unwrap().policy, 2.0);
        assert_eq!(Losses::mean(&[]), None);
    }
}
