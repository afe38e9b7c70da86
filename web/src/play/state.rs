//! What all pages for players share.

use std::sync::atomic::AtomicU64;

use super::desk::Desk;
use super::engines::Engines;
use super::offload::Offload;
use super::reports::Reports;

/// The reply to a request that does not fit into the queue.
pub(super) const FULL: &str = "the server has too much to do; try again in a minute";

/// What all pages for players share.
pub(crate) struct Play {
    pub(super) engines: Engines,
    pub(super) desk: Desk,
    pub(super) reports: Reports,
    pub(super) offload: Offload,
    pub(super) openers: Offload,
    pub(super) most_visits: u32,
    pub(super) visitors: AtomicU64,
}
