//! Which server evaluates which batch: the state machine of a client's pool.
//!
//! The machine has no sockets, threads or clock. Its caller reports [`Event`]s with the time since the pool began, and
//! carries out the [`Action`]s that follow. A [`Server`] of the list is up, suspect, down or probing. A batch goes to
//! the first tier with a server that is up; within the tier to the server with the fewest outstanding positions per
//! credit.
//!
//! An evaluation is a pure function of the batch, so evaluating a batch twice is harmless. A batch that is overdue is
//! sent to another server as well, and the first response counts. Each batch is done exactly once.

mod backoff;
mod batch;
mod event;
mod latency;
mod server;
mod settings;
#[cfg(test)]
mod tests;

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::time::Duration;

use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use batch::{Attempt, PendingBatch};
pub(crate) use event::{Action, Connection, Event, Failure, Outcome, Reply, State, Time};
pub(crate) use server::{Counts, Server};
pub(crate) use settings::Settings;

/// The state machine.
pub(crate) struct Pool {
    settings: Settings,
    /// The latest time that was reported.
    now: Time,
    servers: Vec<Server>,
    batches: BTreeMap<u64, PendingBatch>,
    /// The batches that want a server, or another one.
    waiting: BTreeSet<u64>,
    /// What was sent over connections that exist and has no response, batches that are done included.
    attempts: BTreeMap<u64, Attempt>,
    next_batch: u64,
    next_attempt: u64,
    random: Xoshiro256PlusPlus,
    actions: VecDeque<Action>,
}

/// Where a batch may go now.
enum Choice {
    Server(usize),
    Local,
    /// Nowhere yet.
    Wait,
    /// Nowhere: some have refused it, and no other server that is up can be waited for.
    Refused,
}

impl Pool {
    /// A pool of servers, given by their tiers, ascending from 0. [`Pool::advance`] begins to connect.
    pub(crate) fn new(tiers: &[usize], settings: Settings, seed: u64) -> Pool {
        Pool {
            settings,
            now: Time::ZERO,
            servers: tiers.iter().map(|&tier| Server::new(tier)).collect(),
            batches: BTreeMap::new(),
            waiting: BTreeSet::new(),
            attempts: BTreeMap::new(),
            next_batch: 0,
            next_attempt: 0,
            random: Xoshiro256PlusPlus::seed_from_u64(seed),
            actions: VecDeque::new(),
        }
    }

    /// Takes a batch of so many positions for a model; returns its number.
    pub(crate) fn submit(&mut self, now: Time, model: u64, positions: u32) -> u64 {
        let number = self.next_batch;
        self.next_batch += 1;
        self.batches.insert(number, PendingBatch::new(now, model, positions));
        self.waiting.insert(number);
        self.advance(now);
        number
    }

    /// Forgets a batch that nothing waits for any more. Responses to it are late.
    pub(crate) fn forget(&mut self, number: u64) {
        self.batches.remove(&number);
        self.waiting.remove(&number);
    }

    /// Notes what happened on a connection.
    pub(crate) fn handle(&mut self, now: Time, connection: Connection, event: Event) {
        let index = connection.server;
        let server = &mut self.servers[index];
        let is_current = server.generation == connection.generation && !matches!(server.state, State::Down { .. });
        if is_current {
            server.heard = now;
            match event {
                Event::Welcome { credit, most, .. } => {
                    server.credit = credit;
                    server.most = most.max(1);
                    if matches!(server.state, State::Probing { .. }) {
                        self.rise(now, index);
                    }
                }
                Event::Credit { credit } => {
                    server.credit = credit;
                    if matches!(server.state, State::Suspect { silent: true, .. }) {
                        self.rise(now, index);
                    }
                }
                Event::Answer { attempt, reply } => {
                    server.answered = now;
                    if matches!(server.state, State::Suspect { .. }) {
                        self.rise(now, index);
                    }
                    self.answer(now, index, attempt, reply);
                }
                Event::Gone { .. } => self.lose(now, index),
            }
        }
        self.advance(now);
    }

    /// Notes that time has passed.
    pub(crate) fn advance(&mut self, now: Time) {
        self.now = now;
        for index in 0..self.servers.len() {
            if matches!(self.servers[index].state, State::Probing { until } if until <= now) {
                self.close(now, index);
            }
            if matches!(self.servers[index].state, State::Down { until } if until <= now) {
                self.servers[index].probe(now, &self.settings);
                self.actions.push_back(Action::Connect(self.servers[index].connection(index)));
            }
        }
        self.mark_overdue(now);
        self.expire(now);
        self.dispatch(now);
    }

    /// When [`Pool::advance`] has something to do at the latest, if nothing happens before.
    pub(crate) fn next(&self) -> Option<Time> {
        let servers = self.servers.iter().filter_map(Server::ends);
        let waited_for = self.servers.iter().filter(|_| !self.waiting.is_empty());
        let opens = waited_for.filter_map(|server| server.opens(self.now, &self.settings));
        let attempts = self.attempts.values().map(|attempt| self.acts_on(attempt));
        let next = |number| self.batches[number].next(self.now, self.settings.deadline);
        let batches = self.waiting.iter().filter_map(next);
        let expires = self.batches.values().next().map(|oldest| oldest.submitted + self.settings.patience);
        servers.chain(opens).chain(attempts).chain(batches).chain(expires).min()
    }

    /// The next thing to do.
    pub(crate) fn action(&mut self) -> Option<Action> {
        self.actions.pop_front()
    }

    /// From now on batches that no server has evaluated fail after this time.
    pub(crate) fn set_patience(&mut self, patience: Duration) {
        self.settings.patience = patience;
    }

    /// The batch of an attempt; `None` once the batch is done.
    pub(crate) fn batch_of(&self, attempt: u64) -> Option<u64> {
        let batch = self.attempts.get(&attempt)?.batch;
        self.batches.contains_key(&batch).then_some(batch)
    }

    /// The servers, in the order of the list.
    pub(crate) fn servers(&self) -> &[Server] {
        &self.servers
    }

    /// A server has greeted, or shows that it is not stopped or stuck.
    fn rise(&mut self, now: Time, index: usize) {
        let server = &mut self.servers[index];
        server.rise(now, &self.settings, &mut self.random);
        self.actions.push_back(Action::Changed { server: index, state: server.state });
    }

    fn answer(&mut self, now: Time, index: usize, number: u64, reply: Reply) {
        let server = &mut self.servers[index];
        let Some(attempt) = self.attempts.get(&number).filter(|attempt| attempt.server == index).copied() else {
            server.counts.late += 1;
            return;
        };
        self.attempts.remove(&number);
        server.outstanding -= attempt.positions;
        let took = now.saturating_sub(attempt.sent);
        match &reply {
            Reply::Evaluated => server.evaluated(attempt.model, attempt.positions, took),
            Reply::Exhausted { retry_after, .. } => server.rest(now, *retry_after, &self.settings),
            // It takes longer than that.
            Reply::Expired => server.latency.note(2 * took),
            Reply::Later { .. } | Reply::Refused { .. } | Reply::Invalid { .. } | Reply::Draining => {}
        }
        let Some(batch) = self.batches.get_mut(&attempt.batch) else {
            server.counts.late += 1;
            if reply == Reply::Draining {
                self.close(now, index);
            }
            return;
        };
        match reply {
            Reply::Evaluated => {
                server.counts.answered += 1;
                return self.finish(attempt.batch, Outcome::Answered);
            }
            Reply::Invalid { reason } => {
                let failure = Failure::Invalid { server: index, reason };
                return self.finish(attempt.batch, Outcome::Failed(failure));
            }
            Reply::Refused { reason } => batch.refuse(index, reason),
            Reply::Exhausted { .. } => batch.turn_away(now, index),
            Reply::Later { retry_after, .. } => {
                batch.later.insert(index, now + retry_after.min(self.settings.longest_busy));
                // It does not speak for those that refused the batch: they are asked again, too.
                batch.ask_again(now + self.settings.refused);
            }
            Reply::Expired => {}
            Reply::Draining => self.close(now, index),
        }
        self.queue(attempt.batch);
    }

    /// Closes a connection.
    fn close(&mut self, now: Time, index: usize) {
        self.actions.push_back(Action::Close(self.servers[index].connection(index)));
        self.lose(now, index);
    }

    /// A connection is gone, and everything that was sent over it.
    fn lose(&mut self, now: Time, index: usize) {
        let server = &mut self.servers[index];
        let was_up = matches!(server.state, State::Up { .. } | State::Suspect { .. }) || !server.known;
        server.fall(now, &self.settings, &mut self.random);
        if was_up {
            self.actions.push_back(Action::Changed { server: index, state: server.state });
        }
        let lost: Vec<u64> = self.attempts.extract_if(.., |_, it| it.server == index).map(|(_, it)| it.batch).collect();
        lost.into_iter().for_each(|batch| self.queue(batch));
    }

    /// Puts a batch among those that want a server, unless it is done or in good hands.
    fn queue(&mut self, number: u64) {
        let in_good_hands = self.attempts.values().any(|attempt| attempt.batch == number && !attempt.overdue);
        if self.batches.contains_key(&number) && !in_good_hands {
            self.waiting.insert(number);
        }
    }

    /// Takes overdue batches elsewhere, from a server that is silent or stuck all of them.
    fn mark_overdue(&mut self, now: Time) {
        while let Some((&number, &attempt)) = self.attempts.iter().find(|(_, attempt)| self.acts_on(attempt) <= now) {
            let index = attempt.server;
            if self.breaks(&attempt) <= now {
                self.close(now, index);
                continue;
            }
            self.take_away(number);
            let server = &mut self.servers[index];
            let silent = server.is_silent(now, &self.settings);
            if server.is_up() && (silent || server.is_stuck(now, &self.settings)) {
                server.state = State::Suspect { since: now, silent };
                self.actions.push_back(Action::Changed { server: index, state: server.state });
                let theirs = self.attempts.iter().filter(|(_, attempt)| attempt.server == index && !attempt.overdue);
                let theirs: Vec<u64> = theirs.map(|(&number, _)| number).collect();
                theirs.into_iter().for_each(|number| self.take_away(number));
            }
        }
    }

    /// Lets the batch of an attempt go elsewhere as well.
    fn take_away(&mut self, number: u64) {
        if let Some(attempt) = self.attempts.get_mut(&number) {
            attempt.overdue = true;
            let batch = attempt.batch;
            self.queue(batch);
        }
    }

    /// When there is something to do about an attempt: its batch is overdue, or its connection is broken.
    fn acts_on(&self, attempt: &Attempt) -> Time {
        let broken = self.breaks(attempt);
        // Also of a batch that is forgotten: the server has it, and may be stuck.
        if attempt.overdue { broken } else { broken.min(self.due(attempt)) }
    }

    /// When the connection of an attempt is broken. A server that sends its credit may be slow, and has longer.
    fn breaks(&self, attempt: &Attempt) -> Time {
        let heard = attempt.sent.max(self.servers[attempt.server].heard);
        let [silent, lost] = self.settings.give_up;
        (heard + silent).min(attempt.sent + lost)
    }

    /// When a batch is overdue. A server that loads its model has longer, as long as it is not silent.
    fn due(&self, attempt: &Attempt) -> Time {
        let Attempt { sent, usual, is_warm, server, .. } = *attempt;
        if is_warm {
            return sent + usual;
        }
        let silent = sent.max(self.servers[server].heard) + usual.max(self.settings.silence);
        silent.min(sent + usual.max(self.settings.cold))
    }

    /// Batches fail that no server has evaluated within the patience, those too that a server has and may evaluate yet.
    fn expire(&mut self, now: Time) {
        // The first number is that of the oldest.
        while let Some((&number, batch)) = self.batches.first_key_value()
            && batch.waited(now) >= self.settings.patience
        {
            let waited = batch.waited(now);
            self.finish(number, Outcome::Failed(Failure::NoServer { waited }));
        }
    }

    /// Sends what can be sent.
    fn dispatch(&mut self, now: Time) {
        let mut from = 0;
        while let Some(&number) = self.waiting.range(from..).next() {
            from = number + 1;
            let most = self.servers.iter().map(|server| server.most).min().unwrap_or(u32::MAX);
            if most < self.batches[&number].positions {
                self.finish(number, Outcome::Failed(Failure::TooLarge { most }));
                continue;
            }
            match self.choose(now, number) {
                Choice::Server(index) => self.send(now, number, index),
                Choice::Local => {
                    if let Some(last) = self.batches[&number].last {
                        self.servers[last].counts.resent += 1;
                    }
                    self.finish(number, Outcome::Local);
                }
                Choice::Wait => {}
                Choice::Refused => self.refused(now, number),
            }
        }
    }

    /// Servers have refused a batch, and may change their minds, for a model can be new to them. A server that has not,
    /// because it is full, suspect or restarts, may take the batch meanwhile: one that cannot evaluate does not speak
    /// for all.
    fn refused(&mut self, now: Time, number: u64) {
        let Some(batch) = self.batches.get_mut(&number) else { return };
        let again = now + self.settings.refused;
        let mut others = self.servers.iter().enumerate().filter(|(index, _)| !batch.refused.contains(index));
        if others.any(|(_, server)| server.was_up(now, self.settings.patience)) {
            batch.ask_again(again);
            return;
        }
        batch.rounds += 1;
        batch.refused.clear();
        batch.rest = again;
        if batch.rounds >= self.settings.rounds
            && let Some((server, reason)) = batch.refusal.take()
        {
            self.finish(number, Outcome::Failed(Failure::Refused { server, reason }));
        }
    }

    fn finish(&mut self, number: u64, outcome: Outcome) {
        self.batches.remove(&number);
        self.waiting.remove(&number);
        self.actions.push_back(Action::Done { batch: number, outcome });
    }

    fn send(&mut self, now: Time, number: u64, index: usize) {
        let Some(batch) = self.batches.get_mut(&number) else { return };
        self.waiting.remove(&number);
        if let Some(last) = batch.last.replace(index) {
            self.servers[last].counts.resent += 1;
        }
        let PendingBatch { model, positions, .. } = *batch;
        let others = self.servers.iter().enumerate().any(|(other, server)| other != index && server.is_up());
        let server = &mut self.servers[index];
        server.outstanding += positions;
        let is_warm = server.is_warm(model);
        let usual = server.latency.deadline(self.settings.deadline);
        let attempt =
            Attempt { batch: number, model, server: index, positions, sent: now, usual, is_warm, overdue: false };
        let connection = server.connection(index);
        self.attempts.insert(self.next_attempt, attempt);
        // A late answer is better than none where no other server can evaluate the batch.
        let deadline = (is_warm && (others || self.settings.local)).then_some(usual);
        self.actions.push_back(Action::Send { connection, attempt: self.next_attempt, batch: number, deadline });
        self.next_attempt += 1;
    }

    /// The server for a batch: of those that are past their trial the first tier's, then the caller, then those on
    /// trial.
    fn choose(&mut self, now: Time, number: u64) -> Choice {
        let chance = self.random.random();
        let batch = &self.batches[&number];
        if now < batch.rest {
            return Choice::Wait;
        }
        for settled in [true, false] {
            for tier in 0..=self.servers.iter().map(|server| server.tier).max().unwrap_or(0) {
                let able = || self.able(number, batch, tier);
                let is_fit = |server: &Server| if settled { server.is_settled(now) } else { server.is_up() };
                let fit = || able().filter(|(_, server)| is_fit(server));
                let with_room = fit().filter(|(_, server)| server.has_room(now, batch.positions));
                if let Some(index) = least_loaded(with_room, batch.positions, chance) {
                    return Choice::Server(index);
                }
                // A server that has no room yet, or was not heard of yet. One without room for long is as good as down.
                let turned_away = |index| batch.turned_away.get(&index).copied();
                let holds = |(index, server): (usize, &Server)| server.holds(now, turned_away(index), &self.settings);
                if fit().any(holds) || settled && able().any(|(_, server)| !server.known) {
                    return Choice::Wait;
                }
            }
            if settled && self.settings.local {
                return Choice::Local;
            }
        }
        let is_sent = self.attempts.values().any(|attempt| attempt.batch == number);
        let is_open = is_sent || batch.later.values().any(|&time| time > now);
        if is_open || batch.refused.is_empty() { Choice::Wait } else { Choice::Refused }
    }

    /// The servers of a tier that may evaluate a batch: they have not refused it, and do not have it already.
    fn able(&self, number: u64, batch: &PendingBatch, tier: usize) -> impl Iterator<Item = (usize, &Server)> {
        let has = move |index| self.attempts.values().any(|it| it.batch == number && it.server == index);
        let of_tier = self.servers.iter().enumerate().filter(move |(_, server)| server.tier == tier);
        of_tier.filter(move |&(index, _)| batch.may_go_to(self.now, index) && !has(index))
    }
}

/// The server with the fewest outstanding positions per credit; chance decides between equals.
fn least_loaded<'a>(servers: impl Iterator<Item = (usize, &'a Server)>, positions: u32, chance: u64) -> Option<usize> {
    let mut best: Vec<(usize, [u64; 2])> = Vec::new();
    for (index, server) in servers {
        let [load, credit] = server.load(positions);
        let order = best.first().map_or(Ordering::Less, |(_, [least, of])| (load * of).cmp(&(least * credit)));
        if order == Ordering::Less {
            best.clear();
        }
        if order != Ordering::Greater {
            best.push((index, [load, credit]));
        }
    }
    let chosen = best.get((chance % best.len().max(1) as u64) as usize);
    chosen.map(|(index, _)| *index)
}
