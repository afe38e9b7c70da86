//! The configuration of a run: everything that affects training, in one TOML file per run.
//!
//! `configs/base.toml` has every key; other files say `extends = "base.toml"` and hold only what differs
//! ([`RunConfig::load`]). A resolved configuration is complete: nothing has a hidden default, and unknown keys are
//! errors. The store keeps the resolved one. [`RunConfig::digest`] identifies a configuration and is written beside
//! everything it produced. What belongs to the place (store, device, threads) is a flag or an environment variable
//! instead.
//!
//! To add a key: a field with a doc comment and its range in the struct of its section, a value in `configs/base.toml`,
//! and its use. Names, ranges and documentation come from the struct ([`schema()`], [`mod@reference`]); the files
//! generated from it are checked by a test, and written with `UPDATE_EXPECT=1 cargo test -p config`.

mod bounds;
mod check;
mod differences;
mod error;
mod evaluate;
mod game;
mod keys;
mod model_id;
mod network;
mod player;
mod presets;
mod q_init;
mod read;
pub mod reference;
mod resign;
mod retention;
mod run_config;
mod run_loop;
mod schema;
mod schema_version;
mod search;
mod section_sets;
mod selfplay;
#[cfg(test)]
mod test;
mod text;
mod train;
mod window;

pub use differences::Difference;
pub use error::ConfigError;
pub use evaluate::{Evaluate, MOST_GAMES_PER_PAIR, Pairing};
pub use game::{Game, MOST_MOVES};
pub use model_id::{ModelId, ModelIdError, ModelRef, RunName};
pub use network::{Inputs, MOST_BLOCKS, MOST_FILTERS, Network, PolicyHead, ValueHead};
pub use player::{EngineName, Overrides, PlayerId, PlayerIdError, PlayerRef, split_settings};
pub use presets::Preset;
pub use q_init::QInit;
pub use resign::Resign;
pub use retention::{Keep, Retention};
pub use run_config::RunConfig;
pub use run_loop::Loop;
pub use schema::schema;
pub use schema_version::SCHEMA;
pub use search::{Algorithm, MOST_LEAVES, MOST_VISITS, Phase, Search};
pub use section_sets::PlayConfig;
pub use selfplay::{MOST_BATCH, Selfplay};
pub use train::{Grow, LearningRate, Optimizer, PolicyTarget, Train, ValueLoss};
pub use window::{Growth, Window, WindowLimit};
