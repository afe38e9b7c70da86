//! Errors of models and networks that are studied.

use exit_class::{Classified, ExitClass};
use models::ModelError;
use net::NetError;
use store::StoreError;

/// A model that cannot be studied.
#[derive(Debug, thiserror::Error)]
pub enum StudyError {
    /// A model that there is not, or that cannot be opened.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// Weights that are none.
    #[error("{name} cannot be used: {source}")]
    Weights {
        /// The model or its file.
        name: String,
        /// The reason. Boxed, so that a `Result` stays small.
        source: Box<NetError>,
    },
    /// A key on the command line that the study gives values of its own.
    #[error("--set {0}: this study sets the key itself; leave it out")]
    OwnKey(String),
    /// Networks that cannot be compared.
    #[error("the networks have no tensor of the same name and dimensions: {0}; and {1}")]
    Unlike(String, String),
}

impl Classified for StudyError {
    fn class(&self) -> ExitClass {
        match self {
            StudyError::Model(error) => error.class(),
            StudyError::Store(error) => error.class(),
            _ => ExitClass::Configuration,
        }
    }
}
