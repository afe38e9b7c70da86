//! Inference of Tengen's networks on CPUs, and the convolutions of their training, without libtorch.
//!
//! Nearly all the time of a small tower is spent in 3x3 convolutions. They are computed here by F(3x3, 3x3) Winograd
//! transforms with products of int16 and sums of int32: 225 products instead of 729 for each pair of channels of a 9x9
//! board, two a lane and instruction. Transformed inputs have a scale for each of the 25 frequencies, which calibration
//! finds; transformed weights one for each frequency and output channel. Heads are computed in f32.
//!
//! Outputs have the same bits with every [`InstructionSet`], those of inference in batches of any size, in any row and
//! on any number of threads.
//!
//! NaN and infinity never become a number. A description that has one is refused. Activations that overflow f32 make
//! the output NaN in f32; in int16, which could not carry NaN, a network is refused unless no input can make it
//! overflow.

mod auxiliary;
mod board;
mod bound;
mod buffer;
mod description;
mod error;
mod file;
mod fold;
mod header;
mod heads;
mod inputs;
mod isa;
mod kernels;
mod layer;
mod layout;
mod math;
mod model;
mod pack;
mod peak;
mod scales;
mod session;
mod tower;
mod training;
mod workspace;

pub use auxiliary::{Auxiliary, Prediction};
pub use board::SIDES;
pub use description::{Block, Convolution, Dense, Description, Input, Policy, PolicyHead, Value};
pub use error::CpuError;
pub use file::{FEATURE_PLANES, HISTORY_PLANES, KOMI_PLANE, LEELA_ZERO_PLANES, NO_KOMI, TACTICS_PLANES};
pub use fold::EPSILON;
pub use header::{FOLDED, Header, KEY, Kind, WEIGHTS, pools};
pub use isa::InstructionSet;
pub use layer::{Layer, Work};
pub use layout::{BlockSpec, DenseSpec, Layout, PolicySpec, Role, TensorSpec, UnitSpec, UnitTensors};
pub use model::{Model, Precision};
pub use peak::Peak;
pub use scales::Scales;
pub use session::{Session, session_bytes};
pub use training::{TrainingUnit, UnitApplied, UnitGradients, UnitInput, UnitOutput};
