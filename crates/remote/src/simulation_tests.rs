//! The pool and its connections on a simulated network, with servers that crash and lines that break. The seed decides
//! when, and time is simulated, so a test takes as long as its messages take to compute.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::net::{IpAddr, Ipv4Addr};
use std::pin::Pin;
use std::rc::Rc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use hyper_util::rt::TokioIo;
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};
use tokio::sync::oneshot;
use tokio_stream::wrappers::UnboundedReceiverStream;
use tonic::transport::{Endpoint, Server};

use crate::connection::{Connecting, Grpc, tuned};
use crate::dispatcher::{Command, Dispatcher, Finished, Job};
use crate::pool::Settings;
use crate::proto::v1;
use crate::proto::v1::evaluation_server::EvaluationServer;
use crate::test_server::{Control, MOVES, TestEvaluation, output};
use crate::{Batch, DEFAULT_PORT, Encoding, ModelKey, PROTOCOL, Priority};

/// Evaluators of the client, and the batches of each.
const EVALUATORS: u64 = 4;
const BATCHES: u64 = 100;
/// Two servers of the first tier, and one of the second.
const SERVERS: [&str; 3] = ["first", "second", "third"];
const TIERS: [usize; 3] = [0, 0, 1];
/// Time of a batch on a server.
const BATCH: Duration = Duration::from_millis(2);
/// Pause of an evaluator between two batches.
const SEARCH: Duration = Duration::from_millis(20);

async fn serve(control: Arc<Control>) -> turmoil::Result {
    let listener = turmoil::net::TcpListener::bind((IpAddr::from(Ipv4Addr::UNSPECIFIED), DEFAULT_PORT)).await?;
    let (sender, incoming) = unbounded_channel();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            if sender.send(Ok::<_, std::io::Error>(Accepted(stream))).is_err() {
                break;
            }
        }
    });
    let service = EvaluationServer::new(TestEvaluation(control));
    Server::builder().add_service(service).serve_with_incoming(UnboundedReceiverStream::new(incoming)).await?;
    Ok(())
}

/// A connection of the simulation, as tonic wants it.
struct Accepted(turmoil::net::TcpStream);

impl tonic::transport::server::Connected for Accepted {
    type ConnectInfo = ();

    fn connect_info(&self) {}
}

impl tokio::io::AsyncRead for Accepted {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut std::task::Context<'_>,
        buffer: &mut tokio::io::ReadBuf<'_>,
    ) -> std::task::Poll<std::io::Result<()>> {
        Pin::new(&mut self.0).poll_read(context, buffer)
    }
}

impl tokio::io::AsyncWrite for Accepted {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut std::task::Context<'_>,
        buffer: &[u8],
    ) -> std::task::Poll<std::io::Result<usize>> {
        Pin::new(&mut self.0).poll_write(context, buffer)
    }

    fn poll_flush(
        mut self: Pin<&mut Self>,
        context: &mut std::task::Context<'_>,
    ) -> std::task::Poll<std::io::Result<()>> {
        Pin::new(&mut self.0).poll_flush(context)
    }

    fn poll_shutdown(
        mut self: Pin<&mut Self>,
        context: &mut std::task::Context<'_>,
    ) -> std::task::Poll<std::io::Result<()>> {
        Pin::new(&mut self.0).poll_shutdown(context)
    }
}

/// When the client began to connect to each server.
type Connects = Arc<Mutex<Vec<(usize, Duration)>>>;

/// Connections to the servers of the simulation.
fn connect(connects: Connects) -> impl FnMut(usize) -> Connecting {
    move |server| {
        connects.lock().expect("nothing panics").push((server, turmoil::sim_elapsed().expect("in a simulation")));
        let connector = tower::service_fn(move |_| async move {
            let stream = turmoil::net::TcpStream::connect((SERVERS[server], DEFAULT_PORT)).await?;
            Ok::<_, std::io::Error>(TokioIo::new(stream))
        });
        let endpoint = Endpoint::from_static("http://simulated");
        Box::pin(async move { tuned(endpoint, Settings::DEFAULT.connect).connect_with_connector(connector).await })
    }
}

/// From then on batches are of a model that is new to every connection.
const NEW_MODEL: Duration = Duration::from_secs(1);

/// Has one batch evaluated; returns whether it was left to this process.
async fn evaluate(commands: &UnboundedSender<Command>, planes: Vec<u8>) -> bool {
    let number = if turmoil::sim_elapsed().expect("in a simulation") < NEW_MODEL { 1 } else { 2 };
    let model = ModelKey { run: "v1".parse().expect("a name"), number: 1, digest: None };
    let batch = Batch {
        id: 0,
        model,
        positions: planes.len(),
        deadline: None,
        bits: planes.clone().into(),
        scalars: Vec::new().into(),
        answers: Encoding::F32,
        priority: Priority::Selfplay,
    };
    let (sender, done) = oneshot::channel();
    let done_once = Box::new(move |finished| sender.send(finished).expect("the evaluator waits"));
    let job = Job { batch, model: number, moves: MOVES, gone: Arc::default(), done: done_once };
    assert!(commands.send(Command::Evaluate(job)).is_ok(), "the dispatcher works");
    match done.await.expect("each batch is done") {
        Finished::Answered(answer) => {
            let mut found = [vec![0.0; MOVES * planes.len()], vec![0.0; planes.len()]];
            let [policies, values] = &mut found;
            answer.read(Encoding::F32, policies, values).expect("numbers of the right length");
            assert_eq!(found, output(&planes, planes.len()), "the answer is that of the batch");
            false
        }
        Finished::Local => true,
        Finished::Failed(error) => panic!("{error}"),
    }
}

/// What a client saw.
#[derive(Debug, Default, PartialEq, Eq)]
struct Tally {
    done: u64,
    local: u64,
    longest: Duration,
}

impl Tally {
    fn add(&mut self, local: bool, took: Duration) {
        self.done += 1;
        self.local += u64::from(local);
        self.longest = self.longest.max(took);
    }
}

/// The client: a dispatcher, and evaluators that have one batch evaluated after the other until so many are done by
/// each.
async fn client(settings: Settings, seed: u64, batches: u64, seen: Seen) -> turmoil::Result {
    let servers: Vec<(usize, String)> =
        TIERS.iter().zip(SERVERS).map(|(tier, name)| (*tier, name.to_owned())).collect();
    let (commands, received) = unbounded_channel();
    let hello = v1::Hello { protocol: PROTOCOL, ..v1::Hello::default() };
    let largest = Arc::new(AtomicU32::new(u32::MAX));
    let transport = Grpc::new(connect(Arc::clone(&seen.connects)), hello, None, Arc::default());
    tokio::spawn(Dispatcher::new(&servers, settings, seed, transport, received, largest).run());
    let evaluators = (0..EVALUATORS).map(|evaluator| {
        let (commands, tally) = (commands.clone(), Rc::clone(&seen.tally));
        async move {
            for nth in 0..batches {
                let planes = (0..1 + nth % 8).map(|place| (7 * evaluator + 3 * nth + place) as u8).collect();
                let began = tokio::time::Instant::now();
                let local = evaluate(&commands, planes).await;
                tally.borrow_mut().add(local, began.elapsed());
                tokio::time::sleep(SEARCH).await;
            }
        }
    });
    futures::future::join_all(evaluators).await;
    Ok(())
}

/// What a simulation leaves behind.
#[derive(Clone, Default)]
struct Seen {
    tally: Rc<RefCell<Tally>>,
    connects: Connects,
}

/// A simulation of a client and its servers.
struct World {
    sim: turmoil::Sim<'static>,
    controls: [Arc<Control>; 3],
    seen: Seen,
}

impl World {
    fn new(seed: u64, local: bool, batches: u64) -> World {
        let mut sim = turmoil::Builder::new()
            .rng_seed(seed)
            .simulation_duration(Duration::from_secs(600))
            .min_message_latency(Duration::from_micros(100))
            .max_message_latency(Duration::from_millis(3))
            .build();
        let controls = SERVERS.map(|name| {
            let control = Arc::new(Control { delay: BATCH, ..Control::default() });
            let of_host = Arc::clone(&control);
            sim.host(name, move || serve(Arc::clone(&of_host)));
            control
        });
        let seen = Seen::default();
        let settings = Settings { local, ..Settings::DEFAULT };
        sim.client("client", client(settings, seed, batches, seen.clone()));
        World { sim, controls, seen }
    }

    /// Takes a step; returns whether the client is done.
    fn step(&mut self) -> bool {
        self.sim.step().expect("no host fails")
    }

    fn run_for(&mut self, time: Duration) {
        let end = self.sim.elapsed() + time;
        while self.sim.elapsed() < end {
            assert!(!self.step(), "the client has batches left");
        }
    }

    /// Batches that each server has evaluated.
    fn evaluated(&self) -> [u64; 3] {
        self.controls.each_ref().map(|control| control.evaluated.load(Ordering::Relaxed))
    }

    fn done(&self) -> u64 {
        self.seen.tally.borrow().done
    }
}

/// Something that happens to a server or to the line to it.
#[derive(Clone, Copy, Debug)]
enum Incident {
    Crash,
    /// What is sent is lost.
    Partition,
    /// What is sent waits, as when a process is stopped.
    Hold,
}

impl Incident {
    fn begin(self, sim: &mut turmoil::Sim<'_>, server: &str) {
        match self {
            Incident::Crash => sim.crash(server),
            Incident::Partition => sim.partition("client", server),
            Incident::Hold => sim.hold("client", server),
        }
    }

    fn end(self, sim: &mut turmoil::Sim<'_>, server: &str) {
        match self {
            Incident::Crash => sim.bounce(server),
            Incident::Partition => sim.repair("client", server),
            Incident::Hold => sim.release("client", server),
        }
    }
}

/// Plays a simulation in which servers suffer until the client is done. At most `at_once` of them suffer at a time.
fn simulate(seed: u64, local: bool, at_once: usize) -> Tally {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut world = World::new(seed, local, BATCHES);
    let mut suffering: Vec<(usize, Incident, Duration)> = Vec::new();
    let mut next = Duration::from_millis(50);
    while !world.step() {
        let now = world.sim.elapsed();
        for (server, incident, _) in suffering.extract_if(.., |(_, _, until)| *until <= now) {
            incident.end(&mut world.sim, SERVERS[server]);
        }
        if now < next || suffering.len() >= at_once {
            continue;
        }
        next = now + Duration::from_millis(random.random_range(10..400));
        let server = random.random_range(0..SERVERS.len());
        if suffering.iter().any(|(other, ..)| *other == server) {
            continue;
        }
        let incident = [Incident::Crash, Incident::Partition, Incident::Hold][random.random_range(0..3)];
        incident.begin(&mut world.sim, SERVERS[server]);
        suffering.push((server, incident, now + Duration::from_millis(random.random_range(50..3000))));
    }
    assert!(world.evaluated().iter().sum::<u64>() > 0);
    let World { sim, seen, .. } = world;
    drop(sim);
    Rc::into_inner(seen.tally).expect("the client is gone").into_inner()
}

#[test]
fn every_batch_is_answered_once_and_rightly_while_servers_crash_and_lines_break() {
    for seed in 0..12 {
        let tally = simulate(seed, false, 2);
        assert_eq!((tally.done, tally.local), (EVALUATORS * BATCHES, 0), "seed {seed}: {tally:?}");
    }
}

#[test]
fn every_batch_is_answered_where_all_servers_suffer_and_the_process_can_help_itself() {
    let local: u64 = (100..106)
        .map(|seed| {
            let tally = simulate(seed, true, 3);
            assert_eq!(tally.done, EVALUATORS * BATCHES, "seed {seed}: {tally:?}");
            tally.local
        })
        .sum();
    assert!(local > 0, "some batches are left to the process");
}

#[test]
fn simulation_of_a_seed_is_the_same_each_time() {
    assert_eq!(simulate(3, false, 2), simulate(3, false, 2));
}

#[test]
fn second_tier_is_not_asked_and_nothing_is_late_while_the_first_is_well() {
    let mut world = World::new(1, false, BATCHES);
    while !world.step() {}
    let [first, second, third] = world.evaluated();
    assert_eq!((first + second, third), (EVALUATORS * BATCHES, 0), "each batch is evaluated once");
    assert!(first.min(second) > EVALUATORS * BATCHES / 4, "{first} and {second} batches within the tier");
    let tally = world.seen.tally.borrow();
    assert!(tally.longest < Settings::DEFAULT.deadline, "{tally:?}");
}

#[test]
fn traffic_returns_to_the_first_tier_and_leaves_the_second() {
    let incidents = [Incident::Crash, Incident::Partition, Incident::Hold];
    // At different moments between two connections, and within one that hangs.
    for (incident, moment) in incidents.into_iter().flat_map(|incident| (0..6).map(move |moment| (incident, moment))) {
        let mut world = World::new(2, false, 10_000);
        world.run_for(Duration::from_secs(1));
        SERVERS[..2].iter().for_each(|server| incident.begin(&mut world.sim, server));
        world.run_for(Duration::from_secs(5) + Duration::from_millis(110) * moment);
        let [first, second, third] = world.evaluated();
        assert!(third > 100, "{incident:?}: {third} batches of the second tier");
        SERVERS[..2].iter().for_each(|server| incident.end(&mut world.sim, server));
        let (ended, mut returned) = (world.sim.elapsed(), None);
        while world.sim.elapsed() < ended + Duration::from_secs(4) {
            world.step();
            let [first_now, second_now, _] = world.evaluated();
            // What waited on the line is answered, too, and is no new traffic.
            if returned.is_none() && first_now > first + EVALUATORS && second_now > second + EVALUATORS {
                returned = Some((world.sim.elapsed() - ended, world.evaluated()[2]));
            }
        }
        let (took, third) = returned.unwrap_or_else(|| panic!("{incident:?}: no traffic of the first tier"));
        assert!(took < Duration::from_secs(2), "{incident:?}: traffic is back after {took:?}");
        let [.., third_at_last] = world.evaluated();
        assert!(third_at_last <= third + EVALUATORS, "{incident:?}: {third} and then {third_at_last} batches");
    }
}

#[test]
fn stopped_server_stalls_batches_of_a_new_model_for_the_deadline_at_most() {
    for incident in [Incident::Hold, Incident::Partition] {
        let mut world = World::new(4, false, BATCHES);
        world.run_for(NEW_MODEL);
        let before = world.evaluated();
        assert!(before.iter().sum::<u64>() > 100);
        incident.begin(&mut world.sim, SERVERS[0]);
        while !world.step() {}
        let tally = world.seen.tally.borrow();
        let [deadline, line] = [Settings::DEFAULT.deadline, Duration::from_millis(25)];
        assert!(tally.longest >= deadline, "{incident:?}: batches were sent to the first server, {tally:?}");
        assert!(tally.longest < deadline + line, "{incident:?}: {tally:?}");
    }
}

#[test]
fn pauses_between_connections_to_a_server_that_is_down_are_bounded_and_jittered() {
    let [least, most] = [Settings::DEFAULT.connect, Settings::DEFAULT.backoff[1]];
    let mut all = BTreeSet::new();
    for seed in 0..4 {
        let mut world = World::new(seed, false, 10_000);
        world.run_for(Duration::from_millis(500));
        let before = world.done();
        world.sim.crash(SERVERS[0]);
        world.run_for(Duration::from_secs(10));
        assert!(world.done() > before + 100, "seed {seed}: the others evaluate");
        let connects = world.seen.connects.lock().unwrap();
        let times: Vec<Duration> = connects.iter().filter(|(server, _)| *server == 0).map(|(_, time)| *time).collect();
        // The first connection was made at the start. Nothing answers the others, which are given up after their time.
        let pauses: Vec<Duration> = times.windows(2).skip(1).map(|pair| pair[1] - pair[0]).collect();
        assert!(pauses.len() >= 5, "seed {seed}: {pauses:?}");
        // The simulation steps by 1 ms.
        let slack = Duration::from_millis(5);
        assert!(pauses.iter().all(|&pause| pause >= least && pause <= most + slack), "seed {seed}: {pauses:?}");
        assert!(connects.iter().filter(|(server, _)| *server != 0).count() == 2, "others keep their connections");
        all.extend(pauses);
    }
    assert!(all.len() >= 18, "pauses differ: {all:?}");
}
