//! A server of the list.

use std::collections::BTreeSet;
use std::time::Duration;

use rand::{Rng, RngExt};

use super::backoff;
use super::event::{Connection, State, Time};
use super::latency::Latency;
use super::settings::Settings;

/// What the pool knows of a server.
#[derive(Clone, Debug)]
pub(crate) struct Server {
    pub(crate) tier: usize,
    pub(crate) state: State,
    pub(crate) counts: Counts,
    /// Counts its connections.
    pub(super) generation: u64,
    /// Whether it was ever up or failed. Until then lower tiers wait for it.
    pub(super) known: bool,
    pub(super) latency: Latency,
    /// Positions that were sent over the connection and have no response.
    pub(crate) outstanding: u32,
    /// Positions that may be outstanding; 0 before the first connection.
    pub(crate) credit: u32,
    /// Positions that may be in a batch; no limit before the first connection.
    pub(crate) most: u32,
    /// The models of which it has evaluated a batch over this connection.
    warm: BTreeSet<u64>,
    /// Positions that may be outstanding beside the credit. It doubles with each response, so that a server that comes
    /// back is not met with everything at once.
    window: u32,
    /// It was full, and gets nothing before.
    busy: Time,
    /// Since when it has been full for every batch.
    exhausted: Option<Time>,
    /// When the last message came.
    pub(super) heard: Time,
    /// When the last response came, or the connection began.
    pub(super) answered: Time,
    /// Connections that failed in a row.
    failures: u32,
    /// When the last connection over which it was up was lost.
    lost: Option<Time>,
}

/// What happened to the batches of a server.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    /// Responses that were those of their batches.
    pub(crate) answered: u64,
    /// Batches that were sent elsewhere after they were sent to this server.
    pub(crate) resent: u64,
    /// Responses to batches that were done, or to none.
    pub(crate) late: u64,
}

impl Server {
    pub(super) fn new(tier: usize) -> Server {
        Server {
            tier,
            state: State::Down { until: Time::ZERO },
            counts: Counts::default(),
            generation: 0,
            known: false,
            latency: Latency::default(),
            outstanding: 0,
            credit: 0,
            most: u32::MAX,
            warm: BTreeSet::new(),
            window: 0,
            busy: Time::ZERO,
            exhausted: None,
            heard: Time::ZERO,
            answered: Time::ZERO,
            failures: 0,
            lost: None,
        }
    }

    pub(super) fn connection(&self, server: usize) -> Connection {
        Connection { server, generation: self.generation }
    }

    /// Begins a connection.
    pub(super) fn probe(&mut self, now: Time, settings: &Settings) {
        self.generation += 1;
        self.warm.clear();
        self.state = State::Probing { until: now + settings.connect };
    }

    /// It responds again. The first connection to a server counts at once; on others it is on trial at first.
    pub(super) fn rise(&mut self, now: Time, settings: &Settings, random: &mut impl Rng) {
        let [least, most] = settings.settle;
        let settle = least + (most - least).mul_f64(random.random());
        let settled = if self.known { now + settle } else { now };
        self.known = true;
        self.window = 0;
        self.busy = Time::ZERO;
        self.exhausted = None;
        self.answered = now;
        self.state = State::Up { since: now, settled };
    }

    /// The connection is gone. Time that was spent on connecting counts as pause, so that a server behind a line on
    /// which everything is lost is found as soon as one that refuses connections.
    pub(super) fn fall(&mut self, now: Time, settings: &Settings, random: &mut impl Rng) {
        let (lasted, paused_since) = match self.state {
            State::Up { since, .. } => (now.saturating_sub(since), now),
            State::Probing { until } => (Duration::ZERO, until.saturating_sub(settings.connect)),
            _ => (Duration::ZERO, now),
        };
        if matches!(self.state, State::Up { .. } | State::Suspect { .. }) {
            self.lost = Some(now);
        }
        if lasted >= settings.settle[0] {
            self.failures = 0;
        }
        let pause = backoff::pause(settings.backoff, self.failures, random);
        self.state = State::Down { until: now.max(paused_since + pause) };
        self.failures = self.failures.saturating_add(1);
        self.known = true;
        self.outstanding = 0;
    }

    /// Whether no message came for half of the deadline, or none came when the server had to send one.
    pub(super) fn is_silent(&self, now: Time, settings: &Settings) -> bool {
        now.saturating_sub(self.heard) >= settings.silence.max(settings.deadline / 2)
    }

    /// Whether no response came for half of the deadline.
    pub(super) fn is_stuck(&self, now: Time, settings: &Settings) -> bool {
        now.saturating_sub(self.answered) >= settings.deadline / 2
    }

    /// Whether it has evaluated a batch of this model, so that it need not load it.
    pub(super) fn is_warm(&self, model: u64) -> bool {
        self.warm.contains(&model)
    }

    /// It has evaluated a batch, and took so long.
    pub(super) fn evaluated(&mut self, model: u64, positions: u32, took: Duration) {
        if !self.warm.insert(model) {
            self.latency.note(took);
        }
        self.exhausted = None;
        self.window = self.window.max(positions).saturating_mul(2).min(self.credit.max(positions));
    }

    /// It was full.
    pub(super) fn rest(&mut self, now: Time, retry_after: Option<Duration>, settings: &Settings) {
        self.busy = now + retry_after.unwrap_or(settings.busy).min(settings.longest_busy);
        self.window /= 2;
        self.exhausted.get_or_insert(now);
    }

    /// Whether a batch waits for its capacity: it had some lately, and had none for the batch, if ever, since not long
    /// ago.
    pub(super) fn holds(&self, now: Time, turned_away: Option<Time>, settings: &Settings) -> bool {
        let since = self.exhausted.into_iter().chain(turned_away).min();
        since.is_none_or(|since| now < since + settings.deadline)
    }

    /// Whether it is up, on trial or not.
    pub(super) fn is_up(&self) -> bool {
        matches!(self.state, State::Up { .. })
    }

    /// Whether it is up, and past its trial.
    pub(super) fn is_settled(&self, now: Time) -> bool {
        matches!(self.state, State::Up { settled, .. } if settled <= now)
    }

    /// Whether it is up or suspect, or was so within a time.
    pub(super) fn was_up(&self, now: Time, within: Duration) -> bool {
        let is_up = matches!(self.state, State::Up { .. } | State::Suspect { .. });
        is_up || self.lost.is_some_and(|lost| now < lost + within)
    }

    /// Whether a batch may be sent. One that is larger than the credit may be sent alone.
    pub(super) fn has_room(&self, now: Time, positions: u32) -> bool {
        let fits = self.outstanding.saturating_add(positions) <= self.credit.min(self.window);
        self.busy <= now && self.credit > 0 && (self.outstanding == 0 || fits)
    }

    /// Its share of work, as a fraction: outstanding positions with this batch, and credit.
    pub(super) fn load(&self, positions: u32) -> [u64; 2] {
        [u64::from(self.outstanding) + u64::from(positions), u64::from(self.credit)]
    }

    /// When its state ends by itself.
    pub(super) fn ends(&self) -> Option<Time> {
        match self.state {
            State::Down { until } | State::Probing { until } => Some(until),
            State::Up { .. } | State::Suspect { .. } => None,
        }
    }

    /// When batches that wait may find it past its trial, with capacity again, or full for too long.
    pub(super) fn opens(&self, now: Time, settings: &Settings) -> Option<Time> {
        let State::Up { settled, .. } = self.state else { return None };
        let lets_go = self.exhausted.map(|since| since + settings.deadline);
        [settled, self.busy].into_iter().chain(lets_go).filter(|&time| time > now).min()
    }
}
