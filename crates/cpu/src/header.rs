//! The header of a weights file.

use config::{PolicyHead, ValueHead};
use serde::Deserialize;

use crate::CpuError;

/// The metadata key of the line with the kind of a file.
pub const KEY: &str = "tengen";
/// The kind of a file of training weights.
pub const WEIGHTS: &str = "tengen-weights/1";
/// The kind of a file whose batch norms are folded.
pub const FOLDED: &str = "tengen-folded/1";

/// No network that can be trained has more of anything.
const MOST: usize = 1 << 14;

/// The line, as far as it is about playing.
#[derive(Deserialize)]
pub(crate) struct Header {
    pub(crate) format: String,
    pub(crate) size: usize,
    pub(crate) blocks: usize,
    pub(crate) filters: usize,
    pub(crate) policy_planes: usize,
    pub(crate) value_planes: usize,
    pub(crate) value_hidden: usize,
    pub(crate) planes: usize,
    #[serde(default, rename = "squeeze")]
    pub(crate) se_channels: usize,
    #[serde(default)]
    pub(crate) pooled_filters: usize,
    #[serde(default)]
    pub(crate) policy_head: PolicyHead,
    #[serde(default)]
    pub(crate) value_head: ValueHead,
    #[serde(default)]
    pub(crate) value_pooled: bool,
}

impl Header {
    pub(crate) fn check(&self) -> Result<(), CpuError> {
        let Header {
            format,
            blocks,
            filters,
            policy_planes,
            value_planes,
            value_hidden,
            se_channels,
            pooled_filters,
            ..
        } = self;
        if ![WEIGHTS, FOLDED].contains(&format.as_str()) {
            return Err(CpuError::Header(format!("format {format:?}; this program reads {WEIGHTS} and {FOLDED}")));
        }
        let widths = [*filters, *policy_planes, *value_planes, *value_hidden];
        let optional = [*blocks, *se_channels, *pooled_filters];
        if optional.iter().any(|&count| count > MOST) || widths.iter().any(|width| !(1..=MOST).contains(width)) {
            return Err(CpuError::Header(format!("a width is not from 1 to {MOST}")));
        }
        Ok(())
    }

    /// Whether batch norms are folded already.
    pub(crate) fn is_folded(&self) -> bool {
        self.format == FOLDED
    }
}
