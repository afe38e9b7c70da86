//! What can go wrong while playing.

use config::ModelId;
use exit_class::{Classified, ExitClass};
use mcts::EvaluateError;

/// Why a job ended early.
#[derive(Debug, thiserror::Error)]
pub enum SelfplayError {
    /// The store did not do its part.
    #[error(transparent)]
    Store(#[from] store::StoreError),
    /// A model that was never published.
    #[error("there is no model {model}")]
    Missing {
        /// The model.
        model: ModelId,
        /// Where it was looked for.
        source: store::StoreError,
    },
    /// The weights of a model cannot be used.
    #[error("model {model} cannot be opened")]
    Open {
        /// The model.
        model: ModelId,
        /// Why not. Boxed, so that an answer that is no error stays small.
        source: Box<net::NetError>,
    },
    /// The network failed while it was used.
    #[error("model {model} failed")]
    Evaluate {
        /// The model.
        model: ModelId,
        /// What it said.
        source: EvaluateError,
    },
}

impl Classified for SelfplayError {
    fn class(&self) -> ExitClass {
        match self {
            SelfplayError::Store(error) | SelfplayError::Missing { source: error, .. } => error.class(),
            SelfplayError::Open { source, .. } => source.class(),
            SelfplayError::Evaluate { .. } => ExitClass::Failure,
        }
    }
}
