//! The network: what it sees, how it answers, how it learns.
//!
//! The cast: [`Inputs`] turn a position into numbers, the same way for playing and for training. [`Weights`] are a
//! network at rest, as numbers and as a file that opens with nothing else. A [`Model`] puts them on a device for
//! playing, and hands a [`Network`] to every thread that wants to score positions. A [`Trainer`] improves them from
//! examples, and writes a checkpoint from which it goes on as if it had never stopped.
//!
//! This is the only crate that names libtorch.

mod average;
mod backend;
mod bare;
mod batch;
mod calibration;
mod checkpoint;
mod cuda;
mod device;
mod drill;
mod error;
mod exchange;
mod features;
mod file;
mod fold;
mod folded;
#[cfg(test)]
mod gradients;
mod grow;
mod inputs;
mod instruction_set;
mod layers;
mod layout;
mod leela_zero;
mod lesson;
mod listing;
mod loss;
mod losses;
mod mode;
mod network;
mod norm;
mod optimizer;
mod parts;
pub mod planes;
mod ready;
mod recipe;
mod schedule;
mod shape;
mod shards;
mod targets;
mod threads;
mod tower;
mod trainer;
mod vitals;
mod weights;

pub use backend::{Backend, Installation};
pub use bare::Bare;
pub use calibration::{Bin, Calibration, Measured};
pub use cuda::{CudaError, CudaLibrary, load_cuda};
pub use device::{Device, Precision, UnknownPlace};
pub use drill::Drill;
pub use error::NetError;
pub use exchange::{Difference, FileKind};
pub use inputs::Inputs;
pub use instruction_set::InstructionSet;
pub use listing::{ListedTensor, Listing};
pub use losses::Losses;
pub use network::{Model, Network};
pub use ready::Ready;
pub use recipe::{Recipe, Workshop};
pub use shape::Shape;
pub use targets::Targets;
pub use trainer::Trainer;
pub use vitals::Vital;
pub use weights::Weights;

use file::KEY;
