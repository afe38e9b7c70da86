//! The server over real connections.

#![allow(clippy::unwrap_used, reason = "a test stops at what it did not expect, in its helpers too")]

mod fixture;
mod kserve;
mod loading;
mod queueing;
mod refusing;
mod security;
mod serving;
