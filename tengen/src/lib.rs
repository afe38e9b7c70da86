//! The loop on one machine, and the command line.

pub mod analysis_server_command;
pub mod analyze_command;
pub mod audit;
#[cfg(feature = "torch")]
pub mod bench;
pub mod book_command;
pub mod command;
pub mod config_command;
#[cfg(feature = "torch")]
pub mod doctor;
pub mod evalcache_command;
pub mod games_command;
pub mod gtp_command;
#[cfg(feature = "torch")]
pub mod import;
#[cfg(feature = "torch")]
pub mod options;
#[cfg(feature = "torch")]
pub mod plan;
mod player;
#[cfg(feature = "torch")]
pub mod prune;
#[cfg(feature = "torch")]
pub mod run_command;
#[cfg(feature = "torch")]
mod run_loop;
pub mod serve_command;
pub mod status;
