//! Support for the tests of all crates. A dev-dependency only.

mod allocator;
mod board;
#[cfg(feature = "mcts")]
mod evaluators;
#[cfg(feature = "s3")]
mod faults;
#[cfg(feature = "s3")]
mod proxy;
mod random;
#[cfg(feature = "s3")]
pub mod s3;
mod signal;
mod skip;
#[cfg(feature = "store")]
mod stores;
mod tool;
mod wait;

pub use allocator::CountingAllocator;
pub use board::{position, transformed};
#[cfg(feature = "mcts")]
pub use evaluators::{FlushedBy, Known, Stub};
#[cfg(feature = "s3")]
pub use proxy::Proxy;
pub use random::{Dice, Noise, fnv};
pub use signal::signal;
pub use skip::{require, supported, unsupported};
#[cfg(feature = "store")]
pub use stores::{
    Access, killed, killed_after, with_clock_ahead, with_faults, with_guard, with_slow_reads, with_vanishing_files,
};
pub use tool::{Tool, kubernetes_version};
pub use wait::{PATIENCE, poll, wait_for, wait_until};

use std::path::PathBuf;

/// The root of the repository.
pub fn repository() -> PathBuf {
    // A canonical path stays valid when a test changes what it joins to it.
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..");
    root.canonicalize().expect("the repository exists while its tests run")
}
