//! What batches cost, in numbers.

/// The losses of one batch or of several. All are means over positions by their weights, entropies in nats.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Losses {
    /// Cross-entropy −Σ π·ln p of the predicted policy p against the target π; at least [`Losses::target_entropy`].
    pub policy: f32,
    /// Value loss by `train.value_loss`: as a rule the squared error (v − t)², at most 4.
    pub value: f32,
    /// Ownership loss: cross-entropy of the points, less that of the target with itself; 0 where it is
    /// not trained.
    pub ownership: f32,
    /// Score loss: half the square of the error in points by the side of the board, or of an error above
    /// 1 its size less ½ (Huber); 0 without the head.
    pub score: f32,
    /// Cross-entropy of the predicted policy of the opponent against the move it played; 0 without the head.
    pub opponent_policy: f32,
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
    /// Entropy of the predicted policies.
    pub output_entropy: f32,
    /// The predicted value.
    pub mean_value: f32,
    /// The size of the predicted value: how sure the network is of the winner.
    pub value_confidence: f32,
    /// Squared error (v − t)², independent of the value loss.
    pub value_error: f32,
    /// Squared error of the best constant: a network that knows anything is below it.
    pub constant_error: f32,
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
            opponent_policy: mean(|l| l.opponent_policy),
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
            ("opponent_policy", self.opponent_policy),
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
