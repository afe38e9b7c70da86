//! The loop on one machine, and the command line.

mod analysis_server_command;
mod analyze_command;
pub mod audit;
#[cfg(feature = "torch")]
mod bench;
mod book_command;
pub mod command;
mod config_command;
#[cfg(feature = "torch")]
mod doctor;
mod evalcache_command;
mod games_command;
mod gtp_command;
#[cfg(feature = "torch")]
mod import;
#[cfg(feature = "torch")]
mod options;
#[cfg(feature = "torch")]
mod plan;
mod player;
#[cfg(feature = "torch")]
mod prune;
#[cfg(feature = "torch")]
mod run_command;
#[cfg(feature = "torch")]
mod run_loop;
mod serve_command;
mod status;
