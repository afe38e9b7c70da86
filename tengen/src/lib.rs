//! The loop on one machine, and the door for people.

pub mod bench;
mod blame;
mod cycle;
pub mod gtp;
pub mod gtp_command;
mod model;
pub mod run_command;

pub use blame::blame;
