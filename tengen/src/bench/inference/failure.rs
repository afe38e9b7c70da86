//! What clients notice when the first of two inference servers fails, and when it returns.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{anyhow, ensure};
use net::PlaneEvaluator;
use remote::{Client, ModelKey, Priority, RemoteSession};
use runtime::INFERENCE_DEADLINE_MS;
use serde::Serialize;

use super::super::Bench;
use super::super::played::on_threads;
use super::client_args::client_args;
use super::servers::{KnownNetwork, Process, VALUES, shape};

/// Clients, each with a pool and a batch under way.
const CLIENTS: usize = 8;
/// Pause of a client between batches, in which it would search.
const SEARCH: Duration = Duration::from_millis(5);
/// Time for which a server is away. A pool has noticed it by then in every way it has.
const AWAY: Duration = Duration::from_millis(1500);
/// Time with the first server between its return and the next failure.
const WELL: Duration = Duration::from_millis(300);
/// Clients that have not returned by then do not.
const PATIENCE: Duration = Duration::from_secs(60);
/// A herd comes within this time.
const TOGETHER: Duration = Duration::from_millis(100);

/// What happens to the first server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Event {
    Kill,
    Stop,
    /// The same when clients change to a model that is new to their connections.
    StopNewModel,
}

impl Event {
    const ALL: [Event; 3] = [Event::Kill, Event::Stop, Event::StopNewModel];

    fn name(self) -> &'static str {
        match self {
            Event::Kill => "kill -9",
            Event::Stop => "SIGSTOP",
            Event::StopNewModel => "SIGSTOP, new model",
        }
    }
}

/// What clients noticed of failures of the first of two servers.
#[derive(Serialize)]
#[serde(tag = "bench", rename = "inference failure")]
pub(super) struct Failure {
    event: &'static str,
    failures: usize,
    clients: usize,
    batches: usize,
    lost: usize,
    differing: usize,
    stall_median_ms: f64,
    stall_most_ms: f64,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Failure { event, failures, clients, batches, lost, differing, stall_median_ms, stall_most_ms } = self;
        write!(
            f,
            "inference, first of two servers, {event}: longest batch of {clients} clients {stall_median_ms:.1} ms "
        )?;
        write!(f, "(median of {failures} failures), {stall_most_ms:.1} ms at most; ")?;
        write!(f, "{lost} of {batches} batches lost, {differing} differ")
    }
}

/// When clients came back to the first server.
#[derive(Serialize)]
#[serde(tag = "bench", rename = "inference return")]
pub(super) struct Return {
    event: &'static str,
    returns: usize,
    clients: usize,
    first_ms: f64,
    last_ms: f64,
    together: f64,
}

impl fmt::Display for Return {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Return { event, returns, clients, first_ms, last_ms, together } = self;
        write!(f, "inference, first server back after {event}: first batches of {clients} clients ")?;
        write!(f, "after {first_ms:.0} to {last_ms:.0} ms ({returns} returns), ")?;
        write!(f, "at most {:.0} % of them within {} ms", 100.0 * together, TOGETHER.as_millis())
    }
}

/// A batch of a client.
#[derive(Clone, Copy, Debug)]
struct Seen {
    began: Instant,
    ended: Instant,
    /// Whether there was output.
    is_done: bool,
    /// The server whose network has that output.
    server: Option<usize>,
}

/// A failure and a return of the first server.
#[derive(Clone, Copy, Debug)]
struct Outage {
    event: Event,
    failed: Instant,
    back: Instant,
}

/// What clients and the benchmark tell each other.
struct Shared {
    /// The number of the model.
    model: AtomicU32,
    ended: AtomicBool,
    /// The server that each client had its last batch from; see [`Seen::server`].
    last: [AtomicU32; CLIENTS],
}

/// Lets the first of two servers fail so many times in each way; prints what clients noticed.
pub(super) fn run(bench: &Bench<'_>, batch: usize, failures: usize) -> anyhow::Result<()> {
    let mut servers = [Process::start(VALUES[0])?, Process::start(VALUES[1])?];
    let list = format!("{};{}", servers[0].url(), servers[1].url());
    let last = std::array::from_fn(|_| AtomicU32::new(u32::MAX));
    let shared = Arc::new(Shared { model: AtomicU32::new(1), ended: AtomicBool::new(false), last });
    let (seen, outages) = thread::scope(|scope| {
        let clients = scope.spawn(|| on_threads(CLIENTS, |number| search(bench, &list, batch, &shared, number)));
        let outages = fail(bench, &mut servers[0], failures, &shared);
        shared.ended.store(true, Ordering::Relaxed);
        (clients.join().expect("a measurement does not panic"), outages)
    });
    let (seen, outages) = (seen?, outages?);
    for event in Event::ALL {
        let outages: Vec<Outage> = outages.iter().filter(|outage| outage.event == event).copied().collect();
        if !outages.is_empty() {
            bench.report(&failure(event, &seen, &outages))?;
            bench.report(&returned(event, &seen, &outages))?;
        }
    }
    Ok(())
}

/// A client: has a batch evaluated after the other.
fn search(bench: &Bench<'_>, list: &str, batch: usize, shared: &Shared, number: usize) -> anyhow::Result<Vec<Seen>> {
    let args = client_args(list, INFERENCE_DEADLINE_MS, None);
    let client = Client::open(&args, "bench", Priority::Selfplay, bench.stop)?.ok_or_else(|| anyhow!("no server"))?;
    let (mut seen, mut session, mut model) = (Vec::new(), None, 0);
    for nth in 0.. {
        if shared.ended.load(Ordering::Relaxed) {
            break;
        }
        let wanted = shared.model.load(Ordering::Relaxed);
        if session.is_none() || model != wanted {
            model = wanted;
            session = Some(open(&client, model)?);
        }
        let Some(session) = &mut session else { continue };
        let planes = planes(number + CLIENTS * nth, batch);
        let mut output = Output::new(batch);
        let began = Instant::now();
        let is_done = session.evaluate(&planes, &mut output.policies, &mut output.values).is_ok();
        let ended = Instant::now();
        let server = VALUES.iter().position(|&value| output == Output::of(&planes, value, batch));
        shared.last[number].store(server.map_or(u32::MAX, |server| server as u32), Ordering::Relaxed);
        seen.push(Seen { began, ended, is_done, server });
        thread::sleep(SEARCH);
    }
    Ok(seen)
}

fn open(client: &Client, number: u32) -> anyhow::Result<RemoteSession> {
    let model = ModelKey { run: "bench".parse()?, number, digest: None };
    Ok(RemoteSession::new(client, &model, shape(), Arc::new(|| Err("there is no other network".into()))))
}

/// Output of a network.
#[derive(PartialEq)]
struct Output {
    policies: Vec<f32>,
    values: Vec<f32>,
}

impl Output {
    fn new(batch: usize) -> Output {
        Output { policies: vec![0.0; batch * shape().size.moves()], values: vec![0.0; batch] }
    }

    fn of(planes: &[u8], value: f32, batch: usize) -> Output {
        let mut output = Output::new(batch);
        let evaluated = KnownNetwork { value }.evaluate(planes, &mut output.policies, &mut output.values);
        evaluated.expect("the known network cannot fail");
        output
    }
}

/// Planes that no other batch has. The last one is constant, as that of the colour is.
fn planes(seed: usize, positions: usize) -> Vec<u8> {
    let (len, area) = (shape().inputs.len(shape().size), shape().size.area());
    let point =
        |nth: usize| u8::from(nth % len >= len - area || (nth ^ seed).wrapping_mul(2_654_435_761) >> 7 & 1 == 1);
    (0..positions * len).map(point).collect()
}

/// Lets a server fail and return.
fn fail(bench: &Bench<'_>, server: &mut Process, times: usize, shared: &Shared) -> anyhow::Result<Vec<Outage>> {
    let mut outages = Vec::new();
    for event in Event::ALL.into_iter().flat_map(|event| std::iter::repeat_n(event, times)) {
        if bench.stop.requested() {
            break;
        }
        wait_for_first(bench, shared)?;
        thread::sleep(WELL);
        let failed = Instant::now();
        match event {
            Event::Kill => server.kill()?,
            Event::Stop | Event::StopNewModel => server.signal("STOP")?,
        }
        if event == Event::StopNewModel {
            shared.model.fetch_add(1, Ordering::Relaxed);
        }
        thread::sleep(AWAY);
        match event {
            Event::Kill => server.restart()?,
            Event::Stop | Event::StopNewModel => server.signal("CONT")?,
        }
        outages.push(Outage { event, failed, back: Instant::now() });
    }
    wait_for_first(bench, shared)?;
    Ok(outages)
}

/// Returns when all clients have their batches from the first server.
fn wait_for_first(bench: &Bench<'_>, shared: &Shared) -> anyhow::Result<()> {
    let began = Instant::now();
    while shared.last.iter().any(|last| last.load(Ordering::Relaxed) != 0) && !bench.stop.requested() {
        ensure!(began.elapsed() < PATIENCE, "clients do not return to the first server");
        thread::sleep(SEARCH);
    }
    Ok(())
}

fn failure(event: Event, seen: &[Vec<Seen>], outages: &[Outage]) -> Failure {
    let all = || seen.iter().flatten();
    let stall = |outage: &Outage| {
        let during = all().filter(|it| it.ended >= outage.failed && it.began <= outage.failed + AWAY);
        millis(during.map(|it| it.ended - it.began).max().unwrap_or_default())
    };
    let mut stalls: Vec<f64> = outages.iter().map(stall).collect();
    stalls.sort_by(f64::total_cmp);
    let [first, last] =
        [outages.first(), outages.last()].map(|outage| outage.expect("events without outages have no report"));
    let concerned = || all().filter(|it| it.ended >= first.failed && it.began <= last.back + AWAY);
    Failure {
        event: event.name(),
        failures: outages.len(),
        clients: CLIENTS,
        batches: concerned().count(),
        lost: concerned().filter(|it| !it.is_done).count(),
        differing: concerned().filter(|it| it.is_done && it.server.is_none()).count(),
        stall_median_ms: stalls[stalls.len() / 2],
        stall_most_ms: stalls[stalls.len() - 1],
    }
}

fn returned(event: Event, seen: &[Vec<Seen>], outages: &[Outage]) -> Return {
    let first = |outage: &Outage, client: &[Seen]| {
        let back = client.iter().find(|it| it.ended >= outage.back && it.server == Some(0));
        back.map(|it| it.ended - outage.back)
    };
    let of_outage =
        |outage: &Outage| -> Vec<Duration> { seen.iter().filter_map(|client| first(outage, client)).collect() };
    let times: Vec<Vec<Duration>> = outages.iter().map(of_outage).collect();
    let crowd = |times: &[Duration]| {
        let within = |from: &Duration| times.iter().filter(|time| (*from..*from + TOGETHER).contains(*time)).count();
        times.iter().map(within).max().unwrap_or(0)
    };
    let all = || times.iter().flatten().copied();
    Return {
        event: event.name(),
        returns: outages.len(),
        clients: CLIENTS,
        first_ms: millis(all().min().unwrap_or_default()),
        last_ms: millis(all().max().unwrap_or_default()),
        together: times.iter().map(|times| crowd(times)).max().unwrap_or(0) as f64 / CLIENTS as f64,
    }
}

fn millis(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}
