//! How far answers are from targets.

use config::{OutcomeIn, ValueLoss};
use tch::Tensor;

use crate::NetError;
use crate::batch::Batch;
use crate::tower::{Answers, numbers};

/// What a batch, or many, cost. All are means over positions by their weights, entropies in nats.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Losses {
    /// Cross-entropy −Σ π·ln p of the answered policy p against the target π; at least [`Losses::target_entropy`].
    pub policy: f32,
    /// What the answered values cost by `train.value_loss`: squared error (v − t)², 4 at worst, as a rule.
    pub value: f32,
    /// What the answered ownership costs: cross-entropy of the points, less that of the target with itself; 0 where it is
    /// not learned.
    pub ownership: f32,
    /// What the answered score costs: half the square of the error in points by the side of the board, or of an error above
    /// 1 its size less ½ (Huber); 0 where it is not learned.
    pub score: f32,
    /// Cross-entropy of the answered policy of the opponent against the move it played; 0 where it is not learned.
    pub opponent: f32,
    /// The penalty λ‖w‖²/2 on the weights.
    pub l2: f32,
    /// The sum of all, each by its weight: what training makes small.
    pub total: f32,
    /// Share of positions whose most probable move is the target's.
    pub accuracy: f32,
    /// Share of positions whose target's most probable move is among the three most probable ones.
    pub top_three: f32,
    /// Entropy of the target policies.
    pub target_entropy: f32,
    /// Entropy of the answered policies.
    pub output_entropy: f32,
    /// The answered value.
    pub mean_value: f32,
    /// The size of the answered value: how sure the network is of the winner.
    pub value_confidence: f32,
    /// Squared error (v − t)², whatever the loss is.
    pub value_error: f32,
    /// Squared error of the best constant: a network that knows anything is below it.
    pub constant_error: f32,
}

/// How the parts of a loss are taken and weighed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Terms {
    value_weight: f32,
    value_loss: ValueLoss,
    value_exponent: f32,
    outcome_share: f32,
    outcome_in: OutcomeIn,
    ownership_weight: f32,
    score_weight: f32,
    opponent_weight: f32,
}

/// The loss of a batch, with all that is needed to say more about it.
pub(crate) struct Loss {
    /// The weighted sum of the parts: what the gradient is taken of.
    pub(crate) tensor: Tensor,
    /// Policy, value, ownership, score, opponent.
    parts: [Tensor; 5],
    /// Logarithms of the answered probabilities, and the target's probabilities.
    logs: Tensor,
    target: Tensor,
    /// Answered values, and their targets.
    values: Tensor,
    mixed: Tensor,
    weights: Tensor,
}

/// A value of probability 0 or 1 costs as much as one so far from it would, so that no logarithm is infinite.
const MARGIN: f64 = 1e-6;

impl Terms {
    pub(crate) fn new(train: &config::Train) -> Terms {
        Terms {
            value_weight: train.value_weight,
            value_loss: train.value_loss,
            value_exponent: train.value_exponent,
            outcome_share: train.outcome_share,
            outcome_in: train.outcome_in,
            ownership_weight: train.ownership_weight,
            score_weight: train.score_weight,
            opponent_weight: train.opponent_weight,
        }
    }

    /// What the values of a network cost, one number a position: 0 for the target itself.
    fn answered(&self, answers: &Answers, outcomes: &Tensor, searches: &Tensor) -> Result<Tensor, NetError> {
        match &answers.value_logits {
            Some(logits) if self.value_loss == ValueLoss::CrossEntropy => {
                self.mixed(&three_ways(outcomes)?, &two_ways(searches)?, |target| chances_cost(logits, target))
            }
            _ => self.value(&answers.values, outcomes, searches),
        }
    }

    fn value(&self, values: &Tensor, outcomes: &Tensor, searches: &Tensor) -> Result<Tensor, NetError> {
        self.mixed(outcomes, searches, |target| self.error(values, target))
    }

    fn mixed(
        &self,
        outcomes: &Tensor,
        searches: &Tensor,
        cost: impl Fn(&Tensor) -> Result<Tensor, NetError>,
    ) -> Result<Tensor, NetError> {
        let share = f64::from(self.outcome_share);
        match self.outcome_in {
            OutcomeIn::Target => cost(&mix(outcomes, searches, share)),
            OutcomeIn::Loss => Ok(mix(&cost(outcomes)?, &cost(searches)?, share)),
        }
    }

    fn error(&self, values: &Tensor, targets: &Tensor) -> Result<Tensor, NetError> {
        let half = |x: &Tensor| (x + 1.0) / 2.0;
        let exponent = f64::from(self.value_exponent);
        Ok(match self.value_loss {
            ValueLoss::Squared => (values - targets).f_square()?,
            ValueLoss::Power => (half(values) - half(targets)).f_abs()?.f_pow_tensor_scalar(exponent)?,
            ValueLoss::CrossEntropy => {
                let (v, t) = (half(values).f_clamp(MARGIN, 1.0 - MARGIN)?, half(targets));
                let (not_v, not_t): (Tensor, Tensor) = (1.0 - &v, 1.0 - &t);
                let least = t.f_xlogy(&t)? + not_t.f_xlogy(&not_t)?;
                least - (t * v.f_log()? + not_t * not_v.f_log()?)
            }
        })
    }
}

/// Chances of winning, drawing and losing where the outcome is known: one of them is 1.
fn three_ways(outcomes: &Tensor) -> Result<Tensor, NetError> {
    let ways = [outcomes.f_relu()?, 1.0 - outcomes.f_abs()?, outcomes.f_neg()?.f_relu()?];
    Ok(Tensor::f_stack(&ways, -1)?)
}

/// Chances of winning, drawing and losing of a value that a search has found, which does not tell draws: there are none.
fn two_ways(values: &Tensor) -> Result<Tensor, NetError> {
    let ways = [(values + 1.0) / 2.0, values.f_zeros_like()?, (1.0 - values) / 2.0];
    Ok(Tensor::f_stack(&ways, -1)?)
}

/// Cross-entropy of chances against a target, less the target's with itself.
fn chances_cost(logits: &Tensor, target: &Tensor) -> Result<Tensor, NetError> {
    let least = target.f_xlogy(target)?.f_sum_dim_intlist(-1, false, target.kind())?;
    Ok(cross(target, &logits.f_log_softmax(-1, logits.kind())?)? + least)
}

/// share·first + (1 − share)·second.
fn mix(first: &Tensor, second: &Tensor, share: f64) -> Tensor {
    first * share + second * (1.0 - share)
}

/// Compares answers with targets. The probabilities of a target sum to 1.
pub(crate) fn loss(answers: &Answers, batch: &Batch, terms: &Terms) -> Result<Loss, NetError> {
    let (device, kind) = (answers.logits.device(), answers.logits.kind());
    let given = |numbers: &[f32]| -> Result<Tensor, NetError> {
        Ok(Tensor::f_from_slice(numbers)?.f_to_device(device)?.f_to_kind(kind)?)
    };
    let weights = given(&batch.weights)?;
    let mean = |x: &Tensor| mean(x, &weights);
    let target = given(&batch.policies)?.f_view_as(&answers.logits)?;
    let logs = masked(&answers.logits, &given(&batch.mask)?)?.f_log_softmax(-1, kind)?;
    let policy = mean(&cross(&target, &logs)?)?;
    let (outcomes, searches) = (given(&batch.outcomes)?, given(&batch.searches)?);
    let value = mean(&terms.answered(answers, &outcomes, &searches)?)?;
    let zero = policy.f_detach()?.f_zeros_like()?;
    let ownership = match &answers.ownership {
        Some(logits) if !batch.ownership.is_empty() => {
            let owners = given(&batch.ownership)?.f_view_as(logits)?;
            known_mean(&wrong_owners(logits, &owners)?, &given(&batch.ownership_known)?, &weights)?
        }
        _ => zero.shallow_clone(),
    };
    let score = match &answers.scores {
        Some(scores) => known_mean(&huber(&(scores - given(&batch.scores)?))?, &given(&batch.scores_known)?, &weights)?,
        None => zero.shallow_clone(),
    };
    let opponent = match &answers.opponent {
        Some(logits) if !batch.replies.is_empty() => {
            let replies = given(&batch.replies)?.f_view_as(logits)?;
            let cost = cross(&replies, &logits.f_log_softmax(-1, kind)?)?;
            known_mean(&cost, &replies.f_sum_dim_intlist(-1, false, kind)?, &weights)?
        }
        _ => zero,
    };
    let weighed = [
        (&value, terms.value_weight),
        (&ownership, terms.ownership_weight),
        (&score, terms.score_weight),
        (&opponent, terms.opponent_weight),
    ];
    let sum = weighed.iter().fold(policy.shallow_clone(), |sum, (part, weight)| sum + *part * f64::from(*weight));
    Ok(Loss {
        tensor: sum.f_view([1])?,
        parts: [policy, value, ownership, score, opponent],
        logs,
        target,
        values: answers.values.shallow_clone(),
        mixed: mix(&outcomes, &searches, f64::from(terms.outcome_share)),
        weights,
    })
}

/// Logits without those of illegal moves, if there is a mask.
fn masked(logits: &Tensor, mask: &Tensor) -> Result<Tensor, NetError> {
    if mask.numel() == 0 { Ok(logits.shallow_clone()) } else { Ok(logits.f_add(&mask.f_view_as(logits)?)?) }
}

/// −Σ p·ln q over the moves, one number a position.
fn cross(p: &Tensor, log_q: &Tensor) -> Result<Tensor, NetError> {
    Ok(-(p * log_q).f_sum_dim_intlist(-1, false, p.kind())?)
}

/// Mean over the points of what wrong owners cost, one number a position: 0 for the target itself.
fn wrong_owners(logits: &Tensor, owners: &Tensor) -> Result<Tensor, NetError> {
    let cost = logits.f_binary_cross_entropy_with_logits::<Tensor>(owners, None, None, tch::Reduction::None)?;
    let others: Tensor = 1.0 - owners;
    let least = owners.f_xlogy(owners)? + others.f_xlogy(&others)?;
    Ok((cost + least).f_mean_dim(&[-1i64][..], false, logits.kind())?)
}

/// Half the square of an error, or of a large one its size less ½ (Huber 1964).
fn huber(error: &Tensor) -> Result<Tensor, NetError> {
    Ok(error.f_huber_loss(&error.f_zeros_like()?, tch::Reduction::None, 1.0)?)
}

/// Σ w·x / Σ w: a batch of light positions takes a step as large as any other.
fn mean(x: &Tensor, weights: &Tensor) -> Result<Tensor, NetError> {
    Ok((x * weights).f_sum(x.kind())?.f_div(&weights.f_sum(x.kind())?)?)
}

/// The mean over the positions that have a target; 0 when none has.
fn known_mean(x: &Tensor, known: &Tensor, weights: &Tensor) -> Result<Tensor, NetError> {
    let weights = known * weights;
    let total = weights.f_sum(x.kind())?.f_clamp_min(f64::from(f32::MIN_POSITIVE))?;
    Ok((x * &weights).f_sum(x.kind())?.f_div(&total)?)
}

impl Loss {
    /// The numbers, without the penalty.
    pub(crate) fn read(&self) -> Result<Losses, NetError> {
        let _no_gradients = tch::no_grad_guard();
        let Loss { logs, target, values, mixed, weights, .. } = self;
        let kind = logs.kind();
        let mean = |x: &Tensor| mean(x, weights);
        // 0·ln 0 is 0 here; xlogy knows.
        let target_entropy = mean(&-target.f_xlogy(target)?.f_sum_dim_intlist(-1, false, kind)?)?;
        // The logarithm of an illegal move's probability is so negative that 0 times it would be none.
        let output_entropy = mean(&cross(&logs.f_exp()?, &logs.f_clamp_min(-1e4)?)?)?;
        let three = logs.f_topk(logs.size()[1].min(3), -1, true, true)?.1;
        let hits = three.f_eq_tensor(&target.f_argmax(-1, true)?)?.f_to_kind(kind)?;
        let facts = [
            self.tensor.f_squeeze()?,
            mean(&hits.f_select(1, 0)?)?,
            mean(&hits.f_sum_dim_intlist(-1, false, kind)?)?,
            target_entropy,
            output_entropy,
            mean(values)?,
            mean(&values.f_abs()?)?,
            mean(&(values - mixed).f_square()?)?,
            mean(&(mixed - mean(mixed)?).f_square()?)?,
        ];
        let all: Vec<&Tensor> = self.parts.iter().chain(&facts).collect();
        let numbers = numbers(&Tensor::f_stack(&all, 0)?)?;
        let parts: [f32; 14] = numbers.try_into().expect("fourteen numbers were stacked");
        let [policy, value, ownership, score, opponent, total, accuracy, top_three, ..] = parts;
        let [.., target_entropy, output_entropy, _, _, _, _] = parts;
        let [.., mean_value, value_confidence, value_error, constant_error] = parts;
        Ok(Losses {
            policy,
            value,
            ownership,
            score,
            opponent,
            l2: 0.0,
            total,
            accuracy,
            top_three,
            target_entropy,
            output_entropy,
            mean_value,
            value_confidence,
            value_error,
            constant_error,
        })
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
            ownership: mean(|l| l.ownership),
            score: mean(|l| l.score),
            opponent: mean(|l| l.opponent),
            l2: mean(|l| l.l2),
            total: mean(|l| l.total),
            accuracy: mean(|l| l.accuracy),
            top_three: mean(|l| l.top_three),
            target_entropy: mean(|l| l.target_entropy),
            output_entropy: mean(|l| l.output_entropy),
            mean_value: mean(|l| l.mean_value),
            value_confidence: mean(|l| l.value_confidence),
            value_error: mean(|l| l.value_error),
            constant_error: mean(|l| l.constant_error),
        })
    }

    /// With the penalty on the weights, which does not depend on positions.
    pub(crate) fn with_l2(self, l2: f32) -> Losses {
        Losses { l2, total: self.total + l2, ..self }
    }

    /// Every number with its name, for logs and plots.
    pub fn named(&self) -> [(&'static str, f32); 15] {
        [
            ("policy", self.policy),
            ("value", self.value),
            ("ownership", self.ownership),
            ("score", self.score),
            ("opponent", self.opponent),
            ("l2", self.l2),
            ("total", self.total),
            ("accuracy", self.accuracy),
            ("top_three", self.top_three),
            ("target_entropy", self.target_entropy),
            ("output_entropy", self.output_entropy),
            ("mean_value", self.mean_value),
            ("value_confidence", self.value_confidence),
            ("value_error", self.value_error),
            ("constant_error", self.constant_error),
        ]
    }
}

#[cfg(test)]
mod tests {
    use tch::Kind;

    use super::*;

    /// Squared errors of a mixed target.
    fn terms(value_weight: f32) -> Terms {
        Terms {
            value_weight,
            value_loss: ValueLoss::Squared,
            value_exponent: 2.0,
            outcome_share: 0.75,
            outcome_in: OutcomeIn::Target,
            ownership_weight: 0.5,
            score_weight: 0.25,
            opponent_weight: 0.5,
        }
    }

    const LN2: f32 = std::f32::consts::LN_2;

    /// Two positions with three moves.
    fn batch(policies: [f32; 6], values: [f32; 2]) -> Batch {
        Batch {
            policies: policies.to_vec(),
            outcomes: values.to_vec(),
            searches: values.to_vec(),
            scores: vec![0.0; 2],
            scores_known: vec![0.0; 2],
            weights: vec![1.0; 2],
            ..Batch::default()
        }
    }

    fn answers(logits: [f32; 6], values: [f32; 2]) -> Answers {
        let leaf = |numbers: &[f32]| Tensor::from_slice(numbers).set_requires_grad(true);
        let logits = leaf(&logits).view([2, 3]).detach().set_requires_grad(true);
        plain(logits, leaf(&values))
    }

    /// Answers of a network that has no other heads.
    fn plain(logits: Tensor, values: Tensor) -> Answers {
        let (value_logits, opponent, ownership, scores) = (None, None, None, None);
        Answers { logits, values, value_logits, opponent, ownership, scores, statistics: Vec::new() }
    }

    fn close(a: f32, b: f32) -> bool {
        (a - b).abs() < 1e-6
    }

    #[test]
    fn a_case_by_hand() {
        // Probabilities 1/2, 1/4, 1/4 and 1/4, 1/4, 1/2.
        let answers = answers([LN2, 0.0, 0.0, 3.0, 3.0, 3.0 + LN2], [0.5, -0.25]);
        let batch = batch([1.0, 0.0, 0.0, 0.5, 0.5, 0.0], [1.0, -1.0]);
        let losses = loss(&answers, &batch, &terms(2.0)).unwrap().read().unwrap().with_l2(0.125);
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
        let loss = loss(&answers, &batch(target, values), &terms(0.5)).unwrap();
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
            let answers = plain(logits, answered);
            let (policies, values) = (pick(&target, 3), pick(&values, 1));
            let weights = weights.to_vec();
            let batch = Batch { policies, outcomes: values.clone(), searches: values, weights, ..Batch::default() };
            let loss = loss(&answers, &batch, &terms(0.5)).unwrap();
            let gradients = Tensor::run_backward(&[&loss.tensor], &[&answers.logits], false, false);
            let gradient = numbers(&gradients[0].sum_dim_intlist(0, false, Kind::Float)).unwrap();
            (loss.read().unwrap(), gradient)
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
        let losses = loss(&answers, &batch(target, [1.0, -1.0]), &terms(1.0)).unwrap().read().unwrap();
        assert!(close(losses.policy, losses.target_entropy) && close(losses.policy, losses.output_entropy));
        assert_eq!((losses.value, losses.accuracy), (0.0, 1.0));
    }

    /// What values cost, and its gradient.
    fn value_cost(terms: &Terms, values: &[f32], outcomes: &[f32], searches: &[f32]) -> (Vec<f32>, Vec<f32>) {
        let values = Tensor::from_slice(values).set_requires_grad(true);
        let cost = terms.value(&values, &Tensor::from_slice(outcomes), &Tensor::from_slice(searches)).unwrap();
        let gradients = Tensor::run_backward(&[cost.sum(Kind::Float)], &[&values], false, false);
        (numbers(&cost).unwrap(), numbers(&gradients[0]).unwrap())
    }

    fn all_close(a: &[f32], b: &[f32]) -> bool {
        a.len() == b.len() && a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-5)
    }

    const VALUES: [f32; 5] = [-0.9, -0.3, 0.0, 0.4, 0.8];
    const OUTCOMES: [f32; 5] = [-1.0, 1.0, 0.0, -1.0, 1.0];
    const SEARCHES: [f32; 5] = [-0.7, 0.2, 0.1, 0.3, -0.5];
    const VALUE_LOSSES: [ValueLoss; 3] = [ValueLoss::Squared, ValueLoss::Power, ValueLoss::CrossEntropy];

    #[test]
    fn the_target_itself_costs_nothing_and_all_else_something() {
        for value_loss in VALUE_LOSSES {
            let terms = Terms { value_loss, value_exponent: 2.6, ..terms(1.0) };
            let (at_target, gradient) = value_cost(&terms, &SEARCHES, &SEARCHES, &SEARCHES);
            assert!(
                all_close(&at_target, &[0.0; 5]) && all_close(&gradient, &[0.0; 5]),
                "{value_loss:?} {at_target:?}"
            );
            let (elsewhere, _) = value_cost(&terms, &VALUES, &SEARCHES, &SEARCHES);
            assert!(elsewhere.iter().all(|&cost| cost > 1e-4), "{value_loss:?} {elsewhere:?}");
        }
    }

    /// Squares and cross-entropies are linear in the target up to terms without the value; other powers are not.
    #[test]
    fn mixing_the_loss_is_mixing_the_target_where_algebra_says_so() {
        for (value_loss, same) in VALUE_LOSSES.into_iter().zip([true, false, true]) {
            let cost = |outcome_in| {
                let terms = Terms { value_loss, value_exponent: 2.6, outcome_in, ..terms(1.0) };
                value_cost(&terms, &VALUES, &OUTCOMES, &SEARCHES)
            };
            let ((target, target_gradient), (loss, loss_gradient)) = (cost(OutcomeIn::Target), cost(OutcomeIn::Loss));
            assert_eq!(all_close(&target_gradient, &loss_gradient), same, "{value_loss:?}");
            assert!(!all_close(&target, &loss), "the values differ by what the targets are apart");
        }
    }

    #[test]
    fn the_share_of_the_outcome_goes_from_search_to_outcome() {
        for value_loss in VALUE_LOSSES {
            for outcome_in in [OutcomeIn::Target, OutcomeIn::Loss] {
                let cost = |outcome_share, outcomes: &[f32], searches: &[f32]| {
                    let terms = Terms { value_loss, outcome_in, outcome_share, ..terms(1.0) };
                    value_cost(&terms, &VALUES, outcomes, searches).1
                };
                let none = [0.0; 5];
                assert!(all_close(&cost(1.0, &OUTCOMES, &none), &cost(1.0, &OUTCOMES, &SEARCHES)));
                assert!(all_close(&cost(0.0, &none, &SEARCHES), &cost(0.0, &OUTCOMES, &SEARCHES)));
                assert!(!all_close(&cost(1.0, &OUTCOMES, &SEARCHES), &cost(0.0, &OUTCOMES, &SEARCHES)));
            }
        }
    }

    #[test]
    fn a_square_is_a_power_on_another_scale() {
        let gradient = |value_loss, value_exponent| {
            let terms = Terms { value_loss, value_exponent, ..terms(1.0) };
            value_cost(&terms, &VALUES, &OUTCOMES, &SEARCHES).1
        };
        let (square, power) = (gradient(ValueLoss::Squared, 2.0), gradient(ValueLoss::Power, 2.0));
        assert!(all_close(&square, &power.iter().map(|g| 4.0 * g).collect::<Vec<_>>()), "{square:?} {power:?}");
        assert!(!all_close(&power, &gradient(ValueLoss::Power, 2.6)));
    }

    #[test]
    fn owners_and_scores_by_hand() {
        // Two positions on two points; the second position's area and score are not known.
        let mut batch = batch([1.0, 0.0, 0.0, 1.0, 0.0, 0.0], [0.0; 2]);
        batch.ownership = vec![1.0, 0.5, 0.0, 0.0];
        batch.ownership_known = vec![1.0, 0.0];
        batch.scores = vec![0.5, 9.0];
        batch.scores_known = vec![1.0, 0.0];
        let mut answers = answers([0.0; 6], [0.0; 2]);
        answers.ownership = Some(Tensor::from_slice(&[0.0f32, 0.0, 5.0, 5.0]).view([2, 2]));
        answers.scores = Some(Tensor::from_slice(&[0.0f32, 0.0]));
        let losses = loss(&answers, &batch, &terms(0.0)).unwrap().read().unwrap();
        // ln 2 for a point that is taken to be anybody's and is the mover's, nothing for one that is nobody's.
        assert!(close(losses.ownership, LN2 / 2.0) && close(losses.score, 0.125), "{losses:?}");
        assert!(close(losses.total, losses.policy + 0.5 * LN2 / 2.0 + 0.25 * 0.125), "{losses:?}");
        answers.scores = Some(Tensor::from_slice(&[-2.5f32, 0.0]));
        assert!(close(loss(&answers, &batch, &terms(0.0)).unwrap().read().unwrap().score, 2.5), "|3| − ½");
        batch.ownership_known = vec![0.0; 2];
        assert_eq!(loss(&answers, &batch, &terms(0.0)).unwrap().read().unwrap().ownership, 0.0);
    }

    #[test]
    fn chances_by_hand() {
        let chances = |numbers: [f32; 6]| Tensor::from_slice(&numbers).view([2, 3]);
        // Chances of ½, ¼, ¼ and of ¼, ½, ¼.
        let logits = chances([LN2, 0.0, 0.0, 0.0, LN2, 0.0]).set_requires_grad(true);
        let mut answers = answers([0.0; 6], [0.25, 0.0]);
        answers.value_logits = Some(logits.shallow_clone());
        let terms = Terms { value_loss: ValueLoss::CrossEntropy, outcome_share: 1.0, ..terms(1.0) };
        // A win, and a draw.
        let batch = batch([1.0, 0.0, 0.0, 1.0, 0.0, 0.0], [1.0, 0.0]);
        let loss = loss(&answers, &batch, &terms).unwrap();
        assert!(close(loss.read().unwrap().value, LN2), "{:?}", loss.read());
        let gradients = Tensor::run_backward(&[&loss.tensor], &[&logits], false, false);
        let expected = [-0.25, 0.125, 0.125, 0.125, -0.25, 0.125];
        assert!(all_close(&numbers(&gradients[0]).unwrap(), &expected));
        // A search's 0.5 is ¾ and ¼; whatever a target is, it costs nothing itself.
        let search = two_ways(&Tensor::from_slice(&[0.5f32, -1.0])).unwrap();
        assert!(all_close(&numbers(&search).unwrap(), &[0.75, 0.0, 0.25, 0.0, 0.0, 1.0]));
        let itself = chances_cost(&(search.shallow_clone() + 1e-12).log(), &search).unwrap();
        assert!(all_close(&numbers(&itself).unwrap(), &[0.0; 2]));
    }

    #[test]
    fn answers_of_the_opponent_by_hand() {
        // The first answer is the second move; of the second position it is not known.
        let mut batch = batch([1.0, 0.0, 0.0, 1.0, 0.0, 0.0], [0.0; 2]);
        batch.replies = vec![0.0, 1.0, 0.0, 0.0, 0.0, 0.0];
        let mut answers = answers([0.0; 6], [0.0; 2]);
        answers.opponent = Some(Tensor::from_slice(&[0.0f32, LN2, 0.0, 9.0, 0.0, 0.0]).view([2, 3]));
        let losses = loss(&answers, &batch, &terms(0.0)).unwrap().read().unwrap();
        assert!(close(losses.opponent, LN2) && close(losses.total, losses.policy + 0.5 * LN2), "{losses:?}");
        batch.replies = Vec::new();
        assert_eq!(loss(&answers, &batch, &terms(0.0)).unwrap().read().unwrap().opponent, 0.0);
    }

    #[test]
    fn illegal_moves_take_no_part() {
        let mut batch = batch([0.5, 0.5, 0.0, 1.0, 0.0, 0.0], [0.0; 2]);
        let answers = answers([0.0, 0.0, 7.0, 0.0, 0.0, 0.0], [0.0; 2]);
        let open = loss(&answers, &batch, &terms(0.0)).unwrap().read().unwrap();
        batch.mask = vec![0.0, 0.0, -1e9, 0.0, 0.0, 0.0];
        let loss = loss(&answers, &batch, &terms(0.0)).unwrap();
        let losses = loss.read().unwrap();
        assert!(close(losses.policy, (LN2 + 3f32.ln()) / 2.0), "{losses:?}");
        assert!(open.policy > losses.policy + 1.0 && losses.output_entropy.is_finite(), "{open:?} {losses:?}");
        let gradients = Tensor::run_backward(&[&loss.tensor], &[&answers.logits], false, false);
        assert_eq!(numbers(&gradients[0]).unwrap()[2], 0.0);
    }

    #[test]
    fn confidence_and_errors_of_values() {
        let answers = answers([0.0; 6], [0.5, -0.25]);
        let batch = batch([1.0, 0.0, 0.0, 1.0, 0.0, 0.0], [1.0, 0.0]);
        let losses = loss(&answers, &batch, &terms(1.0)).unwrap().read().unwrap();
        assert!(
            close(losses.value_confidence, 0.375) && close(losses.value_error, (0.25 + 0.0625) / 2.0),
            "{losses:?}"
        );
        assert!(close(losses.constant_error, 0.25), "½ is the best constant: {losses:?}");
        assert_eq!(losses.top_three, 1.0, "of three moves");
    }

    #[test]
    fn batches_count_by_their_weights() {
        let one = |policy| Losses { policy, ..Losses::default() };
        assert_eq!(Losses::mean(&[(3.0, one(1.0)), (1.0, one(5.0))]).unwrap().policy, 2.0);
        assert_eq!(Losses::mean(&[]), None);
    }
}
