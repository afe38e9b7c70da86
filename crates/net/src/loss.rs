//! Losses of outputs against targets.

use config::ValueLoss;
use tch::Tensor;

use crate::columns::Columns;
use crate::tensor_options::TensorOptions;
use crate::tower::{TowerOutput, numbers};
use crate::{Losses, NetError};

/// How the parts of a loss are taken and weighed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LossConfig {
    value_weight: f32,
    value_loss: ValueLoss,
    outcome_fraction: f32,
    ownership_weight: f32,
    score_weight: f32,
    opponent_policy_weight: f32,
}

/// The targets of a batch on the device. What the batch lacks is a tensor of no numbers.
pub(crate) type TargetTensors = Columns<Tensor>;

/// The loss of a batch, with all that is needed to say more about it.
pub(crate) struct Loss {
    /// The weighted sum of the parts, whose gradient is computed.
    pub(crate) tensor: Tensor,
    policy: Tensor,
    value: Tensor,
    ownership: Tensor,
    score: Tensor,
    opponent_policy: Tensor,
    /// The weights of the positions that have a target.
    ownership_known: Tensor,
    score_known: Tensor,
    opponent_policy_known: Tensor,
    /// Logarithms of the predicted probabilities, and the target's probabilities.
    logs: Tensor,
    target: Tensor,
    /// Predicted values, and their targets.
    values: Tensor,
    mixed: Tensor,
    weights: Tensor,
}

/// A value of probability 0 or 1 costs as much as one so far from it would, so that no logarithm is infinite.
const MARGIN: f64 = 1e-6;

impl LossConfig {
    pub(crate) fn new(train: &config::Train) -> LossConfig {
        LossConfig {
            value_weight: train.value_weight,
            value_loss: train.value_loss,
            outcome_fraction: train.outcome_fraction,
            ownership_weight: train.ownership_weight,
            score_weight: train.score_weight,
            opponent_policy_weight: train.opponent_policy_weight,
        }
    }

    /// The value loss, one number a position: 0 for the target itself.
    fn answered(&self, output: &TowerOutput, outcomes: &Tensor, searches: &Tensor) -> Result<Tensor, NetError> {
        match &output.value_logits {
            Some(logits) if self.value_loss == ValueLoss::CrossEntropy => {
                chances_cost(logits, &self.mixed(&three_ways(outcomes)?, &two_ways(searches)?))
            }
            _ => self.value(&output.values, outcomes, searches),
        }
    }

    fn value(&self, values: &Tensor, outcomes: &Tensor, searches: &Tensor) -> Result<Tensor, NetError> {
        self.error(values, &self.mixed(outcomes, searches))
    }

    /// The value target: λ_v·outcome + (1 − λ_v)·root value.
    fn mixed(&self, outcomes: &Tensor, searches: &Tensor) -> Tensor {
        let share = f64::from(self.outcome_fraction);
        outcomes * share + searches * (1.0 - share)
    }

    fn error(&self, values: &Tensor, targets: &Tensor) -> Result<Tensor, NetError> {
        let half = |x: &Tensor| (x + 1.0) / 2.0;
        Ok(match self.value_loss {
            ValueLoss::Squared => (values - targets).f_square()?,
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

/// Chances of winning, drawing and losing of a value that a search has found, which does not tell draws: there are
/// none.
fn two_ways(values: &Tensor) -> Result<Tensor, NetError> {
    let ways = [(values + 1.0) / 2.0, values.f_zeros_like()?, (1.0 - values) / 2.0];
    Ok(Tensor::f_stack(&ways, -1)?)
}

/// Cross-entropy of chances against a target, less the target's with itself.
fn chances_cost(logits: &Tensor, target: &Tensor) -> Result<Tensor, NetError> {
    let least = target.f_xlogy(target)?.f_sum_dim_intlist(-1, false, target.kind())?;
    Ok(cross(target, &logits.f_log_softmax(-1, logits.kind())?)? + least)
}

impl TargetTensors {
    /// Of the type that outputs have, which is not rounded.
    pub(crate) fn new(columns: &Columns<Vec<f32>>, options: TensorOptions) -> Result<TargetTensors, NetError> {
        columns.each_ref().try_map(|numbers| {
            Ok(Tensor::f_from_slice(numbers)?.f_to_device(options.device)?.f_to_kind(options.exact())?)
        })
    }

    pub(crate) fn share(&self) -> TargetTensors {
        self.each_ref().map(Tensor::shallow_clone)
    }
}

/// The loss of network outputs against targets. The probabilities of a target sum to 1.
pub(crate) fn loss(output: &TowerOutput, targets: &TargetTensors, loss_config: &LossConfig) -> Result<Loss, NetError> {
    let kind = output.logits.kind();
    let TargetTensors { outcomes, searches, weights, .. } = targets;
    let mean = |x: &Tensor| mean(x, weights);
    let target = targets.policies.f_view_as(&output.logits)?;
    let logs = output.logits.f_log_softmax(-1, kind)?;
    let policy = mean(&cross(&target, &logs)?)?;
    let value = mean(&loss_config.answered(output, outcomes, searches)?)?;
    let zero = policy.f_detach()?.f_zeros_like()?;
    let nothing = || (zero.shallow_clone(), zero.shallow_clone());
    let (ownership, ownership_known) = match &output.ownership {
        Some(logits) if targets.ownership.numel() > 0 => {
            let owners = targets.ownership.f_view_as(logits)?;
            known_mean(&wrong_owners(logits, &owners)?, &targets.ownership_known, weights)?
        }
        _ => nothing(),
    };
    let (score, score_known) = match &output.scores {
        Some(scores) => known_mean(&huber(&(scores - &targets.scores))?, &targets.scores_known, weights)?,
        None => nothing(),
    };
    let (opponent_policy, opponent_policy_known) = match &output.opponent_policy {
        Some(logits) if targets.opponent_moves.numel() > 0 => {
            let moves = targets.opponent_moves.f_view_as(logits)?;
            let cost = cross(&moves, &logits.f_log_softmax(-1, kind)?)?;
            known_mean(&cost, &moves.f_sum_dim_intlist(-1, false, kind)?, weights)?
        }
        _ => nothing(),
    };
    let weighed = [
        (&value, loss_config.value_weight),
        (&ownership, loss_config.ownership_weight),
        (&score, loss_config.score_weight),
        (&opponent_policy, loss_config.opponent_policy_weight),
    ];
    let sum = weighed.iter().fold(policy.shallow_clone(), |sum, (part, weight)| sum + *part * f64::from(*weight));
    Ok(Loss {
        tensor: sum.f_view([1])?,
        policy,
        value,
        ownership,
        score,
        opponent_policy,
        ownership_known,
        score_known,
        opponent_policy_known,
        logs,
        target,
        values: output.values.shallow_clone(),
        mixed: loss_config.mixed(outcomes, searches),
        weights: weights.shallow_clone(),
    })
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

/// The mean over the positions that have a target, and their weight; 0 when none has.
fn known_mean(x: &Tensor, known: &Tensor, weights: &Tensor) -> Result<(Tensor, Tensor), NetError> {
    let weights = known * weights;
    let total = weights.f_sum(x.kind())?;
    let divisor = total.f_clamp_min(f64::from(f32::MIN_POSITIVE))?;
    Ok(((x * &weights).f_sum(x.kind())?.f_div(&divisor)?, total))
}

/// A number of a loss: its field, and how it is computed on the device, given [`Loss::hits`].
type Fact = (fn(&mut Losses) -> &mut f32, fn(&Loss, &Tensor) -> Result<Tensor, NetError>);

/// All numbers but the penalty, in the order of [`Loss::facts`].
const ALL: [Fact; 17] = [
    (|l| &mut l.policy, |loss, _| Ok(loss.policy.shallow_clone())),
    (|l| &mut l.value, |loss, _| Ok(loss.value.shallow_clone())),
    (|l| &mut l.ownership, |loss, _| Ok(loss.ownership.shallow_clone())),
    (|l| &mut l.score, |loss, _| Ok(loss.score.shallow_clone())),
    (|l| &mut l.opponent_policy, |loss, _| Ok(loss.opponent_policy.shallow_clone())),
    (|l| &mut l.ownership_known, |loss, _| Ok(loss.ownership_known.shallow_clone())),
    (|l| &mut l.score_known, |loss, _| Ok(loss.score_known.shallow_clone())),
    (|l| &mut l.opponent_policy_known, |loss, _| Ok(loss.opponent_policy_known.shallow_clone())),
    (|l| &mut l.total, |loss, _| Ok(loss.tensor.f_squeeze()?)),
    (|l| &mut l.accuracy, |loss, hits| loss.mean(&hits.f_select(1, 0)?)),
    (|l| &mut l.top_three, |loss, hits| loss.mean(&hits.f_sum_dim_intlist(-1, false, hits.kind())?)),
    (|l| &mut l.target_entropy, |loss, _| loss.target_entropy()),
    (|l| &mut l.output_entropy, |loss, _| loss.output_entropy()),
    (|l| &mut l.mean_value, |loss, _| loss.mean(&loss.values)),
    (|l| &mut l.value_confidence, |loss, _| loss.mean(&loss.values.f_abs()?)),
    (|l| &mut l.value_error, |loss, _| loss.mean(&(&loss.values - &loss.mixed).f_square()?)),
    (|l| &mut l.constant_error, |loss, _| loss.mean(&(&loss.mixed - loss.mean(&loss.mixed)?).f_square()?)),
];

impl Loss {
    /// The numbers, without the penalty.
    pub(crate) fn read(&self) -> Result<Losses, NetError> {
        let facts = numbers(&self.facts()?)?;
        Ok(Losses::of_facts(facts.try_into().expect("`facts` stacks a number for each of `ALL`")))
    }

    /// The same as a tensor on the device, for [`Losses::of_facts`].
    pub(crate) fn facts(&self) -> Result<Tensor, NetError> {
        let _no_gradients = tch::no_grad_guard();
        let hits = self.hits()?;
        let facts = ALL.iter().map(|(_, compute)| compute(self, &hits)).collect::<Result<Vec<Tensor>, NetError>>()?;
        Ok(Tensor::f_stack(&facts, 0)?)
    }

    /// Which of the three most probable moves is the target's most probable one, a row for each position.
    fn hits(&self) -> Result<Tensor, NetError> {
        let three = self.logs.f_topk(self.logs.size()[1].min(3), -1, true, true)?.1;
        Ok(three.f_eq_tensor(&self.target.f_argmax(-1, true)?)?.f_to_kind(self.logs.kind())?)
    }

    fn target_entropy(&self) -> Result<Tensor, NetError> {
        // 0·ln 0 is 0 here; xlogy knows.
        let target = &self.target;
        self.mean(&-target.f_xlogy(target)?.f_sum_dim_intlist(-1, false, self.logs.kind())?)
    }

    fn output_entropy(&self) -> Result<Tensor, NetError> {
        self.mean(&cross(&self.logs.f_exp()?, &self.logs)?)
    }

    fn mean(&self, x: &Tensor) -> Result<Tensor, NetError> {
        mean(x, &self.weights)
    }
}

impl Losses {
    /// How many numbers [`Loss::facts`] makes.
    pub(crate) const FACTS: usize = ALL.len();

    pub(crate) fn of_facts(facts: [f32; Losses::FACTS]) -> Losses {
        let mut losses = Losses::default();
        ALL.iter().zip(facts).for_each(|((field, _), fact)| *field(&mut losses) = fact);
        losses
    }
}

#[cfg(test)]
mod tests;
