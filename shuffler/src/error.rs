//! Why there are no shards.

use exit_class::{Classified, ExitClass};
use store::StoreError;

use crate::Eta;

/// Why shards were not made.
#[derive(Debug, thiserror::Error)]
pub enum ShufflerError {
    /// The store did not do its part.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// Games are still being played.
    #[error(
        "model {model} has {games} of the {wanted} games that generation {} needs{}",
        model + 1,
        expected.map_or_else(String::new, |expected| format!("; the others are {expected}"))
    )]
    NotReady {
        /// The model that plays them; 0 is `random`.
        model: u32,
        /// Games published so far.
        games: usize,
        /// Games wanted.
        wanted: usize,
        /// When they will be there, at the rate at which the model's games have arrived.
        expected: Option<Eta>,
    },
    /// The window is too small for a single batch.
    #[error(
        "generation {generation} may sample {allowed} examples from a window with {new_positions} new positions, and a \
         batch takes {batch}: raise selfplay.games or window.reuse_limit (or another bound of [window]), or lower \
         train.batch"
    )]
    TooFew {
        /// The generation.
        generation: u32,
        /// Examples that may be sampled.
        allowed: usize,
        /// Positions that no window had before.
        new_positions: usize,
        /// Examples in a batch.
        batch: usize,
    },
}

impl Classified for ShufflerError {
    fn class(&self) -> ExitClass {
        match self {
            ShufflerError::Store(error) => error.class(),
            ShufflerError::TooFew { .. } => ExitClass::Configuration,
            ShufflerError::NotReady { .. } => ExitClass::Failure,
        }
    }
}
