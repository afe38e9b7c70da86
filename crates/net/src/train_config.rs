//! How and where a network is trained.

use config::RunConfig;

use crate::{Device, Precision, Targets};

/// Training configuration: what belongs to the run.
#[derive(Clone, Debug, PartialEq)]
pub struct TrainConfig {
    /// Optimiser and losses.
    pub train: config::Train,
    /// Targets.
    pub targets: Targets,
    /// Where the randomness of training starts.
    pub seed: u64,
    /// Whether the EMA of the weights is warmed up, so that random weights are soon forgotten. Trained ones must not
    /// be.
    pub ema_warm_up: bool,
}

impl TrainConfig {
    /// That of a run that begins with random weights.
    pub fn new(config: &RunConfig) -> TrainConfig {
        TrainConfig { train: config.train.clone(), targets: Targets::new(config), seed: config.seed, ema_warm_up: true }
    }
}

/// Training device: what belongs to the machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TrainDevice {
    /// Where the network is.
    pub device: Device,
    /// What activations and their gradients are rounded to; weights, momentum and statistics are f32 always.
    pub precision: Precision,
    /// Threads that work on a batch, on a CPU. They change nothing but the time it takes.
    pub threads: usize,
}
