//! The loop on one machine, and the door for people.

pub mod audit;
pub mod bench;
pub mod command;
pub mod config_command;
mod cycle;
pub mod doctor;
pub mod gtp_command;
pub mod import;
pub mod options;
pub mod run_command;
