//! Other programs as opponents, and the weak players that need no program.
//!
//! The cast: an [`EngineSpec`] says how a program is started and what else decides how it plays. An [`Engine`] is a
//! declared program, or a built-in baseline, which plays any number of games at once. In each game it is an
//! [`play::ExternalPlayer`]; behind it a thread talks to a process of its own by the Go Text Protocol (`client`), which
//! outlives the game and serves the next one. What a process does wrong costs its own game and nothing else.

mod baselines;
#[cfg(any(test, feature = "testing"))]
mod check;
mod client;
mod engine;
mod player;
mod process;
mod responses;
mod spec;

#[cfg(any(test, feature = "testing"))]
pub use check::read_output;
pub use client::{Client, ClientError};
pub use engine::{Engine, EngineError, Identity};
pub use spec::{EngineSpec, EngineSpecError, EngineSpecs};
