//! `[network]`: the architecture, a residual tower after AlphaGo Zero.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The most that `network.blocks` may be.
pub const MOST_BLOCKS: usize = 80;
/// The most that `network.filters` and other keys of channels may be.
pub const MOST_FILTERS: usize = 1024;
/// The most planes that a head may have.
const MOST_PLANES: usize = 256;

/// The architecture of the network: a residual tower after AlphaGo Zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Network {
    /// Residual blocks of two 3x3 convolutions each.
    #[schemars(range(max = MOST_BLOCKS))]
    pub blocks: usize,
    /// Channels of the tower.
    #[schemars(range(min = 1, max = MOST_FILTERS))]
    pub filters: usize,
    /// Planes of the policy head; AlphaGo Zero: 2.
    ///
    /// A small tower trains its policy faster with more.
    #[schemars(range(min = 1, max = MOST_PLANES))]
    pub policy_planes: usize,
    /// Planes of the value head; AlphaGo Zero: 1.
    #[schemars(range(min = 1, max = MOST_PLANES))]
    pub value_planes: usize,
    /// Width of the hidden layer of the value head.
    #[schemars(range(min = 1, max = 4096))]
    pub value_hidden: usize,
    /// Auxiliary ownership head; search does not use it.
    ///
    /// Its loss has the weight `train.ownership_weight`: a target for each point instead of one for each game.
    /// The three auxiliary heads are worth 136 ± 58 Elo in twelve models (`experiments/0037-window-and-ablations`).
    pub ownership: bool,
    /// Auxiliary score head; search does not use it.
    ///
    /// Its loss has the weight `train.score_weight`. Worth it with `ownership`, which says what was measured.
    pub score: bool,
    /// Auxiliary head for the opponent's next move (training only).
    ///
    /// Its loss has the weight `train.opponent_policy_weight`. Worth it with `ownership`, which says what was measured.
    pub opponent_policy: bool,
    /// Input planes.
    pub inputs: Inputs,
    /// Last layer of the policy head.
    ///
    /// "convolution" has few weights; on 19x19 the dense layer of a small tower has most of them. Trained once on 9x9
    /// games, it had 42.4 instead of 42.0 % top-1 accuracy and was 18 % slower (`experiments/0045-plateau-440-elo`).
    /// Not measured in matches or on 19x19.
    pub policy_head: PolicyHead,
    /// Output of the value head.
    ///
    /// "win-draw-loss" has a probability for draws, which need a whole komi. It costs no speed in self-play
    /// (`experiments/0030-network-variants-throughput`); its strength was not measured.
    pub value_head: ValueHead,
    /// Global average pooling in the value head.
    ///
    /// The hidden layer sees the mean of each plane instead of every point: far fewer weights, which cannot overfit to
    /// game outcomes. Use more `value_planes` with it.
    pub value_pooled: bool,
    /// Hidden width of squeeze-and-excitation in each block; 0: none.
    ///
    /// Leela Chess Zero has it in large towers. On a CPU, inference of 6x64 with 16 is about as fast as without
    /// (`experiments/0112-int16-on-more-networks`). Its strength was not measured.
    #[schemars(range(max = MOST_FILTERS))]
    pub se_channels: usize,
    /// Channels with global pooling in every second block; 0: none.
    ///
    /// Worth it on 19x19, where 3x3 convolutions do not reach across the board: 1.6 times the training efficiency (Wu
    /// 2019). On a CPU, inference of 6x64 with 16 is about as fast as without
    /// (`experiments/0112-int16-on-more-networks`). Its strength was not measured here.
    #[schemars(range(max = MOST_FILTERS))]
    pub pooled_filters: usize,
}

/// Input planes of the network.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Inputs {
    /// The last eight boards and the player to move: 17 planes (AlphaGo Zero, Minigo).
    #[default]
    History,
    /// The board, chains with one, two and three liberties, ko, the last five moves and komi: 16 planes (after KataGo).
    Features,
    /// `features`, and where a stone of either player would capture, be illegal, or have one, two or three liberties;
    /// chains caught in a ladder and the moves that start it; pass-alive regions: 31 planes.
    Tactics,
}

/// Last layer of the policy head.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PolicyHead {
    /// A dense layer from all points of all planes to all moves (AlphaGo Zero).
    #[default]
    Dense,
    /// A 1x1 convolution for the points; for the pass a dense layer over each plane's mean and maximum.
    Convolution,
}

/// Output of the value head.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ValueHead {
    /// One number through tanh (AlphaGo Zero).
    #[default]
    Tanh,
    /// Softmax over win, draw and loss; the value is P(win) − P(loss).
    WinDrawLoss,
}

impl ValueHead {
    /// Outputs of its last layer: 1, or 3 logits.
    pub fn outputs(self) -> usize {
        match self {
            ValueHead::Tanh => 1,
            ValueHead::WinDrawLoss => 3,
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::test::error;

    #[test]
    fn values_out_of_range_are_errors() {
        assert_eq!(error(&["network.blocks=81"]), "network.blocks is 81: must be from 0 to 80");
        assert_eq!(error(&["network.filters=0"]), "network.filters is 0: must be from 1 to 1024");
        assert_eq!(error(&["network.value_hidden=5000"]), "network.value_hidden is 5000: must be from 1 to 4096");
        assert!(error(&["network.value_planes=257"]).contains("must be from 1 to 256"));
        assert!(error(&["network.pooled_filters=1025"]).contains("must be from 0 to 1024"));
        assert!(error(&["network.inputs=eyes"]).contains("tactics"));
    }
}
