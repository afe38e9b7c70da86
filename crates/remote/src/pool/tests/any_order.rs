//! Whatever happens in whatever order: each batch is done exactly once.

use std::time::Duration;

use proptest::collection::vec;
use proptest::prelude::*;

use super::{CREDIT, MS, SETTINGS, World, exhausted, later};
use crate::pool::{Event, Outcome, Reply, Settings, State};

/// Something that happens. Numbers choose among what there is at that time.
#[derive(Clone, Debug)]
enum Incident {
    Submit(u32),
    Pass(u64),
    Welcome(usize),
    Cut(usize),
    Credit(usize, u32),
    Answer(usize, Kind),
    /// A response that was given before, or to nothing.
    Repeat(usize, u64),
}

#[derive(Clone, Copy, Debug)]
enum Kind {
    Evaluated,
    Exhausted(Option<u64>),
    Later(u64),
    Expired,
    Draining,
    Refused,
    Invalid,
}

/// Responses after which another server is tried.
fn transient() -> impl Strategy<Value = Kind> {
    prop_oneof![
        8 => Just(Kind::Evaluated),
        2 => proptest::option::of(0_u64..3000).prop_map(Kind::Exhausted),
        1 => (0_u64..3000).prop_map(Kind::Later),
        1 => Just(Kind::Expired),
        1 => Just(Kind::Draining),
    ]
}

fn any_kind() -> impl Strategy<Value = Kind> {
    prop_oneof![8 => transient(), 2 => Just(Kind::Refused), 1 => Just(Kind::Invalid)]
}

fn incidents(kind: impl Strategy<Value = Kind>) -> impl Strategy<Value = Vec<Incident>> {
    let incident = prop_oneof![
        6 => (1_u32..300).prop_map(Incident::Submit),
        4 => (0_u64..400).prop_map(Incident::Pass),
        1 => (400_u64..70_000).prop_map(Incident::Pass),
        4 => (0_usize..8).prop_map(Incident::Welcome),
        2 => (0_usize..8).prop_map(Incident::Cut),
        1 => (0_usize..8, 0..2 * CREDIT).prop_map(|(server, credit)| Incident::Credit(server, credit)),
        8 => (0_usize..64, kind).prop_map(|(nth, kind)| Incident::Answer(nth, kind)),
        1 => (0_usize..8, 0_u64..100).prop_map(|(server, attempt)| Incident::Repeat(server, attempt)),
    ];
    vec(incident, 0..120)
}

fn tiers() -> impl Strategy<Value = Vec<usize>> {
    vec(0_usize..2, 1..5).prop_map(|mut steps| {
        steps[0] = 0;
        steps.iter().scan(0, |tier, step| Some(std::mem::replace(tier, *tier + step) + step)).collect()
    })
}

impl World {
    fn meet(&mut self, incident: &Incident) {
        let servers = self.open.len();
        match *incident {
            Incident::Submit(positions) => _ = self.submit(positions),
            Incident::Pass(millis) => self.pass(Duration::from_millis(millis)),
            Incident::Welcome(nth) => {
                if let Some((_, false)) = self.open[nth % servers] {
                    self.welcome(nth % servers);
                }
            }
            Incident::Cut(nth) => {
                if self.open[nth % servers].is_some() {
                    self.cut(nth % servers);
                }
            }
            Incident::Credit(nth, credit) => {
                if let Some((connection, true)) = self.open[nth % servers] {
                    self.handle(connection, Event::Credit { credit });
                }
            }
            Incident::Answer(nth, kind) => {
                if let Some(sent) = self.sent.get(nth % self.sent.len().max(1)).copied() {
                    self.reply(sent.connection.server, sent.batch, reply(kind));
                }
            }
            Incident::Repeat(nth, attempt) => {
                let is_sent = self.sent.iter().any(|sent| sent.attempt == attempt);
                if let Some((connection, true)) = self.open[nth % servers].filter(|_| !is_sent) {
                    self.handle(connection, Event::Answer { attempt, reply: Reply::Evaluated });
                }
            }
        }
        self.check();
    }

    /// What holds at all times.
    fn check(&self) {
        for (index, server) in self.pool.servers().iter().enumerate() {
            let sent = self.sent.iter().filter(|sent| sent.connection.server == index).count();
            assert_eq!(server.outstanding > 0, sent > 0, "server {index}");
            assert_eq!(self.open[index].is_none(), matches!(server.state, State::Down { .. }), "server {index}");
        }
        for batch in (0..self.submitted).filter(|batch| !self.done.contains_key(batch)) {
            let at = self.at(batch);
            assert!(at.iter().all(|server| at.iter().filter(|other| *other == server).count() == 1), "{at:?}");
        }
    }

    /// All servers work again, and time passes until everything is done.
    fn recover(&mut self) {
        for _ in 0..1000 {
            if self.done.len() as u64 == self.submitted {
                break;
            }
            for server in 0..self.open.len() {
                match self.open[server] {
                    Some((_, false)) => self.welcome(server),
                    Some((connection, true)) => self.handle(connection, Event::Credit { credit: CREDIT }),
                    None => {}
                }
            }
            while let Some(sent) = self.sent.first().copied() {
                self.evaluate(sent.connection.server, sent.batch);
            }
            self.pass(100 * MS);
            self.check();
        }
        assert_eq!(self.done.len() as u64, self.submitted, "each batch is done");
    }
}

fn reply(kind: Kind) -> Reply {
    match kind {
        Kind::Evaluated => Reply::Evaluated,
        Kind::Exhausted(millis) => exhausted(millis.map(Duration::from_millis)),
        Kind::Later(millis) => later(Duration::from_millis(millis)),
        Kind::Expired => Reply::Expired,
        Kind::Draining => Reply::Draining,
        Kind::Refused => Reply::Refused { reason: "no such model".to_owned() },
        Kind::Invalid => Reply::Invalid { reason: "no planes".to_owned() },
    }
}

const PATIENT: Settings = Settings { patience: Duration::from_secs(1 << 30), ..SETTINGS };

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, ..ProptestConfig::default() })]

    /// `World::act` checks that no batch is done twice, and that nothing is sent to a server that is down.
    #[test]
    fn each_batch_gets_exactly_one_response(
        tiers in tiers(), incidents in incidents(transient()), local: bool, seed: u64,
    ) {
        let mut world = World::new(&tiers, Settings { local, ..PATIENT }, seed);
        incidents.iter().for_each(|incident| world.meet(incident));
        world.recover();
        let answered = |outcome: &Outcome| *outcome == Outcome::Answered || local && *outcome == Outcome::Local;
        prop_assert!(world.done.values().all(answered), "{:?}", world.done);
    }

    #[test]
    fn each_batch_is_done_exactly_once_where_servers_refuse_some(
        tiers in tiers(), incidents in incidents(any_kind()), local: bool, seed: u64,
    ) {
        let mut world = World::new(&tiers, Settings { local, ..SETTINGS }, seed);
        incidents.iter().for_each(|incident| world.meet(incident));
        world.recover();
    }
}
