//! Networks on other machines: the protocol of the inference server, and its client.
//!
//! [`proto`] has the messages of both services. [`Batch`] and [`Answer`] are what they mean, checked: whatever comes
//! over a wire is refused with a reason, and never trusted. [`server_tls`], [`client_tls`] and [`Token`] are who may
//! talk to whom.
//!
//! [`Client`] is the pool of a process: connections to all servers, shared by its threads. A [`RemoteSession`]
//! evaluates the batches of one thread and one model with it, as a [`net::Session`] does on a device.

mod address;
mod answer;
mod batch;
mod client;
#[cfg(test)]
mod client_tests;
mod codec;
mod connection;
mod credentials;
mod dispatcher;
mod encoding;
mod error;
mod kserve_input;
mod model_key;
mod pool;
pub mod proto;
mod report;
mod security;
mod session;
#[cfg(test)]
mod simulation_tests;
#[cfg(test)]
mod test_server;
mod transport;

use std::time::Duration;

pub use address::{Address, AddressError, unix_path};
pub use answer::{Answer, AnswerError, Output, Refusal};
pub use batch::{Batch, BatchError};
pub use client::Client;
pub use connection::FRAME;
#[cfg(any(test, feature = "testing"))]
pub use connection::check_reply;
pub use encoding::LengthError;
pub use error::RemoteError;
pub use kserve_input::{KserveInput, KserveInputError, UINT8};
pub use model_key::{Digest, ModelKey, ModelKeyError};
pub use proto::v1::{Encoding, Priority};
pub use security::{SecurityError, ServerIdentity, Token, client_tls, server_tls};
pub use session::{OpenLocal, RemoteSession};

/// Version of the protocol.
pub const PROTOCOL: u32 = 1;
/// While batches are outstanding a server sends its credit every so often. Clients that hear nothing for nearly three
/// times as long ask another server.
pub const LIVENESS: Duration = Duration::from_millis(80);
/// The port of a server whose address has none.
pub(crate) const DEFAULT_PORT: u16 = 9470;
