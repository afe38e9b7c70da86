//! What can go wrong with inference servers.

use std::io;
use std::time::Duration;

use exit_class::{Classified, ExitClass};

use crate::{AddressError, SecurityError};

/// Why inference servers cannot be used, or did not evaluate a batch.
#[derive(Debug, thiserror::Error)]
pub enum RemoteError {
    /// The list of servers cannot be read.
    #[error("--inference")]
    Address(#[from] AddressError),
    /// Certificates or a token that cannot be used.
    #[error(transparent)]
    Security(#[from] SecurityError),
    /// A token that others on the network could read.
    #[error("--inference-token-file: {server} is not encrypted; use https, a loopback address or a Unix socket")]
    BareToken {
        /// The server.
        server: String,
    },
    /// Options of encryption where nothing is encrypted.
    #[error("{option} needs a server with https; --inference names none")]
    NotEncrypted {
        /// The option.
        option: &'static str,
    },
    /// A number format that the protocol does not have.
    #[error("--inference-encoding {0} is unknown; expected f32 or f16")]
    Encoding(String),
    /// A certificate without its key, or a key without its certificate.
    #[error("--inference-cert and --inference-key belong together; name both")]
    HalfIdentity,
    /// A server that cannot be connected to with these certificates, or at all.
    #[error("cannot connect to {server}: {problem}")]
    Endpoint {
        /// The server.
        server: String,
        /// What is wrong.
        problem: String,
    },
    /// The thread of the pool cannot be started.
    #[error("cannot start the thread of the inference client")]
    Thread(#[source] io::Error),
    /// No server evaluated a batch in time.
    #[error("no inference server evaluated a batch for {:.0} s: {problems}", waited.as_secs_f64())]
    NoServer {
        /// How long the batch waited.
        waited: Duration,
        /// The servers and their last errors.
        problems: String,
    },
    /// A batch that has to be sent in parts.
    #[error("an inference server takes {most} positions at a time")]
    TooLarge {
        /// Positions of a part.
        most: u32,
    },
    /// All servers refused a batch.
    #[error("inference server {server} refused the batch: {reason}")]
    Refused {
        /// The server that refused it last.
        server: String,
        /// Its reason.
        reason: String,
    },
    /// The network of this process cannot be opened for the last tier.
    #[error("cannot evaluate without an inference server")]
    Local(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// The caller does not want a batch any more.
    #[error("the search that wanted the batch was stopped")]
    Stopped,
    /// The pool has ended.
    #[error("the inference client has ended")]
    Ended,
}

impl Classified for RemoteError {
    fn class(&self) -> ExitClass {
        match self {
            RemoteError::Address(_)
            | RemoteError::Security(_)
            | RemoteError::BareToken { .. }
            | RemoteError::NotEncrypted { .. }
            | RemoteError::HalfIdentity
            | RemoteError::Encoding(_)
            | RemoteError::Endpoint { .. } => ExitClass::Configuration,
            RemoteError::NoServer { .. } => ExitClass::StoreUnreachable,
            RemoteError::Thread(_)
            | RemoteError::TooLarge { .. }
            | RemoteError::Refused { .. }
            | RemoteError::Local(_)
            | RemoteError::Stopped
            | RemoteError::Ended => ExitClass::Failure,
        }
    }
}
