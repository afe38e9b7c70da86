//! Why there are no shards.

use store::StoreError;

/// Why shards were not made.
#[derive(Debug, thiserror::Error)]
pub enum ShufflerError {
    /// The store did not do its part.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// Games are still being played.
    #[error("model {model} has {games} of the {wanted} games that generation {} needs", model + 1)]
    NotReady {
        /// The model that plays them; 0 is `random`.
        model: u32,
        /// Games published so far.
        games: usize,
        /// Games wanted.
        wanted: usize,
    },
    /// There is no generation 0: model 0 is `random` and is not trained.
    #[error("generations are numbered from 1")]
    NoGeneration,
    /// The window is too small for a single batch.
    #[error(
        "generation {generation} may draw {allowed} examples from {new_positions} new positions, and a batch takes \
         {batch}: raise selfplay.games or window.samples_per_position, or lower train.batch"
    )]
    TooFew {
        /// The generation.
        generation: u32,
        /// Examples that may be drawn.
        allowed: usize,
        /// Positions that no window had before.
        new_positions: usize,
        /// Examples in a batch.
        batch: usize,
    },
}
