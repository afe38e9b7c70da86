//! Errors of this crate.

use crate::InstructionSet;

/// A network that cannot be read or run.
#[derive(Debug, thiserror::Error)]
pub enum CpuError {
    /// The bytes are no safetensors file.
    #[error("not a safetensors file: {0}")]
    NotSafetensors(String),
    /// The metadata is missing or cannot be understood.
    #[error("metadata key `tengen`: {0}")]
    Header(String),
    /// A tensor is missing or has other dimensions.
    #[error("tensor `{tensor}`: expected f32 of dimensions {expected:?}, found {found}")]
    Tensor {
        /// Its name.
        tensor: String,
        /// Its dimensions by the shape of the network.
        expected: Vec<usize>,
        /// The value in the file.
        found: String,
    },
    /// A number that no network may have.
    #[error("tensor `{tensor}`: element {index} is {value}; weights are finite, variances are not negative")]
    Number {
        /// The name of the tensor.
        tensor: String,
        /// Which of its numbers.
        index: usize,
        /// The number.
        value: f32,
    },
    /// Parts of a description that do not fit together.
    #[error("network description: {part} has {found} numbers, {expected} fit the other parts")]
    Description {
        /// The part.
        part: String,
        /// How many it should have.
        expected: usize,
        /// How many it has.
        found: usize,
    },
    /// A board that there is not.
    #[error("network description: boards of side {0} are not supported; sides are 2 to 19")]
    Side(usize),
    /// Scales of another network.
    #[error(
        "calibration has scales of {found} layers, the network has {expected}; calibrate this network, \
         or remove `scales` from its file"
    )]
    Scales {
        /// Layers of the network.
        expected: usize,
        /// Layers that were calibrated.
        found: usize,
    },
    /// Scales of activations that are too large for f32, or of none.
    #[error("layer {layer} has no finite scales; train with smaller weights, or calibrate this network again")]
    BadScales {
        /// The layer, from 0.
        layer: usize,
    },
    /// Activations that int16 inference could not represent.
    #[error("{part} could be as large as {bound:e}, and the largest f32 is {:e}; train with smaller weights", f32::MAX)]
    Overflow {
        /// The part of the network.
        part: String,
        /// What its numbers stay below.
        bound: f64,
    },
    /// The processor lacks an instruction set.
    #[error("this processor does not have the instruction set {set}; use `{best}`", best = InstructionSet::best())]
    InstructionSet {
        /// The instruction set.
        set: InstructionSet,
    },
}
