//! The trainer stage: trains on the shards of a generation and publishes the next model.
//!
//! The cast: the [`Driver`] makes one model after the other. It finds the step to resume from (`resume`) and reads the
//! examples in their order (`dataset`). [`net::Trainer`] takes them batch by batch (`generation`); losses go to
//! `journal` and `events`. All state between two models is in the store, so the process may be killed and restarted at
//! any time.
//!
//! Models are measured on examples that are never trained on: the validation set of the run, and
//! [`References`]: human games, and positions with results of deep searches.
//!
//! A run may begin with weights from elsewhere ([`InitialWeights`]), or with a model that was trained on human games
//! ([`Bootstrap`], `supervised`). `files` has the commands that import and export networks.

mod bootstrap;
mod bootstrap_command;
pub mod command;
mod dataset;
mod driver;
mod error;
mod events;
mod example_stats;
mod files;
mod generation;
mod health_checks;
mod holdout;
mod init;
mod journal;
mod lease;
mod prefetch;
mod reference;
mod report;
mod resume;
mod supervised;

use std::time::Duration;

use net::Losses;
use record::Stage;

pub use bootstrap::{Bootstrap, BootstrapOptions};
pub use driver::Driver;
pub use error::TrainerError;
pub use holdout::MOST_HOLDOUT_POSITIONS;
pub use init::InitialWeights;
pub use lease::lease;
pub use prefetch::Prefetch;
pub use reference::{Reference, ReferenceArgs, References};
pub use report::Console;
pub use supervised::{HumanGames, converter};

/// The phase of a trainer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum TrainerEvent {
    /// It waits for the shuffler.
    Waiting {
        /// The generation whose shards it waits for.
        generation: u32,
        /// How long it has waited.
        time: Duration,
    },
    /// It has trained on a batch.
    Step {
        /// The number of the model to be.
        generation: u32,
        /// Batches of this generation that are done.
        done: u64,
        /// Batches of this generation, unless the time alone limits it.
        steps: Option<u64>,
        /// Optimiser steps since the start of the run.
        step: u64,
        /// The learning rate of the step.
        rate: f32,
        /// The losses of the batch.
        losses: Losses,
    },
    /// It has measured the finished model on games that are never trained on.
    Holdout {
        /// The number of the model.
        generation: u32,
        /// Positions it was measured on.
        examples: usize,
        /// What they cost.
        losses: Losses,
        /// Calibration error: difference between the share of games won and the values, 0 to 1.
        calibration_error: f32,
    },
    /// It has measured a model on human games that it does not train on.
    Human {
        /// The number of the model.
        generation: u32,
        /// Optimiser steps since the start of the run.
        step: u64,
        /// Positions it was measured on.
        examples: usize,
        /// What they cost. `accuracy` is how often the most probable move is the one that was played, and `value_error`
        /// is against the outcome.
        losses: Losses,
        /// The squared error of the best value without the board.
        constant: f32,
    },
    /// It has measured a model on positions with results of deep searches.
    Deep {
        /// The number of the model.
        generation: u32,
        /// Optimiser steps since the start of the run.
        step: u64,
        /// Positions it was measured on.
        examples: usize,
        /// What they cost. `accuracy` is how often the most probable move is the most visited one, and `value_error` is
        /// against the value of the search.
        losses: Losses,
        /// The value error of these by [`Stage`] of the game; `None` of a stage without positions.
        by_stage: [Option<f32>; Stage::ALL.len()],
    },
    /// It has published the model.
    Published {
        /// The number of the model.
        generation: u32,
        /// Optimiser steps since the start of the run.
        step: u64,
    },
}
