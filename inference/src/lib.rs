//! The inference server: evaluates positions for search processes on this machine and others.
//!
//! The cast: clients send batches over a stream (`stream`) or by single calls of the Open Inference Protocol
//! (`kserve`), to an address with bounds on what a connection may do (`listen`). A batch finds its network in memory or
//! waits until it is loaded (`cache`, `provider`), and is queued (`scheduler`, `queue`). Threads of the device take
//! rows of many batches at once (`worker`) and hand the output to the batches (`job`), whose responses go out in the
//! order in which they are done. [`Server`] puts it together.

mod arrival;
mod cache;
pub mod command;
mod error;
mod job;
mod kserve;
mod limits;
mod listen;
mod network;
mod peer;
mod provider;
mod queue;
mod scheduler;
mod server;
mod shared;
mod stream;
mod worker;

pub use error::ServerError;
pub use limits::Limits;
pub use listen::{Listen, NoAddress};
pub use network::{OpenSession, Opened};
pub use provider::{Found, ModelProvider, ProviderError, StoreProvider};
pub use server::{Options, Server};
