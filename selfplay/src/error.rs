//! What can go wrong while playing.

use config::ModelId;
use exit_class::{Classified, ExitClass};
use mcts::EvaluateError;
use models::ModelError;

/// Why a job ended early.
#[derive(Debug, thiserror::Error)]
pub enum SelfplayError {
    /// The store did not do its part.
    #[error(transparent)]
    Store(#[from] store::StoreError),
    /// The model cannot be opened.
    #[error(transparent)]
    Model(#[from] ModelError),
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
            SelfplayError::Store(error) => error.class(),
            SelfplayError::Model(error) => error.class(),
            SelfplayError::Evaluate { source, .. } => models::evaluate_class(source),
        }
    }
}
