//! What a run is: one complete TOML file, checked when it is read.
//!
//! The file describes everything that affects learning and has no hidden defaults: a missing key is an error, and so
//! is an unknown one. What belongs to the place (store, device, threads) is not in here. [`RunConfig::digest`] names a
//! configuration and is written beside everything it produced.
//!
//! Only a configuration that is stored may lack keys, those that came after it ([`RunConfig::from_stored`]).

mod check;
mod differences;
mod error;
pub mod manual;
mod model_id;
mod newer;
mod phases;
mod player;
mod q_init;
mod read;
mod sections;

pub use differences::Difference;
pub use error::ConfigError;
pub use model_id::{ModelId, ModelIdError, ModelRef, RunName};
pub use player::{EngineName, Overrides, PlayerId, PlayerIdError, PlayerRef};
pub use q_init::QInit;
pub use sections::{
    Algorithm, DrawBy, Evaluate, Game, Grow, Growth, Inputs, LearningRate, Loop, Network, Optimizer, OutcomeIn,
    Pairing, Phase, PolicyHead, PolicyTarget, RatePath, Resign, RunConfig, Scoring, Search, Selfplay, Train, ValueHead,
    ValueLoss, Window,
};
