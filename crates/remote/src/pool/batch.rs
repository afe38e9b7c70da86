//! Batches, and the attempts to have them evaluated.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use super::event::Time;

/// A batch that is not done.
#[derive(Clone, Debug)]
pub(crate) struct PendingBatch {
    /// The model that evaluates it.
    pub(crate) model: u64,
    pub(crate) positions: u32,
    /// When it was submitted.
    pub(crate) submitted: Time,
    /// The servers that were full, and since when.
    pub(crate) turned_away: BTreeMap<usize, Time>,
    /// The server that it was sent to last.
    pub(crate) last: Option<usize>,
    /// The servers that cannot evaluate it before a time.
    pub(crate) later: BTreeMap<usize, Time>,
    /// The servers that have refused it in this round.
    pub(crate) refused: BTreeSet<usize>,
    /// The last refusal: who, and why.
    pub(crate) refusal: Option<(usize, String)>,
    /// Rounds in which every server that was up within the patience refused it.
    pub(crate) rounds: u32,
    /// It is not sent before.
    pub(crate) rest: Time,
}

/// A batch that was sent over a connection, and has no response.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Attempt {
    pub(crate) batch: u64,
    pub(crate) model: u64,
    pub(crate) server: usize,
    pub(crate) positions: u32,
    pub(crate) sent: Time,
    /// The server responds within this time.
    pub(crate) usual: Duration,
    /// Whether the server has evaluated a batch of the model before, so that it need not load it.
    pub(crate) is_warm: bool,
    /// Whether it was overdue, so that the batch was taken elsewhere.
    pub(crate) overdue: bool,
}

impl PendingBatch {
    pub(crate) fn new(now: Time, model: u64, positions: u32) -> PendingBatch {
        PendingBatch {
            model,
            positions,
            submitted: now,
            turned_away: BTreeMap::new(),
            later: BTreeMap::new(),
            last: None,
            refused: BTreeSet::new(),
            refusal: None,
            rounds: 0,
            rest: Time::ZERO,
        }
    }

    /// How long it has waited to be evaluated.
    pub(crate) fn waited(&self, now: Time) -> Duration {
        now.saturating_sub(self.submitted)
    }

    /// Notes a refusal.
    pub(crate) fn refuse(&mut self, server: usize, reason: String) {
        self.refused.insert(server);
        self.refusal = Some((server, reason));
    }

    /// Those that have refused it in this round may take it from a time on.
    pub(crate) fn ask_again(&mut self, at: Time) {
        let refused = std::mem::take(&mut self.refused);
        self.later.extend(refused.into_iter().map(|server| (server, at)));
    }

    /// A server was full.
    pub(crate) fn turn_away(&mut self, now: Time, server: usize) {
        self.turned_away.entry(server).or_insert(now);
    }

    /// Whether a server may evaluate it now.
    pub(crate) fn may_go_to(&self, now: Time, server: usize) -> bool {
        !self.refused.contains(&server) && self.later.get(&server).is_none_or(|&time| time <= now)
    }

    /// When it may be sent again or to a lower tier. `held` is how long a full tier keeps it.
    pub(crate) fn next(&self, now: Time, held: Duration) -> Option<Time> {
        let turned_away = self.turned_away.values().map(|&since| since + held);
        turned_away.chain(self.later.values().copied()).chain([self.rest]).filter(|&time| time > now).min()
    }
}
