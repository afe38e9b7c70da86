//! The input of a pairing: the present knowledge.

use std::collections::BTreeMap;

use crate::bradley_terry::Ratings;

/// The present knowledge.
pub struct Knowledge<'a> {
    /// The ratings so far.
    pub ratings: &'a Ratings,
    /// By player: the number of a model in its run; `None` for those that are no models of it. They are the anchors.
    pub ages: &'a [Option<u32>],
    /// Games that have no result yet.
    pub in_flight: &'a InFlight,
    /// Games that a pair plays.
    pub games: u32,
    /// Seconds that a game between two players takes, or anything proportional to it; `None` where they may not play.
    pub cost: &'a dyn Fn(usize, usize) -> Option<f64>,
}

/// Games that are being played and have no result yet, by pair.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct InFlight(pub(super) BTreeMap<(usize, usize), u32>);

impl InFlight {
    /// Counts `games` more between two players, in either order.
    pub fn add(&mut self, one: usize, other: usize, games: u32) {
        *self.0.entry((one.min(other), one.max(other))).or_default() += games;
    }

    /// Games being played between two players.
    pub fn between(&self, one: usize, other: usize) -> u32 {
        self.0.get(&(one.min(other), one.max(other))).copied().unwrap_or_default()
    }
}
