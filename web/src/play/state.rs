//! What all pages for players share.

use std::sync::atomic::AtomicU64;

use analysis::{Perspective, ReportStyle};

use super::desk::Desk;
use super::engines::Engines;
use super::offload::Offload;
use super::reports::Reports;

/// What reports contain. Pages turn them for the player whom they show.
pub(super) const STYLE: ReportStyle = ReportStyle {
    perspective: Perspective::Black,
    points: 10.0,
    moves: 20,
    variation: 15,
    policy: true,
    path_visits: false,
};

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
