//! What batches cost, in numbers.

use config::Train;

/// The losses of one batch or of several. All are means over positions by their weights, entropies in nats.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Losses {
    /// Cross-entropy −Σ π·ln p of the predicted policy p against the target π; at least [`Losses::target_entropy`].
    pub policy: f32,
    /// Value loss by `train.value_loss`: as a rule the squared error (v − t)², at most 4.
    pub value: f32,
    /// Ownership loss: cross-entropy of the points, less that of the target with itself. Like those of score and
    /// opponent policy it is a mean over the positions that have a target, and 0 where none has, or without the head.
    pub ownership: f32,
    /// Score loss: half the square of the error in points by the side of the board, or of an error above
    /// 1 its size less ½ (Huber).
    pub score: f32,
    /// Cross-entropy of the predicted policy of the opponent against the move it played.
    pub opponent_policy: f32,
    /// The weight of the positions with an ownership target, 0 without the head.
    pub ownership_known: f32,
    /// The weight of the positions with a score, 0 without the head.
    pub score_known: f32,
    /// The weight of the positions with a move of the opponent, 0 without the head.
    pub opponent_policy_known: f32,
    /// The penalty λ‖w‖²/2 on the weights.
    pub l2: f32,
    /// The sum of all, each by its weight. A step makes another sum small where positions lack a target: there the
    /// losses of auxiliary heads are means within a part of `train.norm_batch` examples, and parts count by the weights
    /// of all their positions. The two are equal where each part has the same share of positions with a target. This
    /// one can be compared with that of the validation set, whose parts have other sizes.
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
    /// The mean of several batches, each with the sum of the weights of its positions; `None` of none. Where positions
    /// may lack a target, those with one count: a batch without any costs 0 there, which says nothing of the network.
    pub fn mean(train: &Train, batches: &[(f64, Losses)]) -> Option<Losses> {
        let total: f64 = batches.iter().map(|(weight, _)| weight).sum();
        let mean = |part: fn(&Losses) -> f32| {
            let sum: f64 = batches.iter().map(|(weight, losses)| weight * f64::from(part(losses))).sum();
            (sum / total) as f32
        };
        let known = |known: fn(&Losses) -> f32| batches.iter().map(|(_, l)| f64::from(known(l))).sum::<f64>();
        let known_mean = |part: fn(&Losses) -> f32, weight: fn(&Losses) -> f32| {
            let total = known(weight);
            let sum: f64 = batches.iter().map(|(_, l)| f64::from(weight(l)) * f64::from(part(l))).sum();
            if total > 0.0 { (sum / total) as f32 } else { mean(part) }
        };
        let parts = || Losses {
            policy: mean(|l| l.policy),
            value: mean(|l| l.value),
            ownership: known_mean(|l| l.ownership, |l| l.ownership_known),
            score: known_mean(|l| l.score, |l| l.score_known),
            opponent_policy: known_mean(|l| l.opponent_policy, |l| l.opponent_policy_known),
            ownership_known: known(|l| l.ownership_known) as f32,
            score_known: known(|l| l.score_known) as f32,
            opponent_policy_known: known(|l| l.opponent_policy_known) as f32,
            l2: mean(|l| l.l2),
            total: 0.0,
            accuracy: mean(|l| l.accuracy),
            top_three: mean(|l| l.top_three),
            target_entropy: mean(|l| l.target_entropy),
            output_entropy: mean(|l| l.output_entropy),
            mean_value: mean(|l| l.mean_value),
            value_confidence: mean(|l| l.value_confidence),
            value_error: mean(|l| l.value_error),
            constant_error: mean(|l| l.constant_error),
        };
        (total > 0.0).then(parts).map(|parts| Losses { total: parts.sum(train), ..parts })
    }

    /// The sum of the parts and the penalty, each by its weight.
    fn sum(&self, train: &Train) -> f32 {
        let weighed = [
            (self.value, train.value_weight),
            (self.ownership, train.ownership_weight),
            (self.score, train.score_weight),
            (self.opponent_policy, train.opponent_policy_weight),
        ];
        let weighed = weighed.map(|(part, weight)| f64::from(part) * f64::from(weight));
        (f64::from(self.policy) + weighed.iter().sum::<f64>() + f64::from(self.l2)) as f32
    }

    /// With the penalty on the weights, which does not depend on positions.
    pub(crate) fn with_l2(self, l2: f32) -> Losses {
        Losses { l2, total: self.total + l2, ..self }
    }

    /// Every number with its name, for logs and plots.
    pub fn named(&self) -> Vec<(&'static str, f32)> {
        [&self.losses()[..], &self.measures()].concat()
    }

    /// The parts of the loss, and their sum.
    pub fn losses(&self) -> [(&'static str, f32); 7] {
        [
            ("policy", self.policy),
            ("value", self.value),
            ("ownership", self.ownership),
            ("score", self.score),
            ("opponent_policy", self.opponent_policy),
            ("l2", self.l2),
            ("total", self.total),
        ]
    }

    /// The numbers that training does not minimise.
    pub fn measures(&self) -> [(&'static str, f32); 8] {
        [
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
