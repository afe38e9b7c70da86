//! The loop on one machine, and the door for people.

mod blame;
mod cycle;
pub mod gtp;
pub mod gtp_command;
pub mod run_command;

pub use blame::blame;
