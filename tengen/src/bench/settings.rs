//! What all measurements need, and how they print their cases.

use std::fmt::Display;
use std::time::Duration;

use runtime::Stop;
use serde::Serialize;

/// What all measurements need.
pub(super) struct Bench<'a> {
    pub(super) store: &'a str,
    pub(super) json: bool,
    pub(super) time: Duration,
    pub(super) stop: &'a Stop,
}

impl Bench<'_> {
    /// Prints one case, unless a stop is requested: it may have cut the measurement short.
    pub(super) fn report(&self, case: &(impl Serialize + Display)) -> anyhow::Result<()> {
        if self.stop.requested() {
            return Ok(());
        }
        if self.json { runtime::print(serde_json::to_string(case)?) } else { runtime::print(case) }
    }
}
