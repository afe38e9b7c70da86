//! The network: planes, inference and training.
//!
//! The cast: [`Inputs`] turn a position into numbers, the same way for playing and for training. [`Weights`] are a
//! network at rest, as numbers and as a file that opens with nothing else. A [`Model`] puts them on a device for
//! playing, and hands a [`Network`] to every thread that wants to score positions. A [`Trainer`] improves them from
//! examples, and writes a checkpoint from which it resumes as if it had never stopped.
//!
//! CPUs evaluate with crate `cpu`, GPUs with libtorch, which trains, too; on CPUs 3x3 convolutions of training are
//! those of crate `cpu`. This is the only crate that names libtorch. Without its feature `torch` there are neither GPUs
//! nor training.

#![cfg_attr(not(feature = "torch"), allow(dead_code, reason = "parts of files are read to be trained or exported"))]

#[cfg(feature = "torch")]
mod accelerator;
mod backend;
#[cfg(feature = "torch")]
mod batch;
#[cfg(feature = "torch")]
mod bench_device;
#[cfg(feature = "torch")]
mod bench_encode;
#[cfg(feature = "torch")]
mod bench_inference;
#[cfg(feature = "torch")]
mod bench_train;
#[cfg(feature = "torch")]
mod calibration;
#[cfg(feature = "torch")]
mod checkpoint;
#[cfg(feature = "torch")]
mod columns;
#[cfg(feature = "torch")]
mod complete;
mod convert;
#[cfg(feature = "torch")]
mod cuda;
mod described;
mod device;
#[cfg(feature = "torch")]
mod diagnostics;
mod difference;
#[cfg(feature = "torch")]
mod ema;
mod engine;
mod error;
mod evaluator;
mod features;
mod file;
#[cfg(feature = "torch")]
mod flat;
mod folded;
#[cfg(feature = "torch")]
#[cfg(test)]
mod gradient_tests;
#[cfg(feature = "torch")]
mod grow;
mod inputs;
#[cfg(feature = "torch")]
mod installation;
mod instruction_set;
#[cfg(feature = "torch")]
mod layers;
mod layout;
mod leela_zero;
mod listing;
#[cfg(feature = "torch")]
mod loss;
#[cfg(feature = "torch")]
mod mean_losses;
#[cfg(feature = "torch")]
mod micro_batch;
#[cfg(feature = "torch")]
mod mode;
#[cfg(feature = "torch")]
mod modules;
#[cfg(feature = "torch")]
mod muon;
mod network;
#[cfg(feature = "torch")]
mod norm;
#[cfg(feature = "torch")]
mod optimizer;
mod packing;
mod planes;
#[cfg(feature = "torch")]
mod prepared;
mod scales;
#[cfg(feature = "torch")]
mod schedule;
mod shape;
#[cfg(feature = "torch")]
mod shim;
#[cfg(feature = "torch")]
mod step;
#[cfg(feature = "torch")]
mod targets;
#[cfg(feature = "torch")]
mod tensor_options;
#[cfg(feature = "torch")]
mod threads;
#[cfg(feature = "torch")]
mod tower;
#[cfg(feature = "torch")]
mod train_config;
#[cfg(feature = "torch")]
mod trainer;
#[cfg(feature = "torch")]
mod unit;
#[cfg(feature = "torch")]
mod verify;
mod weights;

#[cfg(feature = "torch")]
pub use accelerator::{QueueCounts, largest_batch};
pub use backend::Backend;
#[cfg(feature = "torch")]
pub use bench_device::{BareNetwork, MatrixProduct};
#[cfg(feature = "torch")]
pub use bench_encode::EncodedBatch;
#[cfg(feature = "torch")]
pub use bench_inference::InferenceBench;
#[cfg(feature = "torch")]
pub use bench_train::TrainBench;
#[cfg(feature = "torch")]
pub use calibration::{Bin, Calibration, Measured};
#[cfg(feature = "torch")]
pub use checkpoint::VERSION as CHECKPOINT;
pub use convert::FileKind;
#[cfg(feature = "torch")]
pub use cuda::CudaError;
pub use device::{Device, Devices, Precision, UnknownName};
#[cfg(feature = "torch")]
pub use diagnostics::TensorDiagnostics;
pub use difference::Difference;
pub use engine::Session;
pub use error::{Fault, NetError};
pub use evaluator::{PlaneEvaluator, check_output};
pub use inputs::Inputs;
#[cfg(feature = "torch")]
pub use installation::Installation;
pub use instruction_set::{OnednnIsa, of_inference};
pub use listing::{ListedTensor, Listing};
#[cfg(feature = "torch")]
pub use mean_losses::Losses;
pub use network::{Model, Network};
pub use packing::Packing;
#[cfg(feature = "torch")]
pub use prepared::{Preparation, PreparedBatch};
#[cfg(feature = "torch")]
pub use schedule::rate as learning_rate;
pub use shape::Shape;
#[cfg(feature = "torch")]
pub use targets::Targets;
#[cfg(feature = "torch")]
pub use train_config::{TrainConfig, TrainDevice};
#[cfg(feature = "torch")]
pub use trainer::Trainer;
pub use weights::Weights;

use cpu::KEY;
