//! What can go wrong while training.

use net::NetError;
use store::StoreError;

/// Why no model came of it.
#[derive(Debug, thiserror::Error)]
pub enum TrainerError {
    /// The store did not do its part.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// Training went wrong: a device, an example, or a loss that is no number.
    #[error("training model {generation}")]
    Train {
        /// The number of the model.
        generation: u32,
        /// What is wrong.
        #[source]
        source: NetError,
    },
    /// The state that training should go on from cannot be used. Once its folder is deleted, training goes on from the
    /// checkpoint before it.
    #[error("the checkpoint of step {step} cannot be used: {problem}")]
    Checkpoint {
        /// Its step.
        step: u64,
        /// What is wrong.
        problem: String,
    },
    /// The weights of the model to go on from cannot be used.
    #[error("model {number} cannot be opened")]
    Parent {
        /// Its number.
        number: u32,
        /// What is wrong.
        #[source]
        source: NetError,
    },
    /// Shards without a single example.
    #[error("the shards of generation {generation} hold no examples")]
    NoExamples {
        /// The number of the model that was to be trained on them.
        generation: u32,
    },
}
