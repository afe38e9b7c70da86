//! Positions that wait for a device, and which of them are evaluated next.
//!
//! Batches of people and matches come before those of self-play. Among clients of one priority positions are shared
//! evenly: the client that has had the fewest is next, whatever the sizes of its batches (start-time fair queueing,
//! Goyal et al. 1996). A device batch is of one network; waiting batches are split where they do not fit.

use std::collections::{BTreeMap, VecDeque};
use std::ops::Range;
use std::time::{Duration, Instant};

use remote::Priority;

use crate::arrival::Arrival;

/// Clients that wait for nothing and are remembered, at most. More are connections of a call each, of which many are
/// gone.
const IDLE: usize = 1024;

/// Whose share of the device a batch uses: that of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct ClientId(pub(crate) u64);

/// A stream or a call, to which batches belong for as long as it lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct CallId(pub(crate) u64);

/// Where a batch comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Origin {
    pub(crate) client: ClientId,
    pub(crate) call: CallId,
}

/// A network in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct NetworkId(pub(crate) u64);

/// A batch of a client.
#[derive(Clone, Debug)]
pub(crate) struct Entry<T> {
    pub(crate) origin: Origin,
    pub(crate) priority: Priority,
    pub(crate) network: NetworkId,
    pub(crate) positions: usize,
    pub(crate) arrival: Arrival,
    pub(crate) value: T,
}

/// What a device does next.
#[derive(Debug)]
pub(crate) enum Next<T> {
    /// Evaluates rows of batches, all of one network.
    Batch(Vec<(T, Range<usize>)>),
    /// Waits for more, until a time if something waits already.
    Wait(Option<Instant>),
}

pub(crate) struct Queue<T> {
    lanes: [Lane<T>; 2],
    positions: usize,
}

struct Lane<T> {
    clients: BTreeMap<ClientId, Client<T>>,
    /// What the client that was served last had had before.
    clock: u64,
}

struct Client<T> {
    served: u64,
    waiting: VecDeque<Waiting<T>>,
}

struct Waiting<T> {
    entry: Entry<T>,
    taken: usize,
}

impl<T> Default for Queue<T> {
    fn default() -> Queue<T> {
        let lane = || Lane { clients: BTreeMap::new(), clock: 0 };
        Queue { lanes: [lane(), lane()], positions: 0 }
    }
}

impl<T: Clone> Queue<T> {
    /// Positions that wait.
    pub(crate) fn positions(&self) -> usize {
        self.positions
    }

    pub(crate) fn push(&mut self, entry: Entry<T>) {
        self.positions += entry.positions;
        let client = entry.origin.client;
        let lane = &mut self.lanes[usize::from(entry.priority == Priority::Selfplay)];
        let clock = lane.clock;
        let client = lane.clients.entry(client).or_insert(Client { served: clock, waiting: VecDeque::new() });
        if client.waiting.is_empty() {
            client.served = client.served.max(clock);
        }
        client.waiting.push_back(Waiting { entry, taken: 0 });
    }

    /// When the oldest batch arrived.
    pub(crate) fn oldest(&self) -> Option<Instant> {
        self.waiting().map(|waiting| waiting.entry.arrival.at).min()
    }

    /// Takes out batches past their deadline of which nothing is evaluated yet.
    pub(crate) fn expire(&mut self, now: Instant) -> Vec<Entry<T>> {
        let mut expired = Vec::new();
        for client in self.lanes.iter_mut().flat_map(|lane| lane.clients.values_mut()) {
            let late = |waiting: &Waiting<T>| {
                waiting.taken == 0 && waiting.entry.arrival.deadline.is_some_and(|deadline| deadline <= now)
            };
            while let Some(place) = client.waiting.iter().position(late) {
                expired.extend(client.waiting.remove(place).map(|waiting| waiting.entry));
            }
        }
        self.positions -= expired.iter().map(|entry| entry.positions).sum::<usize>();
        expired
    }

    /// Takes out what a stream or a call waits for, when it is gone. Returns the batches of which nothing is evaluated.
    pub(crate) fn forget(&mut self, Origin { client, call }: Origin) -> Vec<Entry<T>> {
        let mut forgotten = Vec::new();
        for lane in &mut self.lanes {
            let Some(of_client) = lane.clients.get_mut(&client) else { continue };
            let waiting = std::mem::take(&mut of_client.waiting);
            let (gone, kept): (Vec<_>, Vec<_>) = waiting.into_iter().partition(|it| it.entry.origin.call == call);
            of_client.waiting = kept.into();
            lane.prune();
            self.positions -= gone.iter().map(|waiting| waiting.entry.positions - waiting.taken).sum::<usize>();
            forgotten.extend(gone.into_iter().filter(|waiting| waiting.taken == 0).map(|waiting| waiting.entry));
        }
        forgotten
    }

    /// The busy period is over: nothing waits and nothing is on the device.
    pub(crate) fn begin_anew(&mut self) {
        for lane in &mut self.lanes {
            lane.clients.clear();
        }
    }

    /// The next rows for a device that evaluates up to `batch` positions, and waits up to `wait` for a full batch.
    pub(crate) fn next(&mut self, now: Instant, batch: usize, wait: Duration) -> Next<T> {
        let mut until: Option<Instant> = None;
        let mut seen = Vec::new();
        for network in self.in_turn() {
            if seen.contains(&network) {
                continue;
            }
            seen.push(network);
            let (positions, oldest) = self.of_network(network);
            let ripe = oldest.map(|oldest| oldest + wait);
            if positions >= batch || ripe.is_some_and(|ripe| ripe <= now) {
                return Next::Batch(self.take(network, batch));
            }
            until = until.into_iter().chain(ripe).min();
        }
        Next::Wait(until)
    }

    /// The networks of the batches that are first in turn.
    fn in_turn(&self) -> Vec<NetworkId> {
        let mut networks = Vec::new();
        for lane in &self.lanes {
            let mut clients: Vec<_> = lane.clients.iter().filter(|(_, client)| !client.waiting.is_empty()).collect();
            clients.sort_by_key(|(id, client)| (client.served, **id));
            networks.extend(clients.iter().flat_map(|(_, client)| &client.waiting).map(|it| it.entry.network));
        }
        networks
    }

    fn of_network(&self, network: NetworkId) -> (usize, Option<Instant>) {
        let of = || self.waiting().filter(|waiting| waiting.entry.network == network);
        let positions = of().map(|waiting| waiting.entry.positions - waiting.taken).sum();
        (positions, of().map(|waiting| waiting.entry.arrival.at).min())
    }

    fn waiting(&self) -> impl Iterator<Item = &Waiting<T>> {
        self.lanes.iter().flat_map(|lane| lane.clients.values()).flat_map(|client| &client.waiting)
    }

    fn take(&mut self, network: NetworkId, batch: usize) -> Vec<(T, Range<usize>)> {
        let (mut taken, mut room) = (Vec::new(), batch);
        for lane in &mut self.lanes {
            while room > 0 {
                let Some((value, rows)) = lane.take(network, room) else { break };
                room -= rows.len();
                taken.push((value, rows));
            }
            lane.prune();
        }
        self.positions -= batch - room;
        taken
    }
}

impl<T> Lane<T> {
    /// Forgets clients that wait for nothing and have had no more than their share, and all that wait for nothing where
    /// they are many: the clock stands still for clients that come once.
    fn prune(&mut self) {
        let clock = self.clock;
        self.clients.retain(|_, client| !client.waiting.is_empty() || client.served > clock);
        let idle = self.clients.values().filter(|client| client.waiting.is_empty()).count();
        if idle > IDLE {
            self.clients.retain(|_, client| !client.waiting.is_empty());
        }
    }
}

impl<T: Clone> Lane<T> {
    /// Up to `room` rows of the client whose turn it is.
    fn take(&mut self, network: NetworkId, room: usize) -> Option<(T, Range<usize>)> {
        let of_network = |waiting: &Waiting<T>| waiting.entry.network == network;
        let has = |(_, client): &(&ClientId, &mut Client<T>)| client.waiting.iter().any(of_network);
        let (_, client) = self.clients.iter_mut().filter(has).min_by_key(|(id, client)| (client.served, **id))?;
        self.clock = self.clock.max(client.served);
        let place = client.waiting.iter().position(of_network)?;
        let waiting = &mut client.waiting[place];
        let rows = waiting.taken..waiting.entry.positions.min(waiting.taken + room);
        client.served += rows.len() as u64;
        waiting.taken = rows.end;
        let value = waiting.entry.value.clone();
        if waiting.taken == waiting.entry.positions {
            client.waiting.remove(place);
        }
        Some((value, rows))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NO_WAIT: Duration = Duration::ZERO;

    fn origin(client: u64, call: u64) -> Origin {
        Origin { client: ClientId(client), call: CallId(call) }
    }

    struct Test {
        queue: Queue<&'static str>,
        now: Instant,
    }

    impl Test {
        fn new() -> Test {
            Test { queue: Queue::default(), now: Instant::now() }
        }

        fn entry(&self, client: u64, positions: usize, value: &'static str) -> Entry<&'static str> {
            Entry {
                origin: origin(client, client),
                priority: Priority::Selfplay,
                network: NetworkId(1),
                positions,
                arrival: Arrival::new(self.now, None),
                value,
            }
        }

        fn push(&mut self, client: u64, positions: usize, value: &'static str) {
            self.queue.push(self.entry(client, positions, value));
        }

        fn next(&mut self, batch: usize) -> Vec<(&'static str, Range<usize>)> {
            match self.queue.next(self.now, batch, NO_WAIT) {
                Next::Batch(rows) => rows,
                Next::Wait(_) => Vec::new(),
            }
        }

        /// The values of batches of one entry each.
        fn all(&mut self, batch: usize) -> Vec<&'static str> {
            let mut all = Vec::new();
            while self.queue.positions() > 0 {
                all.extend(self.next(batch).into_iter().map(|(value, _)| value));
            }
            all
        }
    }

    #[test]
    fn queue_serves_clients_in_turn_whatever_they_have_waiting() {
        let mut test = Test::new();
        (0..6).for_each(|_| test.push(1, 8, "many"));
        test.push(2, 8, "few");
        test.push(2, 8, "few");
        assert_eq!(test.all(8), ["many", "few", "many", "few", "many", "many", "many", "many"]);
    }

    #[test]
    fn queue_counts_positions_and_not_batches() {
        let mut test = Test::new();
        (0..2).for_each(|_| test.push(1, 16, "large"));
        (0..8).for_each(|_| test.push(2, 4, "small"));
        let first = test.all(4);
        // Half of the first eight device batches of four positions are of each client.
        assert_eq!(first[..8].iter().filter(|value| **value == "large").count(), 4, "{first:?}");
    }

    #[test]
    fn queue_gives_a_client_that_comes_late_no_credit_for_its_absence() {
        let mut test = Test::new();
        (0..10).for_each(|_| test.push(1, 8, "early"));
        (0..5).for_each(|_| drop(test.next(8)));
        (0..3).for_each(|_| test.push(2, 8, "late"));
        let served = test.all(8);
        assert_eq!(served.iter().filter(|value| **value == "late").count(), 3);
        assert_ne!(served[..3], ["late"; 3], "it waits its turn: {served:?}");
    }

    /// Else one that sends its next batch when it has the last one would be first each time.
    #[test]
    fn queue_remembers_a_client_whose_batch_is_on_the_device() {
        let mut test = Test::new();
        test.push(1, 8, "first");
        assert_eq!(test.next(8).len(), 1);
        test.push(1, 8, "again");
        test.push(2, 8, "other");
        assert_eq!(test.all(8), ["other", "again"]);
    }

    #[test]
    fn queue_forgets_clients_that_come_once() {
        let mut test = Test::new();
        for client in 0..1000 {
            test.push(client, 8, "one by one");
            assert_eq!(test.next(8).len(), 1);
            test.queue.begin_anew();
            assert!(test.queue.lanes[1].clients.is_empty(), "client {client}");
        }
        // There is always one that waits.
        test.push(0, 8, "overlapping");
        for client in 1..=2 * IDLE as u64 {
            test.push(client, 8, "overlapping");
            assert_eq!(test.next(8).len(), 1);
            assert!(test.queue.lanes[1].clients.len() <= 1 + IDLE, "client {client}");
        }
        assert_eq!(test.queue.positions(), 8);
    }

    #[test]
    fn queue_serves_gtp_and_matches_before_selfplay() {
        let mut test = Test::new();
        (0..3).for_each(|_| test.push(1, 8, "selfplay"));
        let people = Entry { priority: Priority::Interactive, ..test.entry(2, 8, "people") };
        test.queue.push(people);
        assert_eq!(test.all(8), ["people", "selfplay", "selfplay", "selfplay"]);
    }

    #[test]
    fn queue_fills_a_batch_and_splits_what_does_not_fit() {
        let mut test = Test::new();
        test.push(1, 10, "a");
        test.push(2, 10, "b");
        assert_eq!(test.next(16), [("a", 0..10), ("b", 0..6)]);
        assert_eq!((test.next(16), test.queue.positions()), (vec![("b", 6..10)], 0));
    }

    #[test]
    fn queue_forgets_a_client_that_is_gone() {
        let mut test = Test::new();
        (0..3).for_each(|_| test.push(1, 10, "gone"));
        test.push(2, 4, "stays");
        test.next(16);
        test.queue.forget(origin(1, 1));
        assert_eq!((test.queue.positions(), test.all(16)), (0, Vec::new()));
        test.push(2, 4, "stays");
        test.queue.forget(origin(1, 1));
        assert_eq!(test.all(16), ["stays"]);
    }

    #[test]
    fn queue_shares_by_connections_and_forgets_by_calls() {
        let mut test = Test::new();
        for call in 1..=4 {
            test.queue.push(Entry { origin: origin(1, call), ..test.entry(1, 8, "calls of one") });
        }
        test.push(2, 8, "other");
        let forgotten = test.queue.forget(origin(1, 3));
        assert_eq!((forgotten.len(), test.queue.positions()), (1, 4 * 8));
        assert_eq!(test.all(8), ["calls of one", "other", "calls of one", "calls of one"]);
    }

    #[test]
    fn queue_mixes_no_networks_in_a_batch() {
        let mut test = Test::new();
        test.push(1, 4, "a");
        test.queue.push(Entry { network: NetworkId(2), ..test.entry(2, 4, "b") });
        test.push(3, 4, "a");
        assert_eq!(test.next(16), [("a", 0..4), ("a", 0..4)]);
        assert_eq!(test.next(16), [("b", 0..4)]);
    }

    #[test]
    fn queue_waits_a_bounded_time_for_a_full_batch() {
        let (mut test, wait) = (Test::new(), Duration::from_millis(1));
        test.push(1, 4, "a");
        let Next::Wait(Some(until)) = test.queue.next(test.now, 8, wait) else { panic!("it waits") };
        assert_eq!(until, test.now + wait);
        assert!(matches!(test.queue.next(until, 8, wait), Next::Batch(rows) if rows == [("a", 0..4)]));
        test.push(1, 8, "full");
        assert!(matches!(test.queue.next(test.now, 8, wait), Next::Batch(_)));
        assert!(matches!(test.queue.next(test.now, 8, wait), Next::Wait(None)));
    }

    #[test]
    fn queue_drops_expired_batches_unevaluated() {
        let mut test = Test::new();
        let arrival = Arrival::new(test.now, Some(Duration::from_millis(5)));
        let deadline = test.now + Duration::from_millis(5);
        test.queue.push(Entry { arrival, ..test.entry(1, 4, "late") });
        test.queue.push(Entry { arrival, ..test.entry(2, 8, "begun") });
        test.push(1, 4, "patient");
        assert!(test.queue.expire(test.now).is_empty());
        test.queue.next(test.now, 2, NO_WAIT);
        test.queue.next(test.now, 2, NO_WAIT);
        let expired: Vec<_> = test.queue.expire(deadline).into_iter().map(|entry| entry.value).collect();
        assert!(expired.is_empty(), "both are begun");
        test.queue.push(Entry { arrival, ..test.entry(3, 5, "late") });
        let expired: Vec<_> = test.queue.expire(deadline).into_iter().map(|entry| entry.value).collect();
        assert_eq!((expired, test.queue.positions()), (vec!["late"], 2 + 6 + 4));
        assert_eq!(test.queue.oldest(), Some(test.now));
    }
}
