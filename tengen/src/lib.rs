//! The loop on one machine, and the door for people.

pub mod audit;
pub mod bench;
pub mod command;
pub mod config_command;
mod cycle;
pub mod depth_command;
pub mod doctor;
pub mod gtp_command;
pub mod import;
pub mod ladders;
mod model;
pub mod options;
mod positions;
pub mod run_command;
mod statistics;
pub mod targets_command;
mod think;
