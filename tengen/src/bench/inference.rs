//! The inference server: what it adds to a network, in time and bytes, and what its failures cost.
//!
//! Server and clients are in this process, and talk over a loopback port as they would between machines. Servers that
//! fail are processes of their own.

mod client_args;
mod failure;
mod one_network;
mod servers;

use std::fmt;
use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::anyhow;
use go::Size;
use inference::{Limits, Options, Server};
use net::{Device, Inputs, Model, NetError, PlaneEvaluator, Precision, Shape};
use rcgen::{CertificateParams, KeyPair};
use remote::{Client, Encoding, ModelKey, Priority, RemoteSession, ServerIdentity};
use runtime::{Classify, Health, InferenceArgs, Stop};
use serde::Serialize;

use client_args::client_args;
use one_network::{OneNetwork, digest};

use super::Bench;
use super::clock::Rate;
use super::played::on_threads;
use super::subject::{Subject, SubjectArgs};

/// Number of turns in which compared cases are measured, so that a disturbance hits all of them.
const ROUNDS: u32 = 5;
/// Boards of the null network.
const BOARDS: [usize; 2] = [9, 19];
/// All sets of planes of our own networks.
const INPUTS: [Inputs; 3] = [Inputs::History, Inputs::Features, Inputs::Tactics];
/// Patience of clients: a benchmark wants to see how long it takes, and not another server.
const DEADLINE: u64 = 60_000;

/// Arguments of `tengen bench inference`.
#[derive(clap::Args, Debug)]
pub(super) struct Args {
    #[command(flatten)]
    subject: SubjectArgs,
    /// Clients, each with a connection and one batch under way
    #[arg(long, default_value = "4", value_name = "N", allow_negative_numbers = true, value_parser = runtime::within(1..=256_usize))]
    clients: usize,
    /// Positions per batch of a client
    #[arg(long, default_value = "64", value_name = "N", allow_negative_numbers = true, value_parser = runtime::within(1..=2048_usize))]
    client_batch: usize,
    /// Threads of the device [default: one per core on a CPU, 2 on a GPU]
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = runtime::within(1..=1024_usize))]
    threads: Option<usize>,
    /// Device of the network: auto (a GPU if there is one), cpu, cuda or cuda:N
    #[arg(long, env = "TENGEN_DEVICE", default_value = "auto", value_name = "DEVICE")]
    device: Device,
    /// Failures of each kind, of 3 to 4 seconds each; 0 skips them
    #[arg(long, default_value = "3", value_name = "N", allow_negative_numbers = true, value_parser = runtime::within(0..=1000_usize))]
    failures: usize,
    /// Serve a network with this value: one of the processes that fail [default: none]
    #[arg(long, hide = true, num_args = 2, value_names = ["ADDRESS", "VALUE"])]
    serve: Option<Vec<String>>,
}

/// Positions through a server whose network costs nothing.
#[derive(Serialize)]
#[serde(tag = "bench", rename = "inference without network")]
struct Throughput {
    board: usize,
    transport: &'static str,
    clients: usize,
    batch: usize,
    positions_per_s: f64,
    megabytes_per_s: f64,
}

impl fmt::Display for Throughput {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Throughput { board, transport, clients, batch, positions_per_s, megabytes_per_s } = self;
        write!(
            f,
            "inference {board}x{board} without network, {transport}, {clients} clients with batches of {batch}: "
        )?;
        write!(f, "{positions_per_s:.0} positions/s, {megabytes_per_s:.0} MB/s both ways")
    }
}

/// A network through a server and by itself, in turns.
#[derive(Serialize)]
#[serde(tag = "bench", rename = "inference share")]
struct Share {
    network: String,
    threads: usize,
    clients: usize,
    batch: usize,
    bare_per_s: f64,
    served_per_s: f64,
    share: f64,
}

impl fmt::Display for Share {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Share { network, threads, clients, batch, bare_per_s, served_per_s, share } = self;
        write!(f, "inference {network}, {threads} threads, {clients} clients with batches of {batch}: ")?;
        write!(f, "{served_per_s:.0} positions/s through a server, {bare_per_s:.0} bare, {:.1} %", 100.0 * share)
    }
}

/// What a server adds to the time of a batch while its device works half of the time.
#[derive(Serialize)]
#[serde(tag = "bench", rename = "inference latency")]
struct Latency {
    network: String,
    batch: usize,
    batches: usize,
    bare_us: f64,
    added_p50_us: f64,
    added_p99_us: f64,
}

impl fmt::Display for Latency {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Latency { network, batch, batches, bare_us, added_p50_us, added_p99_us } = self;
        write!(f, "inference {network}, batches of {batch} at half load: {bare_us:.0} µs bare, ")?;
        write!(f, "{added_p50_us:.0} µs more in the median and {added_p99_us:.0} µs at 99 % of {batches}")
    }
}

/// Bytes of an evaluation.
#[derive(Serialize)]
#[serde(tag = "bench", rename = "inference bytes")]
struct Bytes {
    board: usize,
    inputs: String,
    planes: usize,
    exact: usize,
    f16: usize,
}

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Bytes { board, inputs, planes, exact, f16 } = self;
        write!(
            f,
            "inference {board}x{board}, {inputs}: {exact} bytes an evaluation, {f16} with f16; {planes} for planes"
        )
    }
}

pub(super) fn run(bench: &Bench<'_>, args: &Args) -> anyhow::Result<()> {
    if let Some([address, value]) = args.serve.as_deref() {
        return servers::serve(address, value.parse()?);
    }
    for size in BOARDS.map(|side| Size::new(side).expect("9 and 19 are sizes")) {
        INPUTS.map(|inputs| bytes(size, inputs)).iter().try_for_each(|case| bench.report(case))?;
    }
    for size in BOARDS.map(|side| Size::new(side).expect("9 and 19 are sizes")) {
        for transport in ["plain", "TLS", "Unix socket"] {
            if !bench.stop.requested() {
                bench.report(&throughput(bench, args, size, transport)?)?;
            }
        }
    }
    for subject in args.subject.subjects(bench.store)? {
        if !bench.stop.requested() {
            bench.report(&share(bench, args, &subject)?)?;
        }
        if !bench.stop.requested() {
            bench.report(&latency(bench, args, &subject)?)?;
        }
    }
    if args.failures > 0 && !bench.stop.requested() {
        failure::run(bench, args.client_batch, args.failures)?;
    }
    Ok(())
}

fn bytes(size: Size, inputs: Inputs) -> Bytes {
    let packing = inputs.packing(size);
    let planes = packing.dense_bit_bytes() + packing.scalars();
    let with = |encoding: Encoding| planes + (size.moves() + 1) * encoding.width();
    let (exact, f16) = (with(Encoding::F32), with(Encoding::F16));
    Bytes { board: size.side(), inputs: inputs.to_string(), planes, exact, f16 }
}

/// Says the same of every position.
struct NullPlaneEvaluator;

impl PlaneEvaluator for NullPlaneEvaluator {
    fn evaluate(&mut self, _: &[u8], policies: &mut [f32], values: &mut [f32]) -> Result<(), NetError> {
        policies.fill(values.len() as f32 / policies.len() as f32);
        values.fill(0.0);
        Ok(())
    }
}

/// A server, and what its clients need.
struct Pair {
    server: Server,
    clients: InferenceArgs,
    stop: Stop,
    shape: Shape,
    _folder: tempfile::TempDir,
}

impl Pair {
    fn start(
        source: OneNetwork,
        transport: &str,
        threads: usize,
        batch: usize,
        bench: &Bench<'_>,
    ) -> anyhow::Result<Pair> {
        let folder = tempfile::tempdir()?;
        let shape = source.shape;
        let listen = match transport {
            "Unix socket" => format!("unix:{}", folder.path().join("socket").display()),
            _ => "127.0.0.1:0".to_owned(),
        };
        let identity = (transport == "TLS").then(|| self_signed(folder.path())).transpose()?;
        let ca = identity.as_ref().map(|identity| identity.cert.clone());
        let limits = Limits { batch, ..Limits::default() };
        let options = Options { identity, limits, ..Options::local(listen.parse()?, threads) };
        let server = Server::start(options, Arc::new(source), Health::default())?;
        let clients = client_args(server.address(), DEADLINE, ca);
        Ok(Pair { server, clients, stop: bench.stop.clone(), shape, _folder: folder })
    }

    /// A client with a connection of its own.
    fn session(&self) -> anyhow::Result<RemoteSession> {
        let client = Client::open(&self.clients, "bench", Priority::Selfplay, &self.stop)?;
        let client = client.ok_or_else(|| anyhow!("no server is named"))?;
        let model = ModelKey { run: "bench".parse()?, number: 1, digest: Some(digest()) };
        Ok(RemoteSession::new(&client, &model, self.shape, Arc::new(|| Err("there is no other network".into()))))
    }

    fn end(self) {
        self.server.drain(Duration::from_secs(1));
    }
}

/// A certificate of this machine for itself.
fn self_signed(folder: &Path) -> anyhow::Result<ServerIdentity> {
    let key = KeyPair::generate()?;
    let cert = CertificateParams::new(["127.0.0.1".to_owned()])?.self_signed(&key)?;
    let identity = ServerIdentity { cert: folder.join("cert.pem"), key: folder.join("key.pem") };
    fs::write(&identity.cert, cert.pem())?;
    fs::write(&identity.key, key.serialize_pem())?;
    Ok(identity)
}

/// Evaluates a made-up batch again and again.
struct Asker<E> {
    evaluator: E,
    planes: Vec<u8>,
    policies: Vec<f32>,
    values: Vec<f32>,
}

impl<E: PlaneEvaluator> Asker<E> {
    fn new(evaluator: E, Shape { size, inputs, .. }: Shape, batch: usize) -> Asker<E> {
        let planes = vec![1; evaluator.rows(batch) * inputs.len(size)];
        Asker { evaluator, planes, policies: vec![0.0; batch * size.moves()], values: vec![0.0; batch] }
    }

    fn ask(&mut self) -> anyhow::Result<Duration> {
        let began = Instant::now();
        self.evaluator.evaluate(&self.planes, &mut self.policies, &mut self.values)?;
        Ok(began.elapsed())
    }

    /// Adds the times of batches that begin at least `period` apart, one at least, for some time or until `stop` is
    /// requested.
    fn times(
        &mut self,
        time: Duration,
        period: Duration,
        stop: &Stop,
        times: &mut Vec<Duration>,
    ) -> anyhow::Result<()> {
        let began = Instant::now();
        loop {
            let took = self.ask()?;
            times.push(took);
            thread::sleep(period.saturating_sub(took));
            if began.elapsed() >= time || stop.requested() {
                return Ok(());
            }
        }
    }

    /// Positions a second, for some time or until `stop` is requested.
    fn rate(&mut self, time: Duration, stop: &Stop) -> anyhow::Result<f64> {
        let positions = self.values.len() as f64;
        Ok(Rate::measure(time, stop, || self.ask().map(|_| positions))?.per_second())
    }
}

fn throughput(bench: &Bench<'_>, args: &Args, size: Size, transport: &'static str) -> anyhow::Result<Throughput> {
    let shape = Shape::plain(size);
    let source = OneNetwork { shape, open: Arc::new(|| Box::new(NullPlaneEvaluator)) };
    let pair = Pair::start(source, transport, 1, args.client_batch, bench)?;
    pair.session().and_then(|session| Asker::new(session, shape, args.client_batch).ask())?;
    let rate = |_| Asker::new(pair.session()?, shape, args.client_batch).rate(bench.time, bench.stop);
    let rates = on_threads(args.clients, rate)?;
    pair.end();
    let positions_per_s: f64 = rates.iter().sum();
    Ok(Throughput {
        board: size.side(),
        transport,
        clients: args.clients,
        batch: args.client_batch,
        positions_per_s,
        megabytes_per_s: positions_per_s * bytes(size, shape.inputs).exact as f64 / 1e6,
    })
}

/// The network of a subject, and how many threads evaluate it.
fn model(args: &Args, subject: &Subject, batch: usize) -> anyhow::Result<(Arc<Model>, usize)> {
    let backend = net::Backend::open(args.device, Precision::Auto)?;
    let cores = thread::available_parallelism().map_or(1, usize::from);
    let threads = args.threads.unwrap_or(if backend.is_cpu() { cores } else { 2 });
    Ok((Arc::new(Model::new(&subject.weights, args.device, Precision::Auto, batch).misconfigured()?), threads))
}

fn of_model(model: &Arc<Model>) -> OneNetwork {
    let shape = model.shape();
    let model = Arc::clone(model);
    OneNetwork { shape, open: Arc::new(move || model.session()) }
}

fn share(bench: &Bench<'_>, args: &Args, subject: &Subject) -> anyhow::Result<Share> {
    let batch = args.client_batch;
    let (model, threads) = model(args, subject, batch)?;
    let shape = model.shape();
    let pair = Pair::start(of_model(&model), "plain", threads, batch, bench)?;
    pair.session().and_then(|session| Asker::new(session, shape, batch).ask())?;
    let (mut bare, mut served) = (0.0, 0.0);
    for _ in 0..ROUNDS {
        let time = bench.time / ROUNDS;
        let rates = on_threads(threads, |_| Asker::new(model.session(), shape, batch).rate(time, bench.stop))?;
        bare += rates.iter().sum::<f64>() / f64::from(ROUNDS);
        let rates = on_threads(args.clients, |_| Asker::new(pair.session()?, shape, batch).rate(time, bench.stop))?;
        served += rates.iter().sum::<f64>() / f64::from(ROUNDS);
    }
    pair.end();
    let network = subject.tower().to_string();
    let share = served / bare;
    Ok(Share { network, threads, clients: args.clients, batch, bare_per_s: bare, served_per_s: served, share })
}

fn latency(bench: &Bench<'_>, args: &Args, subject: &Subject) -> anyhow::Result<Latency> {
    /// Small enough that the time of the batch does not hide the added time.
    const BATCH: usize = 8;
    let (model, _) = model(args, subject, BATCH)?;
    let shape = model.shape();
    let pair = Pair::start(of_model(&model), "plain", 1, BATCH, bench)?;
    let (mut bare, mut served) = (Asker::new(model.session(), shape, BATCH), Asker::new(pair.session()?, shape, BATCH));
    served.ask()?;
    let (mut alone, mut through) = (Vec::new(), Vec::new());
    let time = bench.time / (2 * ROUNDS);
    bare.times(time, Duration::ZERO, bench.stop, &mut alone)?;
    // A batch in twice the time that the network takes: its device works for half of it, here and in a server. Caches
    // and clock rates are those of that load, too.
    let period = 2 * percentile(&mut alone, 50);
    alone.clear();
    for _ in 0..ROUNDS {
        bare.times(time, period, bench.stop, &mut alone)?;
        served.times(time, period, bench.stop, &mut through)?;
    }
    pair.end();
    let mut micros = |percent| percentile(&mut through, percent).as_secs_f64() * 1e6;
    let (median, slowest) = (micros(50), micros(99));
    let bare_us = percentile(&mut alone, 50).as_secs_f64() * 1e6;
    Ok(Latency {
        network: subject.tower().to_string(),
        batch: BATCH,
        batches: through.len(),
        bare_us,
        added_p50_us: median - bare_us,
        added_p99_us: slowest - bare_us,
    })
}

/// The time that so many percent of these are below.
fn percentile(times: &mut [Duration], percent: usize) -> Duration {
    times.sort_unstable();
    times[times.len() * percent / 100]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn measurement_ends_when_a_stop_is_requested() {
        let mut asker = Asker::new(NullPlaneEvaluator, Shape::plain(Size::new(9).unwrap()), 4);
        let (stop, day, mut times) = (Stop::never(), Duration::from_secs(24 * 3600), Vec::new());
        stop.request();
        asker.times(day, Duration::ZERO, &stop, &mut times).unwrap();
        asker.rate(day, &stop).unwrap();
        assert_eq!(times.len(), 1);
    }
}
