//! The pool against servers of a test, which do what they are told.

mod any_order;
mod events;
mod failover;

use std::collections::BTreeMap;
use std::time::Duration;

use super::{Action, Connection, Event, Outcome, Pool, Reply, Settings, State, Time};
use crate::LIVENESS;

pub(super) const MS: Duration = Duration::from_millis(1);
pub(super) const CREDIT: u32 = 1000;
/// The model of all batches.
const MODEL: u64 = 7;
/// No server has to load a model.
pub(super) const SETTINGS: Settings = Settings { cold: Settings::DEFAULT.deadline, ..Settings::DEFAULT };

/// The response of a server that is full.
fn exhausted(retry_after: Option<Duration>) -> Reply {
    Reply::Exhausted { retry_after, reason: "full".to_owned() }
}

/// The response of a server that cannot load the model for now.
fn later(retry_after: Duration) -> Reply {
    Reply::Later { retry_after, reason: "no memory".to_owned() }
}

/// A batch on its way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Sent {
    pub(super) connection: Connection,
    pub(super) attempt: u64,
    pub(super) batch: u64,
    pub(super) deadline: Option<Duration>,
}

/// A pool, and its requests.
pub(super) struct World {
    pub(super) pool: Pool,
    pub(super) now: Time,
    /// The connection of each server, and whether it was welcomed.
    pub(super) open: Vec<Option<(Connection, bool)>>,
    /// Batches that were sent over connections that are open, and have no response.
    pub(super) sent: Vec<Sent>,
    pub(super) done: BTreeMap<u64, Outcome>,
    pub(super) submitted: u64,
    pub(super) states: Vec<(usize, State)>,
}

impl World {
    /// Servers by their tiers, none of which is connected.
    pub(super) fn new(tiers: &[usize], settings: Settings, seed: u64) -> World {
        let mut world = World {
            pool: Pool::new(tiers, settings, seed),
            now: Time::ZERO,
            open: vec![None; tiers.len()],
            sent: Vec::new(),
            done: BTreeMap::new(),
            submitted: 0,
            states: Vec::new(),
        };
        world.pool.advance(world.now);
        world.act();
        world
    }

    /// The same with all of them up.
    pub(super) fn up(tiers: &[usize], settings: Settings) -> World {
        let mut world = World::new(tiers, settings, 1);
        (0..tiers.len()).for_each(|server| world.welcome(server));
        world
    }

    /// Carries out what the pool requests, and checks that it may ask for it.
    pub(super) fn act(&mut self) {
        while let Some(action) = self.pool.action() {
            match action {
                Action::Connect(connection) => {
                    assert!(self.open[connection.server].is_none(), "one connection at a time: {connection:?}");
                    self.open[connection.server] = Some((connection, false));
                }
                Action::Close(connection) => {
                    assert_eq!(self.open[connection.server].map(|open| open.0), Some(connection));
                    self.disconnect(connection.server);
                }
                Action::Send { connection, attempt, batch, deadline } => {
                    assert_eq!(self.open[connection.server], Some((connection, true)), "sent to a server that is up");
                    assert!(batch < self.submitted && !self.done.contains_key(&batch), "batch {batch} is not done");
                    assert!(self.sent.iter().all(|sent| sent.attempt != attempt), "attempts have numbers of their own");
                    self.sent.push(Sent { connection, attempt, batch, deadline });
                }
                Action::Done { batch, outcome } => {
                    assert!(batch < self.submitted, "batch {batch} was submitted");
                    assert_eq!(self.done.insert(batch, outcome), None, "batch {batch} is done once");
                }
                Action::Changed { server, state } => self.states.push((server, state)),
            }
        }
    }

    fn disconnect(&mut self, server: usize) {
        self.open[server] = None;
        self.sent.retain(|sent| sent.connection.server != server);
    }

    pub(super) fn submit(&mut self, positions: u32) -> u64 {
        self.submitted += 1;
        let batch = self.pool.submit(self.now, MODEL, positions);
        self.act();
        batch
    }

    /// Lets time pass as a caller does: from one thing that is due to the next.
    pub(super) fn pass(&mut self, time: Duration) {
        let end = self.now + time;
        while let Some(next) = self.pool.next().filter(|&next| next <= end) {
            assert!(next > self.now, "what is due at {next:?} was not done at {:?}", self.now);
            self.now = next;
            self.pool.advance(next);
            self.act();
        }
        self.now = end;
        self.pool.advance(end);
        self.act();
    }

    pub(super) fn handle(&mut self, connection: Connection, event: Event) {
        self.pool.handle(self.now, connection, event);
        self.act();
    }

    /// The server accepts the connection that is being made.
    pub(super) fn welcome(&mut self, server: usize) {
        let (connection, _) = self.open[server].expect("the pool connects");
        self.open[server] = Some((connection, true));
        self.handle(connection, Event::Welcome { credit: CREDIT, most: 2 * CREDIT, server: String::new() });
    }

    /// The connection to the server breaks, or is refused.
    pub(super) fn cut(&mut self, server: usize) {
        let (connection, _) = self.open[server].expect("there is a connection");
        self.disconnect(server);
        self.handle(connection, Event::Gone { problem: String::new() });
    }

    /// The server says that it is alive for so long, as one does that loads a model.
    pub(super) fn load(&mut self, server: usize, time: Duration) {
        let end = self.now + time;
        while self.now < end {
            self.pass(LIVENESS.min(end - self.now));
            let (connection, _) = self.open[server].expect("there is a connection");
            self.handle(connection, Event::Credit { credit: CREDIT });
        }
    }

    /// The server that a batch is at, where it is at one.
    pub(super) fn at(&self, batch: u64) -> Vec<usize> {
        self.sent.iter().filter(|sent| sent.batch == batch).map(|sent| sent.connection.server).collect()
    }

    /// Responds to a batch that is at a server.
    pub(super) fn reply(&mut self, server: usize, batch: u64, reply: Reply) {
        let place = self.sent.iter().position(|sent| sent.connection.server == server && sent.batch == batch);
        let sent = self.sent.remove(place.expect("the server has the batch"));
        self.handle(sent.connection, Event::Answer { attempt: sent.attempt, reply });
    }

    pub(super) fn evaluate(&mut self, server: usize, batch: u64) {
        self.reply(server, batch, Reply::Evaluated);
    }

    /// Submits a batch and has it evaluated; returns which server did.
    pub(super) fn round(&mut self) -> usize {
        let batch = self.submit(8);
        let [server] = self.at(batch)[..] else { panic!("it is at one server: {:?}", self.at(batch)) };
        self.evaluate(server, batch);
        assert_eq!(self.done[&batch], Outcome::Answered);
        server
    }

    /// So many rounds, after which servers take more than one batch at a time.
    pub(super) fn rounds(&mut self, count: usize) {
        for _ in 0..count {
            self.round();
        }
    }
}
