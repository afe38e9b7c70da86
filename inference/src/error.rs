//! Why a server cannot serve.

use std::io;

use exit_class::{Classified, ExitClass};
use remote::SecurityError;

/// A server that cannot start.
#[derive(Debug, thiserror::Error)]
pub enum ServerError {
    /// Other machines could use the server, and nothing protects it.
    #[error(
        "{address} can be reached from other machines; give --tls-cert and --tls-key, and --client-ca or --token-file, or listen on 127.0.0.1 or unix:/path"
    )]
    Unprotected {
        /// The address.
        address: String,
    },
    /// Clients cannot show certificates without TLS.
    #[error("--client-ca needs --tls-cert and --tls-key")]
    NoIdentity,
    /// A certificate or a token that cannot be used.
    #[error(transparent)]
    Security(#[from] SecurityError),
    /// TLS refuses the certificates.
    #[error("TLS does not take the certificates")]
    Tls(#[source] tonic::transport::Error),
    /// The address cannot be opened.
    #[error("cannot listen on {address}; name another address with --listen")]
    Bind {
        /// The address.
        address: String,
        /// The response of the system.
        source: io::Error,
    },
    /// The system has no threads left.
    #[error("cannot start threads")]
    Threads(#[source] io::Error),
}

impl Classified for ServerError {
    fn class(&self) -> ExitClass {
        match self {
            ServerError::Threads(_) => ExitClass::Failure,
            _ => ExitClass::Configuration,
        }
    }
}
