//! What can go wrong with a store.

use std::io;
use std::path::Path;

use config::{ConfigError, Difference, ModelId};
use exit_class::{Classified, ExitClass};
use record::RecordError;

/// Errors of the store. Every variant names the file or folder in full.
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
    /// A worker whose name cannot be part of a file's name.
    #[error("\"{0}\" is no name for a worker: use 1 to 64 letters, digits, '.', '_' and '-', a letter or digit first")]
    BadName(String),
    /// A text that is not the name or the number that is expected.
    #[error("\"{text}\" is not {expected}")]
    Malformed {
        /// As it was found, or given.
        text: String,
        /// What is expected, with its article.
        expected: &'static str,
    },
    /// A name that cannot be that of a set of evaluations.
    #[error("\"{0}\" is no name of a set of evaluations: they have 1 to 128 letters, digits and '-'")]
    BadSet(String),
    /// There is nothing at this place.
    #[error("{path} does not exist")]
    NotFound {
        /// The file.
        path: String,
    },
    /// The weights of a retired model that were deleted on request.
    #[error("the weights of {model} were deleted; its metadata and its games are kept ({path})")]
    Deleted {
        /// The file.
        path: String,
        /// The model.
        model: ModelId,
    },
    /// Something else was published under this name before, and published objects never change.
    #[error("{path} exists already, with other contents")]
    AlreadyExists {
        /// The file.
        path: String,
    },
    /// Another process works under a name.
    #[error("{what} is running already: {holder}; {remedy}")]
    Held {
        /// The program, the name and the run.
        what: String,
        /// The other process.
        holder: String,
        /// The remedy.
        remedy: &'static str,
    },
    /// The run's `run.toml` is not the one that the run began with.
    #[error(
        "{path} was changed after the run began: {}; put the old values back, or begin another run",
        changes.listed(|one, other| format!("{one} and was {other}"))
    )]
    Edited {
        /// The run's `run.toml`.
        path: String,
        /// Its configuration against the one that the run began with.
        changes: Box<Changes>,
    },
    /// The run exists with another configuration.
    #[error(
        "{path} describes another run: {}; use its configuration, or begin another run",
        changes.listed(|one, other| format!("{one} there and {other} here"))
    )]
    Conflict {
        /// The run's `run.toml`.
        path: String,
        /// Its configuration against the one that was to be put there.
        changes: Box<Changes>,
    },
    /// The store cannot be reached or read: no network, no server, no permission to read.
    #[error("cannot {doing} {path}: {reason}")]
    Unreachable {
        /// `read`, `write`, `list`, `delete`, `create` or `sweep`.
        doing: &'static str,
        /// The file or folder.
        path: String,
        /// The error of the file system or the server.
        reason: String,
    },
    /// The store is there and refuses writes: no space, a quota, no permission, read-only. Trying again does not help
    /// before the operator has acted.
    #[error("the store refuses writes: cannot {doing} {path}: {reason}")]
    Refused {
        /// `write`, `delete`, `create` or `sweep`.
        doing: &'static str,
        /// The file or folder.
        path: String,
        /// The response of the file system or the server.
        reason: String,
    },
    /// A file is there but its contents cannot be used: cut off, altered, or not one of ours.
    #[error("{path} is damaged: {reason}")]
    Damaged {
        /// The file.
        path: String,
        /// The problem with it.
        reason: String,
    },
    /// The configuration of a run cannot be used.
    #[error("{path}: {source}")]
    Config {
        /// The run's `run.toml`.
        path: String,
        /// The problem with it.
        source: ConfigError,
    },
    /// The configuration of a run, or the metadata of a model, has other keys than those of this version.
    #[error(
        "{path}: {problem}; another version of Tengen began the run, or the file was edited: continue the run with that \
         version, or begin another run"
    )]
    OtherKeys {
        /// The run's `run.toml`, or the `model.toml` of a model.
        path: String,
        /// The key that is missing or unknown.
        problem: String,
    },
    /// A file whose format or table this version does not read. Its bytes are whole, so it is neither moved nor
    /// replaced.
    #[error("{path} has {found}, and this program reads {known}: use the version of Tengen that wrote it")]
    OtherVersion {
        /// The file.
        path: String,
        /// Its format or the version of its table.
        found: String,
        /// What this version reads.
        known: String,
    },
    /// A record that must not be published, since no reader could use it.
    #[error("cannot publish {path}: {source}")]
    Record {
        /// Where it was to go.
        path: String,
        /// The problem with it.
        source: RecordError,
    },
}

impl StoreError {
    /// A change of a folder that the file system did not make.
    pub(crate) fn of_file_system(doing: Doing, path: &Path, error: &io::Error) -> StoreError {
        let doing = doing.verb();
        let (path, reason) = (path.display().to_string(), error.to_string());
        if is_write_refusal(error) {
            StoreError::Refused { doing, path, reason }
        } else {
            StoreError::Unreachable { doing, path, reason }
        }
    }

    /// The error of a table whose bytes are as they were published, and whose records cannot be read.
    pub(crate) fn of_records(path: String, error: &RecordError) -> StoreError {
        match error {
            RecordError::Version { expected, found: Some(found) } if is_other_version(found, expected) => {
                StoreError::OtherVersion { path, found: found.clone(), known: (*expected).to_owned() }
            }
            error => StoreError::Damaged { path, reason: error.to_string() },
        }
    }

    /// The same error with what to do about damaged bytes.
    pub(crate) fn with_remedy(self, remedy: &str) -> StoreError {
        match self {
            StoreError::Damaged { path, reason } => StoreError::Damaged { path, reason: format!("{reason}; {remedy}") },
            other => other,
        }
    }

    /// Whether the store refuses writes, so that the operator must free space or grant permission.
    pub fn is_refused(&self) -> bool {
        matches!(self, StoreError::Refused { .. })
    }

    /// Whether a single file is at fault, so that a reader of many may list it and continue with the others.
    pub fn is_damage(&self) -> bool {
        matches!(self, StoreError::Damaged { .. } | StoreError::NotFound { .. } | StoreError::Deleted { .. })
    }

    /// Whether a reader of many files, which needs no particular one, may skip this one: as damage, or as one of
    /// another version, which that version reads.
    pub fn is_skippable(&self) -> bool {
        self.is_damage() || matches!(self, StoreError::OtherVersion { .. })
    }

    /// Whether a single object is at fault, so that a report of a whole run may name it and continue. A model with
    /// other keys is among them, which no stage may skip.
    pub fn is_of_one_object(&self) -> bool {
        match self {
            StoreError::Damaged { .. }
            | StoreError::NotFound { .. }
            | StoreError::Deleted { .. }
            | StoreError::OtherKeys { .. }
            | StoreError::OtherVersion { .. } => true,
            // The store, the whole run, an argument, or something that was to be written.
            StoreError::BadUrl { .. }
            | StoreError::BadName(_)
            | StoreError::Malformed { .. }
            | StoreError::BadSet(_)
            | StoreError::AlreadyExists { .. }
            | StoreError::Held { .. }
            | StoreError::Edited { .. }
            | StoreError::Conflict { .. }
            | StoreError::Unreachable { .. }
            | StoreError::Refused { .. }
            | StoreError::Config { .. }
            | StoreError::Record { .. } => false,
        }
    }
}

/// What was requested of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Doing {
    Read,
    Write,
    List,
    Delete,
    /// To make the folder of a store.
    Create,
    /// To delete what killed processes left in a folder of this machine.
    Sweep,
}

impl Doing {
    /// As messages have it.
    pub(crate) fn verb(self) -> &'static str {
        match self {
            Doing::Read => "read",
            Doing::Write => "write",
            Doing::List => "list",
            Doing::Delete => "delete",
            Doing::Create => "create",
            Doing::Sweep => "sweep",
        }
    }
}

/// Whether `games/7` is another version of `games/6`, as opposed to another table.
fn is_other_version(found: &str, known: &str) -> bool {
    let (found, known) = (found.split_once('/'), known.split_once('/'));
    found.zip(known).is_some_and(|(found, known)| found.0 == known.0 && found.1.parse::<u32>().is_ok())
}

/// Whether a file system refuses a write for a reason that only the operator can remove.
pub(crate) fn is_write_refusal(error: &io::Error) -> bool {
    let is_refusal = matches!(
        error.kind(),
        io::ErrorKind::StorageFull
            | io::ErrorKind::QuotaExceeded
            | io::ErrorKind::FileTooLarge
            | io::ErrorKind::ReadOnlyFilesystem
            | io::ErrorKind::PermissionDenied
    );
    is_refusal || lacks_links(error)
}

/// Whether this may be the response to a hard link where there are none: EPERM of vfat and exFAT (link(2)), or
/// EOPNOTSUPP.
pub(crate) fn lacks_links(error: &io::Error) -> bool {
    matches!(error.raw_os_error(), Some(1 | 95))
}

impl Classified for StoreError {
    fn class(&self) -> ExitClass {
        match self {
            StoreError::BadUrl { .. }
            | StoreError::BadName(_)
            | StoreError::Malformed { .. }
            | StoreError::BadSet(_)
            | StoreError::NotFound { .. }
            | StoreError::Deleted { .. }
            | StoreError::Held { .. }
            | StoreError::Edited { .. }
            | StoreError::Conflict { .. }
            | StoreError::Config { .. }
            | StoreError::OtherKeys { .. }
            | StoreError::OtherVersion { .. } => ExitClass::Configuration,
            StoreError::Unreachable { .. } => ExitClass::StoreUnreachable,
            StoreError::Refused { .. } => ExitClass::StoreRefuses,
            StoreError::AlreadyExists { .. } | StoreError::Damaged { .. } | StoreError::Record { .. } => {
                ExitClass::Failure
            }
        }
    }
}

/// What one configuration has and another has not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Changes {
    /// The keys with both values; none when one of the configurations is not known.
    pub keys: Vec<Difference>,
    /// The digest of the one.
    pub found: String,
    /// The digest of the other.
    pub wanted: String,
}

/// Keys in a message; the others are counted.
const LISTED: usize = 4;

impl Changes {
    /// The keys, as a message names them.
    fn listed(&self, values: fn(&str, &str) -> String) -> String {
        let is = |change: &Difference| format!("{} is {}", change.key, values(&change.one, &change.other));
        let mut keys: Vec<String> = self.keys.iter().take(LISTED).map(is).collect();
        if self.keys.len() > LISTED {
            keys.push(format!("{} more keys differ", self.keys.len() - LISTED));
        }
        keys.push(format!("its digest is {}, not {}", self.found, self.wanted));
        keys.join(", ")
    }
}
