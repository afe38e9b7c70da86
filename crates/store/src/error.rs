//! What can go wrong with a store.

use config::{ConfigError, ModelId};
use record::RecordError;

/// Why the store did not do what was asked. Every variant names the file or folder in full.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The place of the store cannot be used as one.
    #[error("cannot use {url} as a store: {reason}")]
    BadUrl {
        /// As it was given.
        url: String,
        /// Why.
        reason: String,
    },
    /// A name that cannot be part of a file's name.
    #[error(
        "\"{0}\" is no name for a worker or file: use 1 to 64 letters, digits, '.', '_' and '-', a letter or digit first"
    )]
    BadName(String),
    /// There is nothing at this place.
    #[error("{path} does not exist")]
    NotFound {
        /// The file.
        path: String,
    },
    /// The weights of a retired model that were deleted on request.
    #[error("the weights of {model} were deleted; its card and its games are kept ({path})")]
    Deleted {
        /// The file.
        path: String,
        /// The model.
        model: ModelId,
    },
    /// Something else was published under this name before, and what is published is never changed.
    #[error("{path} exists already, with other contents")]
    AlreadyExists {
        /// The file.
        path: String,
    },
    /// The run exists with another configuration.
    #[error("{path} describes another run: its configuration has digest {found}, not {wanted}")]
    Conflict {
        /// The run's `run.toml`.
        path: String,
        /// Digest of the configuration in it.
        found: String,
        /// Digest of the configuration that was to be put there.
        wanted: String,
    },
    /// The store cannot be reached, read or written: no permission, no space, no network.
    #[error("cannot {doing} {path}: {reason}")]
    Unreachable {
        /// `read`, `write`, `list` or `delete`.
        doing: &'static str,
        /// The file or folder.
        path: String,
        /// What the file system or the server said.
        reason: String,
    },
    /// A file is there but its contents cannot be used: cut off, altered, or not one of ours.
    #[error("{path} is damaged: {reason}")]
    Damaged {
        /// The file.
        path: String,
        /// What is wrong with it.
        reason: String,
    },
    /// The configuration of a run cannot be used.
    #[error("{path}: {source}")]
    Config {
        /// The run's `run.toml`.
        path: String,
        /// What is wrong with it.
        source: ConfigError,
    },
    /// A record that must not be published, since no reader could use it.
    #[error("cannot publish {path}: {source}")]
    Record {
        /// Where it was to go.
        path: String,
        /// What is wrong with it.
        source: RecordError,
    },
}

impl StoreError {
    /// Whether the store itself is out of reach, so that trying again later may help.
    pub fn is_unreachable(&self) -> bool {
        matches!(self, StoreError::Unreachable { .. })
    }

    /// Whether the operator named something that is not there or cannot be, so that trying again is of no use.
    pub fn is_misconfiguration(&self) -> bool {
        matches!(
            self,
            StoreError::BadUrl { .. }
                | StoreError::BadName(_)
                | StoreError::NotFound { .. }
                | StoreError::Deleted { .. }
                | StoreError::Conflict { .. }
                | StoreError::Config { .. }
        )
    }

    /// Whether a single file is at fault, so that a reader of many may list it and go on with the others.
    pub fn is_damage(&self) -> bool {
        matches!(self, StoreError::Damaged { .. } | StoreError::NotFound { .. } | StoreError::Deleted { .. })
    }
}
