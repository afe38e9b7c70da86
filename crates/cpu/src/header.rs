//! The header of a weights file.

use config::{PolicyHead, ValueHead};
use serde::{Deserialize, Serialize};

use crate::board::SIDES;

/// The metadata key of the line with the kind of a file and its header.
pub const KEY: &str = "tengen";
/// The kind of a file of training weights.
pub const WEIGHTS: &str = "tengen-weights/2";
/// The kind of a file whose batch norms are folded.
pub const FOLDED: &str = "tengen-folded/2";

/// What the line of every file of ours says beside its header.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Kind {
    /// The kind of the file, with the version of its format.
    pub format: String,
}

/// No network that can be trained has more of anything; keeps a broken file from asking for endless memory.
const MOST: usize = 1 << 14;

/// The architecture of a network as files spell it. Keys of parts that AlphaGo Zero's network lacks are written only
/// for networks that have them. A header that was read may have any numbers; [`Header::check`] knows the ranges.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Header {
    /// Side of the board, 2 to 19.
    pub size: usize,
    /// Residual blocks.
    pub blocks: usize,
    /// Channels of the tower.
    pub filters: usize,
    /// Planes of the policy head.
    pub policy_planes: usize,
    /// Planes of the value head.
    pub value_planes: usize,
    /// Width of the hidden layer in the value head.
    pub value_hidden: usize,
    /// Input planes: 16, 17, 18 or 31.
    pub planes: usize,
    /// Auxiliary ownership head.
    #[serde(default, skip_serializing_if = "is_default")]
    pub ownership: bool,
    /// Auxiliary score head.
    #[serde(default, skip_serializing_if = "is_default")]
    pub score: bool,
    /// Auxiliary head for the opponent's next move.
    #[serde(default, skip_serializing_if = "is_default")]
    pub opponent_policy: bool,
    /// Hidden width of squeeze-and-excitation in each block; 0: none.
    #[serde(default, skip_serializing_if = "is_default")]
    pub se_channels: usize,
    /// Channels with global pooling in every second block; 0: none.
    #[serde(default, skip_serializing_if = "is_default")]
    pub pooled_filters: usize,
    /// Last layer of the policy head.
    #[serde(default, skip_serializing_if = "is_default")]
    pub policy_head: PolicyHead,
    /// Output of the value head.
    #[serde(default, skip_serializing_if = "is_default")]
    pub value_head: ValueHead,
    /// Global average pooling in the value head.
    #[serde(default, skip_serializing_if = "is_default")]
    pub value_pooled: bool,
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

impl Header {
    /// Checks the side of the board and all counts but that of input planes.
    ///
    /// # Errors
    /// Names the first number out of range, with the range.
    pub fn check(&self) -> Result<(), String> {
        let numbers = [
            ("size", self.size, SIDES),
            ("blocks", self.blocks, 0..=MOST),
            ("filters", self.filters, 1..=MOST),
            ("policy_planes", self.policy_planes, 1..=MOST),
            ("value_planes", self.value_planes, 1..=MOST),
            ("value_hidden", self.value_hidden, 1..=MOST),
            ("se_channels", self.se_channels, 0..=MOST),
            ("pooled_filters", self.pooled_filters, 0..=MOST),
        ];
        match numbers.into_iter().find(|(_, number, range)| !range.contains(number)) {
            None => Ok(()),
            Some((name, number, range)) => {
                Err(format!("{name} is {number}: must be from {} to {}", range.start(), range.end()))
            }
        }
    }
}

/// Whether a block of a network with so many pooled filters has global pooling: every second one.
pub fn pools(pooled_filters: usize, block: usize) -> bool {
    pooled_filters > 0 && block % 2 == 1
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAIN: &str = concat!(
        r#"{"size":5,"blocks":2,"filters":6,"policy_planes":2,"value_planes":2,"value_hidden":5,"#,
        r#""planes":17}"#
    );

    fn header(line: &str) -> Header {
        serde_json::from_str(line).unwrap()
    }

    #[test]
    fn header_is_written_as_it_was_read() {
        let all = concat!(
            r#"{"size":5,"blocks":2,"filters":6,"policy_planes":2,"value_planes":2,"value_hidden":5,"#,
            r#""planes":31,"ownership":true,"score":true,"opponent_policy":true,"se_channels":4,"#,
            r#""pooled_filters":3,"policy_head":"convolution","value_head":"win-draw-loss","value_pooled":true}"#
        );
        for line in [PLAIN, all] {
            assert_eq!(serde_json::to_string(&header(line)).unwrap(), line);
        }
    }

    #[test]
    fn number_out_of_range_is_named() {
        let good = header(PLAIN);
        assert_eq!(good.check(), Ok(()));
        assert_eq!(Header { blocks: 0, filters: MOST, ..good }.check(), Ok(()));
        for (bad, problem) in [
            (Header { size: 1, ..good }, "size is 1: must be from 2 to 19"),
            (Header { size: 20, ..good }, "size is 20: must be from 2 to 19"),
            (Header { blocks: MOST + 1, ..good }, "blocks is 16385: must be from 0 to 16384"),
            (Header { filters: 0, ..good }, "filters is 0: must be from 1 to 16384"),
            (Header { policy_planes: 0, ..good }, "policy_planes is 0: must be from 1 to 16384"),
            (Header { value_planes: 0, ..good }, "value_planes is 0: must be from 1 to 16384"),
            (Header { value_hidden: 1 << 40, ..good }, "value_hidden is 1099511627776: must be from 1 to 16384"),
            (Header { se_channels: 1 << 40, ..good }, "se_channels is 1099511627776: must be from 0 to 16384"),
            (Header { pooled_filters: 1 << 40, ..good }, "pooled_filters is 1099511627776: must be from 0 to 16384"),
        ] {
            assert_eq!(bad.check(), Err(problem.to_owned()));
        }
    }
}
