//! The network by itself, and the effect of rounding on its outputs.

use std::fmt;
use std::path::PathBuf;

use config::MOST_BATCH;
use cpu::Description;
use go::{Game, Move, Size};
use mcts::{Draw, Evaluation, Evaluator, Request, Ticket, choice};
use net::{Backend, Device, InferenceBench, Model, NetError, Network, Precision, Weights};
use play::generator;
use runtime::Classify;
use serde::Serialize;

use super::Bench;
use super::clock::Rate;
use super::peers::{Loaded, Peer};
use super::subject::{Subject, SubjectArgs, Tower};

/// Number of turns in which compared cases are measured, so that a disturbance hits all of them.
const ROUNDS: u32 = 5;

/// Arguments of `tengen bench network`.
#[derive(clap::Args, Debug)]
pub(super) struct Args {
    #[command(flatten)]
    subject: SubjectArgs,
    /// Positions per batch; may be repeated
    #[arg(long, default_values = ["1", "8", "64", "256"], value_name = "N", allow_negative_numbers = true, value_parser = runtime::within(1..=MOST_BATCH as u32))]
    batch: Vec<u32>,
    /// Positions for the comparison of outputs; 0: no comparison
    #[arg(long, default_value = "2000", value_name = "N", allow_negative_numbers = true, value_parser = runtime::within(0..=1_000_000_usize))]
    positions: usize,
    /// Device of the network: auto (a GPU if there is one), cpu, cuda or cuda:N
    #[arg(long, env = "TENGEN_DEVICE", default_value = "auto", value_name = "DEVICE")]
    device: Device,
    /// Another inference library in the same run, those of PyPI in Python with one thread; may be repeated [default:
    /// none]
    #[arg(long, value_enum, value_name = "LIBRARY")]
    against: Vec<Peer>,
    /// Python interpreter with the packages
    #[arg(long, env = "TENGEN_PYTHON", default_value = "python3", value_name = "PATH")]
    python: PathBuf,
    /// Measure int16 with every instruction set of this processor
    #[arg(long)]
    instruction_sets: bool,
}

/// The rate of one engine, with one thread.
#[derive(Serialize)]
#[serde(tag = "bench", rename = "network")]
struct Case {
    #[serde(flatten)]
    tower: Tower,
    batch: u32,
    engine: String,
    evaluations_per_s: f64,
    evaluations_per_s_per_core: f64,
    /// By the operations of direct convolutions.
    gflop_per_s: f64,
    /// How many times as fast the engine of play is, by time on a core.
    ratio: f64,
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Case { tower, batch, engine, evaluations_per_s, gflop_per_s, ratio, .. } = self;
        write!(f, "network {tower}, batches of {batch}, one thread: {engine:22} ")?;
        write!(f, "{evaluations_per_s:9.0} evaluations/s {gflop_per_s:6.0} Gflop/s  play is {ratio:5.2} times as fast")
    }
}

/// The difference of outputs in a precision from those in f32.
#[derive(Serialize)]
#[serde(tag = "bench", rename = "agreement")]
struct Agreement {
    #[serde(flatten)]
    tower: Tower,
    precision: String,
    positions: usize,
    /// Kullback–Leibler divergence of the policy from that in f32.
    mean_policy_kl: f64,
    p99_policy_kl: f64,
    /// Share of positions where both give the same legal move the highest prior.
    top_1: f64,
    /// What the best move of the precision lacks to the best move in f32, by the priors in f32, where they differ.
    mean_prior_lost: f64,
    /// Root of the mean square.
    rms_value_difference: f64,
    max_value_difference: f64,
}

impl fmt::Display for Agreement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Agreement { tower, precision, positions, .. } = self;
        write!(f, "{precision} against f32, {tower} ({}), {positions} positions: ", tower.model)?;
        write!(f, "policy KL {:.1e}, 99 % below {:.1e}; ", self.mean_policy_kl, self.p99_policy_kl)?;
        write!(f, "value error {:.5} rms, {:.4} at most; ", self.rms_value_difference, self.max_value_difference)?;
        write!(
            f,
            "the same best move in {:.2} %, elsewhere one with {:.5} less prior",
            100.0 * self.top_1,
            self.mean_prior_lost
        )
    }
}

pub(super) fn run(bench: &Bench<'_>, args: &Args) -> anyhow::Result<()> {
    for subject in args.subject.subjects(bench.store)? {
        for &batch in &args.batch {
            if !bench.stop.requested() {
                rates(bench, args, &subject, batch)?.iter().try_for_each(|case| bench.report(case))?;
            }
        }
        if args.positions > 0 && !bench.stop.requested() {
            agreements(bench, args, &subject)?.iter().try_for_each(|agreement| bench.report(agreement))?;
        }
    }
    Ok(())
}

/// The rates of all engines, measured in turns.
fn rates(bench: &Bench<'_>, args: &Args, subject: &Subject, batch: u32) -> anyhow::Result<Vec<Case>> {
    let mut engines = engines(args, subject, batch)?;
    let mut rates = vec![Rate::default(); engines.len()];
    for _ in 0..ROUNDS {
        for (rate, engine) in rates.iter_mut().zip(&mut engines) {
            if bench.stop.requested() {
                return Ok(Vec::new());
            }
            *rate += engine.measure(bench, batch)?;
        }
    }
    let play = rates[0].per_core();
    let operations = subject.weights.shape().operations() as f64;
    let case = |(engine, rate): (Engine, Rate)| Case {
        tower: subject.tower(),
        batch,
        engine: engine.name,
        evaluations_per_s: rate.per_second(),
        evaluations_per_s_per_core: rate.per_core(),
        gflop_per_s: rate.per_second() * operations / 1e9,
        ratio: play / rate.per_core(),
    };
    Ok(engines.into_iter().zip(rates).map(case).collect())
}

/// A library with a network, which evaluates a batch again and again.
struct Engine {
    name: String,
    kind: Kind,
}

enum Kind {
    Ours(InferenceBench),
    Peer(Loaded),
}

impl Engine {
    /// Measures a round.
    fn measure(&mut self, bench: &Bench<'_>, batch: u32) -> anyhow::Result<Rate> {
        let time = bench.time / ROUNDS;
        match &mut self.kind {
            Kind::Ours(network) => {
                Rate::measure(time, bench.stop, || Ok(network.evaluate().map(|()| f64::from(batch))?))
            }
            Kind::Peer(peer) => peer.measure(time),
        }
    }
}

/// The engine of play first.
fn engines(args: &Args, subject: &Subject, batch: u32) -> anyhow::Result<Vec<Engine>> {
    let (weights, device, len) = (&subject.weights, args.device, batch as usize);
    let play = model(weights, device, Precision::Auto, len)?;
    let Backend { precision, instruction_set, .. } = Backend::open(device, Precision::Auto)?;
    let mut engines = vec![
        (format!("{precision} {instruction_set}"), InferenceBench::of(&play)),
        ("f32".to_owned(), InferenceBench::of(&model(weights, device, Precision::F32, len)?)),
        ("plain libtorch".to_owned(), InferenceBench::plain(weights, device, len)?),
    ];
    let planes = engines[0].1.planes().to_vec();
    if args.instruction_sets {
        for set in cpu::InstructionSet::available() {
            let network = InferenceBench::on_cpu(weights, set, len)?;
            engines.push((format!("int16 {set}"), network));
        }
    }
    for (peer, precision) in [(Peer::Libtorch, Precision::F32), (Peer::LibtorchBf16, Precision::Bf16)] {
        if args.against.contains(&peer) {
            let network = InferenceBench::libtorch(weights, device, precision, len).misconfigured()?;
            engines.push((peer.to_string(), network));
        }
    }
    // libtorch prepares its kernels in the first evaluations.
    for (_, network) in &mut engines {
        (0..2).try_for_each(|_| network.evaluate())?;
    }
    let ours = engines.into_iter().map(|(name, network)| Engine { name, kind: Kind::Ours(network) });
    let mut engines: Vec<Engine> = ours.collect();
    for peer in args.against.iter().filter(|peer| peer.is_python()) {
        let loaded = peer.load(&args.python, &Description::from_safetensors(&weights.to_bytes())?, &planes, batch)?;
        engines.push(Engine { name: format!("{peer} {}", loaded.version), kind: Kind::Peer(loaded) });
    }
    Ok(engines)
}

pub(super) fn model(weights: &Weights, device: Device, precision: Precision, batch: usize) -> anyhow::Result<Model> {
    Model::new(weights, device, precision, batch).misconfigured()
}

/// Of every precision that the device has; none when the program is to stop.
fn agreements(bench: &Bench<'_>, args: &Args, subject: &Subject) -> anyhow::Result<Vec<Agreement>> {
    const BATCH: usize = 64;
    let (weights, shape) = (&subject.weights, subject.weights.shape());
    let mut exact = model(weights, args.device, Precision::F32, BATCH)?.network();
    let mut others = Vec::new();
    for precision in [Precision::Int16, Precision::Bf16] {
        match Model::new(weights, args.device, precision, BATCH) {
            Ok(model) => others.push((precision, model.network(), Differences::default())),
            Err(NetError::NoPrecision { .. } | NetError::NoBf16 { .. }) => {}
            Err(error) => return Err(error.into()),
        }
    }
    let mut games = Games::new(shape.size, subject.config.game.move_limit, BATCH);
    for _ in 0..args.positions.div_ceil(BATCH) {
        if bench.stop.requested() {
            return Ok(Vec::new());
        }
        let exact_tickets = games.evaluate_all(&mut exact)?;
        for (_, network, differences) in &mut others {
            let tickets = games.evaluate_all(network)?;
            for ((game, &exact_ticket), &ticket) in games.games.iter().zip(&exact_tickets).zip(&tickets) {
                differences.add(game, exact.get(exact_ticket), network.get(ticket));
            }
        }
        games.go_on(&exact, &exact_tickets)?;
    }
    let finished =
        |(precision, _, differences): (Precision, Network, Differences)| differences.mean(subject, precision);
    Ok(others.into_iter().map(finished).collect())
}

/// Differences over some positions.
#[derive(Default)]
struct Differences {
    divergences: Vec<f64>,
    others: usize,
    lost: f64,
    squares: f64,
    most: f64,
}

impl Differences {
    fn add(&mut self, game: &Game, exact: Evaluation<'_>, other: Evaluation<'_>) {
        let term =
            |(&p, &q): (&f32, &f32)| if p > 0.0 { f64::from(p) * (f64::from(p) / f64::from(q)).ln() } else { 0.0 };
        self.divergences.push(exact.policy.iter().zip(other.policy).map(term).sum());
        let (chosen, best) = (best_move(game, other.policy), best_move(game, exact.policy));
        self.others += usize::from(chosen != best);
        self.lost += f64::from(exact.policy[best] - exact.policy[chosen]);
        let difference = f64::from((other.value.black() - exact.value.black()).abs());
        (self.squares, self.most) = (self.squares + difference * difference, self.most.max(difference));
    }

    fn mean(mut self, subject: &Subject, precision: Precision) -> Agreement {
        let positions = self.divergences.len();
        self.divergences.sort_by(f64::total_cmp);
        Agreement {
            tower: subject.tower(),
            precision: precision.to_string(),
            positions,
            mean_policy_kl: self.divergences.iter().sum::<f64>() / positions as f64,
            p99_policy_kl: self.divergences[positions * 99 / 100],
            top_1: 1.0 - self.others as f64 / positions as f64,
            mean_prior_lost: self.lost / self.others.max(1) as f64,
            rms_value_difference: (self.squares / positions as f64).sqrt(),
            max_value_difference: self.most,
        }
    }
}

/// Index of the legal move with the highest prior.
fn best_move(game: &Game, policy: &[f32]) -> usize {
    let legal = |index: &usize| Move::from_index(game.size(), *index).is_some_and(|mv| game.is_legal(mv));
    (0..policy.len()).filter(legal).max_by(|&a, &b| policy[a].total_cmp(&policy[b])).unwrap_or(game.size().area())
}

/// Games that a network plays by drawing moves from its policy, each from another moment on.
struct Games {
    size: Size,
    move_limit: usize,
    games: Vec<Game>,
    rng: play::GameRng,
}

impl Games {
    fn new(size: Size, move_limit: usize, count: usize) -> Games {
        Games { size, move_limit, games: vec![Game::new(size); count], rng: generator(1) }
    }

    /// Lets a network evaluate the positions of all games.
    fn evaluate_all(&self, network: &mut Network) -> anyhow::Result<Vec<Ticket>> {
        let submit = |game| network.submit(Request { game, komi: 7.0, draw: Draw::PLAIN });
        let tickets = self.games.iter().map(submit).collect();
        network.flush().map_err(|error| anyhow::anyhow!(error))?;
        Ok(tickets)
    }

    /// Draws a move in every game from the last policy of the network.
    fn go_on(&mut self, network: &Network, tickets: &[Ticket]) -> anyhow::Result<()> {
        for (game, &ticket) in self.games.iter_mut().zip(tickets) {
            let policy = network.get(ticket).policy;
            // `draw` takes whole numbers; this many of them are as good as the policy itself.
            let weight = |(index, p): (usize, &f32)| {
                let legal = Move::from_index(game.size(), index).is_some_and(|mv| game.is_legal(mv));
                if legal { (p * (1u32 << 24) as f32) as u32 } else { 0 }
            };
            let weights: Vec<u32> = policy.iter().enumerate().map(weight).collect();
            let drawn = choice::draw(&weights, 1.0, &mut self.rng);
            let mv = drawn.and_then(|index| Move::from_index(game.size(), index)).unwrap_or(Move::Pass);
            game.play(mv)?;
            if game.is_over(go::Scoring::PassAlive) || game.turn() >= self.move_limit {
                *game = Game::new(self.size);
            }
        }
        Ok(())
    }
}
