//! The shape of a network.

use std::fmt;

use config::{PolicyHead, ValueHead};
use cpu::Header;
use go::Size;

use crate::Inputs;

/// The shape of a network: the tower of AlphaGo Zero with the heads of Minigo, and what may be changed about them.
///
/// - Stem: a 3x3 convolution, batch norm and ReLU.
/// - Tower: `blocks` residual blocks of two such convolutions.
/// - Policy head: a 1x1 convolution to a few planes, batch norm, ReLU, and a dense layer to one number per move.
/// - Value head: a 1x1 convolution to a few planes, batch norm, ReLU, a dense layer of `value_hidden`, ReLU, a dense
///   layer to one number, and tanh. The value is for the side to move.
///
/// No convolution has a bias, because the batch norm after it has one. Batch norms of the heads have neither scale nor
/// shift.
///
/// Three auxiliary heads are for training; search uses none of them, and pages show ownership and score:
///
/// - `ownership`: a 1x1 convolution with a bias, to the logit of each point's final owner being the side to move.
/// - `score`: a dense layer from the hidden layer of the value head, to the margin of the side to move in points after
///   komi, divided by the side of the board.
/// - `opponent_policy`: a second policy from the planes of the first, for the opponent's next move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// The board.
    pub size: Size,
    /// Input planes. An imported network of Leela Zero may have one more.
    pub inputs: Inputs,
    /// Residual blocks.
    pub blocks: usize,
    /// Channels of the tower.
    pub filters: usize,
    /// Hidden width of squeeze-and-excitation at the end of each block (Hu et al. 2018, with a bias as in Leela Chess
    /// Zero); 0: none.
    pub se_channels: usize,
    /// Channels whose mean and maximum over the board shift the channels in the middle of every second block (global
    /// pooling, Wu 2019, section 3.3); 0 for none.
    pub pooled_filters: usize,
    /// Planes of the policy head; 2 in AlphaGo Zero.
    pub policy_planes: usize,
    /// Last layer of the policy head.
    pub policy_head: PolicyHead,
    /// Planes of the value head; 1 in AlphaGo Zero.
    pub value_planes: usize,
    /// Width of the hidden layer in the value head.
    pub value_hidden: usize,
    /// Output of the value head.
    pub value_head: ValueHead,
    /// Global average pooling in the value head: its hidden layer sees the mean of each plane instead of every point.
    /// Wu 2019, appendix A.5, also has other statistics, for several board sizes.
    pub value_pooled: bool,
    /// Auxiliary ownership head.
    pub ownership: bool,
    /// Auxiliary score head.
    pub score: bool,
    /// Auxiliary head for the opponent's next move.
    pub opponent_policy: bool,
}

impl Shape {
    /// The smallest network of AlphaGo Zero's kind for a board: what others differ from.
    pub const fn plain(size: Size) -> Shape {
        Shape {
            size,
            inputs: Inputs::History,
            blocks: 0,
            filters: 1,
            se_channels: 0,
            pooled_filters: 0,
            policy_planes: 2,
            policy_head: PolicyHead::Dense,
            value_planes: 1,
            value_hidden: 1,
            value_head: ValueHead::Tanh,
            value_pooled: false,
            ownership: false,
            score: false,
            opponent_policy: false,
        }
    }

    /// Networks that have everything there is between them, for tests.
    #[cfg(test)]
    pub(crate) fn samples(size: Size) -> [Shape; 4] {
        let small = Shape { blocks: 2, filters: 16, value_planes: 2, value_hidden: 8, ..Shape::plain(size) };
        [
            Shape { ownership: true, ..small },
            Shape {
                se_channels: 4,
                pooled_filters: 6,
                value_head: ValueHead::WinDrawLoss,
                value_pooled: true,
                score: true,
                ..small
            },
            Shape { inputs: Inputs::Features, policy_head: PolicyHead::Convolution, opponent_policy: true, ..small },
            Shape {
                inputs: Inputs::Tactics,
                se_channels: 4,
                pooled_filters: 6,
                policy_head: PolicyHead::Convolution,
                value_head: ValueHead::WinDrawLoss,
                value_pooled: true,
                opponent_policy: true,
                ..small
            },
        ]
    }

    /// The shape of a configuration.
    ///
    /// # Panics
    /// As [`config::Game::board`].
    pub fn new(game: &config::Game, network: &config::Network) -> Shape {
        Shape::of_network(game.board(), network)
    }

    /// The shape of such a network for a board.
    pub fn of_network(size: Size, network: &config::Network) -> Shape {
        Shape {
            size,
            inputs: match network.inputs {
                config::Inputs::History => Inputs::History,
                config::Inputs::Features => Inputs::Features,
                config::Inputs::Tactics => Inputs::Tactics,
            },
            blocks: network.blocks,
            filters: network.filters,
            se_channels: network.se_channels,
            pooled_filters: network.pooled_filters,
            policy_planes: network.policy_planes,
            policy_head: network.policy_head,
            value_planes: network.value_planes,
            value_hidden: network.value_hidden,
            value_head: network.value_head,
            value_pooled: network.value_pooled,
            ownership: network.ownership,
            score: network.score,
            opponent_policy: network.opponent_policy,
        }
    }

    /// The same network without auxiliary heads.
    pub fn in_play(self) -> Shape {
        Shape { ownership: false, score: false, opponent_policy: false, ..self }
    }

    /// The shape, with the planes of a network that is there already: a network may have come from a file with planes
    /// that no configuration speaks of.
    pub fn with_planes_like(self, found: Shape) -> Shape {
        match (self.inputs, found.inputs) {
            (Inputs::History, Inputs::LeelaZero) => Shape { inputs: found.inputs, ..self },
            _ => self,
        }
    }

    /// The shape, with the widths that another one gives layers which no block of this one has: ONNX and Leela Zero
    /// files do not keep them.
    pub fn with_absent_layers_like(self, other: Shape) -> Shape {
        let pooled_filters = if self.blocks < 2 { other.pooled_filters } else { self.pooled_filters };
        let se_channels = if self.blocks == 0 { other.se_channels } else { self.se_channels };
        Shape { se_channels, pooled_filters, ..self }
    }

    /// Bytes of a session on a CPU, whatever the size of a batch.
    pub fn cpu_session_bytes(self) -> u64 {
        cpu::session_bytes(&self.into()) as u64
    }

    /// Whether a block has global pooling: every second one.
    pub(crate) fn pools(&self, block: usize) -> bool {
        cpu::pools(self.pooled_filters, block)
    }
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Shape { size, blocks, filters, policy_planes, value_planes, value_hidden, .. } = self;
        let block = if *blocks == 1 { "block" } else { "blocks" };
        write!(
            f,
            "{blocks} {block} of {filters} filters on {size}x{size}, heads of {policy_planes} and {value_planes} planes, \
             {value_hidden} hidden values"
        )?;
        let more = [
            (self.ownership, "ownership".to_owned()),
            (self.score, "score".to_owned()),
            (self.opponent_policy, "the opponent's next move".to_owned()),
            (self.inputs != Inputs::History, format!("{} planes of input ({})", self.inputs.count(), self.inputs)),
            (self.se_channels > 0, format!("squeeze to {}", self.se_channels)),
            (self.pooled_filters > 0, format!("{} pooled filters", self.pooled_filters)),
            (self.policy_head != PolicyHead::default(), "a convolutional policy".to_owned()),
            (self.value_head != ValueHead::default(), "win, draw and loss".to_owned()),
            (self.value_pooled, "values of pooled planes".to_owned()),
        ];
        more.iter().filter(|(has, _)| *has).try_for_each(|(_, name)| write!(f, ", {name}"))
    }
}

impl From<Shape> for Header {
    fn from(shape: Shape) -> Header {
        let Shape { size, inputs, blocks, filters, se_channels, pooled_filters, .. } = shape;
        let Shape { policy_planes, policy_head, value_planes, value_hidden, value_head, .. } = shape;
        let Shape { value_pooled, ownership, score, opponent_policy, .. } = shape;
        Header {
            size: size.side(),
            blocks,
            filters,
            policy_planes,
            value_planes,
            value_hidden,
            planes: inputs.count(),
            ownership,
            score,
            opponent_policy,
            se_channels,
            pooled_filters,
            policy_head,
            value_head,
            value_pooled,
        }
    }
}

impl TryFrom<Header> for Shape {
    type Error = String;

    fn try_from(header: Header) -> Result<Shape, String> {
        let Header { size, planes, blocks, filters, se_channels, pooled_filters, .. } = header;
        let Header { policy_planes, policy_head, value_planes, value_hidden, value_head, .. } = header;
        let Header { value_pooled, ownership, score, opponent_policy, .. } = header;
        let size = Size::new(size).map_err(|e| e.to_string())?;
        let unknown = || format!("a network for {planes} planes of input, and positions have 16, 17, 18 or 31");
        let inputs = Inputs::of_count(planes).ok_or_else(unknown)?;
        header.check()?;
        Ok(Shape {
            size,
            inputs,
            blocks,
            filters,
            se_channels,
            pooled_filters,
            policy_planes,
            policy_head,
            value_planes,
            value_hidden,
            value_head,
            value_pooled,
            ownership,
            score,
            opponent_policy,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shape(size: usize, blocks: usize, filters: usize, value_hidden: usize) -> Shape {
        Shape {
            blocks,
            filters,
            policy_planes: 2,
            value_planes: 1,
            value_hidden,
            ..Shape::plain(Size::new(size).unwrap())
        }
    }

    #[test]
    fn small_network_by_hand() {
        let shape = shape(5, 1, 8, 16);
        // Kernels: 17·8·9 + 2·8·8·9 + 8·2 + 8·1; scales and shifts: 2·(8 + 8 + 8);
        // dense: 50·26 + 26, 25·16 + 16, 16 + 1.
        assert_eq!(shape.parameters(), 1224 + 1152 + 24 + 48 + 1326 + 416 + 17);
        assert_eq!(shape.operations(), 2 * (25 * (1224 + 1152 + 24) + 1300 + 400 + 16));
        assert_eq!(shape.tensors().len(), 3 * 5 + 2 * 3 + 2 * 3);
    }

    #[test]
    fn auxiliary_heads_cost_nothing_at_inference() {
        let plain = shape(5, 1, 8, 16);
        let helped = Shape { ownership: true, score: true, ..plain };
        assert_eq!(helped.parameters() - plain.parameters(), (8 + 1) + (16 + 1));
        assert_eq!((helped.operations(), helped.in_play()), (plain.operations(), plain));
        assert_eq!(helped.to_string(), format!("{plain}, ownership, score"));
        assert_eq!(Shape::try_from(Header::from(helped)), Ok(helped));
    }

    #[test]
    fn every_tensor_has_a_name_of_its_own() {
        for shape in Shape::samples(Size::new(9).unwrap()) {
            let mut names: Vec<String> = shape.tensors().into_iter().map(|tensor| tensor.name).collect();
            let count = names.len();
            names.sort();
            names.dedup();
            assert_eq!(names.len(), count);
        }
    }

    #[test]
    fn description_names_what_differs_from_a_plain_tower() {
        let [owning, pooled, features, all] = Shape::samples(Size::new(5).unwrap());
        let small = Shape { ownership: false, ..owning };
        assert_eq!(owning.parameters() - small.parameters(), 17);
        assert_eq!(owning.operations(), small.operations());
        // Squeeze in both blocks, pooling in the second, two more chances, scores, and in place of 25 points a plane a
        // mean.
        let squeeze = 16 * 4 + 4 + 4 * 32 + 32;
        let pooling = 16 * 6 * 9 + 12 + 12 * 16 + 16;
        assert_eq!(pooled.parameters() - small.parameters(), 2 * squeeze + pooling + 2 * 9 + 9 - 2 * 24 * 8);
        for (shape, told) in [
            (owning, ", ownership"),
            (pooled, ", score, squeeze to 4, 6 pooled filters, win, draw and loss, values of pooled planes"),
            (features, ", the opponent's next move, 16 planes of input (features), a convolutional policy"),
        ] {
            assert_eq!(shape.to_string(), format!("{small}{told}"));
        }
        for shape in [owning, pooled, features, all] {
            assert_eq!(Shape::try_from(Header::from(shape)), Ok(shape));
        }
    }

    #[test]
    fn headers_of_no_network_are_refused() {
        let good = Header::from(shape(9, 4, 32, 64));
        assert_eq!(Shape::try_from(good), Ok(shape(9, 4, 32, 64)));
        for (bad, problem) in [
            (Header { size: 20, ..good }, "board size must be a whole number from 2 to 19, not 20"),
            (Header { planes: 15, ..good }, "a network for 15 planes of input, and positions have 16, 17, 18 or 31"),
            (Header { filters: 0, ..good }, "filters is 0: must be from 1 to 16384"),
        ] {
            assert_eq!(Shape::try_from(bad), Err(problem.to_owned()));
        }
    }
}
