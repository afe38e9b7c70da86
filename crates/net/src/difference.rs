//! How far two networks are from each other.

use std::fmt;

/// Two ways to calculate the same network may differ by so much in a probability or a value. f32 has 24 bits, and each
/// of some forty layers rounds sums of thousands of products. The measured differences stay below a tenth of this
/// (`experiments/0019-leela-zero-parity`, `experiments/0066-onnx-parity`); those of bf16 are a hundred times larger.
const TOLERANCE: f32 = 1e-4;

/// How far two networks are from each other.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Difference {
    /// Largest difference of a probability.
    pub policy: f32,
    /// Largest difference of a value; values are from −1 to 1.
    pub value: f32,
    /// Positions of the comparison.
    pub positions: usize,
}

impl Difference {
    pub(crate) fn or(self, other: Difference) -> Difference {
        Difference {
            policy: self.policy.max(other.policy),
            value: self.value.max(other.value),
            positions: self.positions.max(other.positions),
        }
    }

    /// Whether rounding explains it. NaN is not explained.
    pub(crate) fn is_rounding(self) -> bool {
        self.policy <= TOLERANCE && self.value <= TOLERANCE
    }
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Difference { policy, value, positions } = self;
        write!(f, "{policy:.1e} in a probability and {value:.1e} in a value at most, over {positions} positions")
    }
}
