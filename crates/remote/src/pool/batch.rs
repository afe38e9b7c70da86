//! Batches, and the attempts to have them evaluated.

use std::collections::BTreeSet;
use std::time::Duration;

use super::event::Time;

/// A batch that is not done.
#[derive(Clone, Debug)]
pub(crate) struct Batch {
    /// The model that evaluates it.
    pub(crate) model: u64,
    pub(crate) positions: u32,
    /// Since when it has waited for a server.
    pub(crate) waiting: Option<Time>,
    /// The server that it was sent to last.
    pub(crate) last: Option<usize>,
    /// The servers that have refused it in this round.
    pub(crate) refused: BTreeSet<usize>,
    /// The last refusal: who, and why.
    pub(crate) refusal: Option<(usize, String)>,
    /// Rounds in which every server that was up refused it.
    pub(crate) rounds: u32,
    /// It is not sent before.
    pub(crate) rest: Time,
}

/// A batch that was sent over a connection, and has no answer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Attempt {
    pub(crate) batch: u64,
    pub(crate) model: u64,
    pub(crate) server: usize,
    pub(crate) positions: u32,
    pub(crate) sent: Time,
    /// It is overdue from then on.
    pub(crate) due: Time,
    /// Whether it was overdue, so that the batch was taken elsewhere.
    pub(crate) overdue: bool,
}

impl Batch {
    pub(crate) fn new(now: Time, model: u64, positions: u32) -> Batch {
        Batch {
            model,
            positions,
            waiting: Some(now),
            last: None,
            refused: BTreeSet::new(),
            refusal: None,
            rounds: 0,
            rest: Time::ZERO,
        }
    }

    /// How long it has waited.
    pub(crate) fn waited(&self, now: Time) -> Duration {
        self.waiting.map_or(Duration::ZERO, |since| now.saturating_sub(since))
    }

    /// Notes a refusal.
    pub(crate) fn refuse(&mut self, server: usize, reason: String) {
        self.refused.insert(server);
        self.refusal = Some((server, reason));
    }

    /// When it fails, or may be sent again.
    pub(crate) fn next(&self, now: Time, patience: Duration) -> Option<Time> {
        let fails = self.waiting.map(|since| since + patience);
        let rests = Some(self.rest).filter(|&rest| rest > now);
        fails.into_iter().chain(rests).min()
    }
}
