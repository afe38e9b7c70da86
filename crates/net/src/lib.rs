//! The network: what it sees, how it answers, how it learns.
//!
//! The cast: [`Inputs`] turn a position into numbers, the same way for playing and for training. [`Weights`] are a
//! network at rest, as numbers and as a file that opens with nothing else. A [`Model`] puts them on a device for
//! playing, and hands a [`Network`] to every thread that wants to score positions. A [`Trainer`] improves them from
//! examples, and writes a checkpoint from which it goes on as if it had never stopped.
//!
//! CPUs evaluate with crate `cpu`, GPUs with libtorch, which trains, too. This is the only crate that names libtorch.

mod backend;
mod batch;
mod bench_encode;
mod bench_inference;
mod bench_train;
mod calibration;
mod checkpoint;
mod convert;
mod cuda;
mod device;
mod diagnostics;
mod ema;
mod engine;
mod error;
mod features;
mod file;
mod fold;
mod folded;
#[cfg(test)]
mod gradient_tests;
mod grow;
mod inputs;
mod instruction_set;
mod layers;
mod layout;
mod leela_zero;
mod listing;
mod loss;
mod mean_losses;
mod micro_batch;
mod mode;
mod modules;
mod network;
mod norm;
mod optimizer;
pub mod planes;
mod scales;
mod schedule;
mod shape;
mod step;
mod targets;
mod threads;
mod tower;
mod train_config;
mod trainer;
mod weights;

pub use backend::{Backend, Installation};
pub use bench_encode::EncodedBatch;
pub use bench_inference::InferenceBench;
pub use bench_train::TrainBench;
pub use calibration::{Bin, Calibration, Measured};
pub use convert::{Difference, FileKind};
pub use cuda::{CudaError, CudaLibrary, load_cuda};
pub use device::{Device, Precision, UnknownPlace};
pub use diagnostics::TensorDiagnostics;
pub use error::NetError;
pub use inputs::Inputs;
pub use instruction_set::InstructionSet;
pub use listing::{ListedTensor, Listing};
pub use mean_losses::Losses;
pub use network::{Model, Network};
pub use shape::Shape;
pub use targets::Targets;
pub use train_config::{TrainConfig, TrainDevice};
pub use trainer::Trainer;
pub use weights::Weights;

use file::KEY;
