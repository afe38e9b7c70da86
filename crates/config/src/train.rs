//! `[train]`: optimiser, losses and schedules.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::error::{rising, rule};
use crate::{ConfigError, Inputs, MOST_BLOCKS, MOST_FILTERS};

/// Optimiser, losses and schedules.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Train {
    /// Examples in a batch.
    #[schemars(range(min = 1))]
    pub batch: usize,
    /// Optimiser steps per model, at most.
    ///
    /// Fewer where `window.reuse_limit` or `window.samples_per_game` bounds the examples; the shuffler warns of it.
    #[schemars(range(min = 1))]
    pub steps: usize,
    /// Optimiser.
    ///
    /// "muon" trains more in a step: at equal time a run was 250 Elo stronger, with half of the games for a model
    /// (`experiments/0126-a-run-with-muon`). "nesterov" is the default, "sgd" is Minigo's.
    pub optimizer: Optimizer,
    /// Momentum.
    #[schemars(range(min = 0.0), extend("exclusiveMaximum" = 1.0))]
    pub momentum: f32,
    /// λ of the L2 penalty λ‖w‖² / 2, on weights only.
    ///
    /// Biases and batch norms have none, nor have kernels of 3x3 with "muon", whose length is constant.
    #[schemars(range(min = 0.0))]
    pub l2: f32,
    /// Maximum norm of the gradient (clipping); 0: off.
    ///
    /// Worth it with high rates, where single batches throw the weights off. Not measured here.
    #[schemars(range(min = 0.0))]
    pub clip_norm: f32,
    /// Decay of the EMA of the weights; 0: off.
    ///
    /// The exponential moving average is published, with batch-norm statistics re-estimated. 0.999 halves in 700 steps.
    /// Worth it with auxiliary heads and momentum; not measured against 0 alone
    /// (`experiments/0026-aux-heads-nesterov-ema`). 0.998 instead of 0.99 is not worth a change
    /// (`experiments/0117-mean-of-weights-and-root-values`).
    #[schemars(range(min = 0.0), extend("exclusiveMaximum" = 1.0))]
    pub ema_decay: f32,
    /// Policy target from visits.
    ///
    /// "squashed-sampled" is Minigo's. A Gumbel search needs "visits", as its target is the improved policy.
    pub policy_target: PolicyTarget,
    /// Exponent of squashed visits; Minigo: 0.98.
    ///
    /// Below 1 the target is flatter, above 1 sharper. Minigo had 0.95 before.
    #[schemars(extend("exclusiveMinimum" = 0.0))]
    pub policy_exponent: f32,
    /// Weight of the value loss relative to the policy loss.
    #[schemars(range(min = 0.0))]
    pub value_weight: f32,
    /// Value loss.
    ///
    /// "cross-entropy" with `network.value_head = "win-draw-loss"` is that of Leela Chess Zero and KataGo: its gradient
    /// does not vanish where the value is certain and wrong. "squared" is that of AlphaGo Zero. On stored games neither
    /// was better in the first 3,000 steps (`experiments/0125-values-on-stored-games`).
    pub value_loss: ValueLoss,
    /// Share λ_v of the outcome in the value target; the rest is the root value.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub outcome_fraction: f32,
    /// Weight of the loss of `network.ownership`.
    #[schemars(range(min = 0.0))]
    pub ownership_weight: f32,
    /// Weight of the loss of `network.score`.
    #[schemars(range(min = 0.0))]
    pub score_weight: f32,
    /// Weight of the loss of `network.opponent_policy`; KataGo: 0.15.
    #[schemars(range(min = 0.0))]
    pub opponent_policy_weight: f32,
    /// Data augmentation by a random symmetry.
    ///
    /// Always worth it: a run without is lost (`experiments/0037-window-and-ablations`).
    pub augment_symmetries: bool,
    /// Examples that a batch norm normalises together; 0: the whole batch.
    ///
    /// A batch is cut into parts of nearly this size, on a CPU for its threads. Losses of auxiliary heads are means
    /// over the positions of a part that have a target. A GPU is fast with the whole batch only. The effect on strength
    /// was not measured.
    pub norm_batch: usize,
    /// Schedule: a larger network from a model number on (Net2Net).
    ///
    /// The grown network computes the same function; momentum is reset. `from_model` is above 1 and rises. A small
    /// network publishes its first models sooner.
    pub grow: Vec<Grow>,
    /// Learning-rate schedule; `from_step` starts at 0 and rises.
    ///
    /// A rate is constant until the next entry. A linear fall was as strong at the end of an hour
    /// (`experiments/0122-an-hour-with-4x64`).
    pub learning_rate: Vec<LearningRate>,
}

/// An entry of `train.grow`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Grow {
    /// Number of the first model with this network.
    pub from_model: u32,
    /// As `network.blocks`, no fewer than before.
    #[schemars(range(max = MOST_BLOCKS))]
    pub blocks: usize,
    /// As `network.filters`, no fewer than before.
    #[schemars(range(min = 1, max = MOST_FILTERS))]
    pub filters: usize,
    /// As `network.inputs`: unchanged, or "tactics" after "features".
    pub inputs: Inputs,
}

impl Grow {
    /// The keys whose values an entry replaces.
    pub const KEYS: &[&str] = &["network.blocks", "network.filters", "network.inputs"];
}

/// Optimiser.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Optimizer {
    /// Stochastic gradient descent with momentum.
    Sgd,
    /// Stochastic gradient descent with Nesterov momentum.
    Nesterov,
    /// Muon for kernels of 3x3 (Jordan and others 2024), Nesterov momentum for all other tensors.
    Muon,
}

/// Value loss.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ValueLoss {
    /// (v − t)², values from −1 to 1.
    Squared,
    /// −t ln v − (1 − t) ln(1 − v) less the entropy of the target, values from 0 to 1; with
    /// `network.value_head = "win-draw-loss"` the same over its three probabilities.
    CrossEntropy,
}

/// Transformation from visit counts to the policy target.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PolicyTarget {
    /// In proportion to the visits.
    Visits,
    /// In proportion to visits^policy_exponent before `selfplay.choice_moves`, as `visits` later (Minigo).
    SquashedSampled,
}

/// An entry of `train.learning_rate`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LearningRate {
    /// Optimiser step of the run from which the rate holds.
    pub from_step: u64,
    /// Learning rate.
    #[schemars(extend("exclusiveMinimum" = 0.0))]
    pub rate: f32,
}

impl Train {
    pub(crate) fn check(&self) -> Result<(), ConfigError> {
        let steps: Vec<u64> = self.learning_rate.iter().map(|piece| piece.from_step).collect();
        rule(
            steps.first() == Some(&0) && steps.is_sorted_by(|a, b| a < b),
            "train.learning_rate",
            format!("{steps:?}"),
            "from_step must start at 0 and rise",
        )?;
        rising("train.grow", self.grow.iter().map(|grow| grow.from_model), 2)
    }
}

#[cfg(test)]
mod tests {
    use crate::test::error;

    #[test]
    fn values_out_of_range_are_errors() {
        assert_eq!(error(&["train.policy_exponent=0"]), "train.policy_exponent is 0: must be above 0");
        assert!(error(&["train.policy_target=soft"]).contains("squashed-sampled"));
        assert_eq!(error(&["train.momentum=nan"]), "train.momentum is NaN: must be finite");
        assert_eq!(error(&["train.momentum=1"]), "train.momentum is 1: must be from 0 to below 1");
        assert!(error(&["train.batch=0"]).contains("must be at least 1"));
    }

    #[test]
    fn learning_rates_out_of_order_or_range_are_errors() {
        let rates = |list: &str| error(&[&format!("train.learning_rate=[{list}]")]);
        assert!(rates("").contains("from_step must start at 0 and rise"));
        assert!(rates("{from_step=1,rate=1.0}").contains("train.learning_rate is [1]"));
        assert!(rates("{from_step=0,rate=1.0},{from_step=0,rate=0.1}").contains("[0, 0]"));
        assert_eq!(rates("{from_step=0,rate=0.0}"), "train.learning_rate[0].rate is 0: must be above 0");
    }
}
