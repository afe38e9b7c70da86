//! The network by itself, and how far rounding moves its answers.

use std::fmt;

use go::{Game, Move, Size};
use mcts::{Draw, Evaluator, Request, Ticket, choice};
use net::{Device, InferenceBench, Model, Network, Precision, Weights};
use play::generator;
use runtime::Classify;
use serde::Serialize;

use super::Bench;
use super::clock::Rate;
use super::subject::{Subject, SubjectArgs, Tower};

/// What is compared is measured in so many turns, so that a disturbance hits all of it.
const ROUNDS: u32 = 5;

/// Arguments of `tengen bench network`.
#[derive(clap::Args, Debug)]
pub(super) struct Args {
    #[command(flatten)]
    subject: SubjectArgs,
    /// Positions in a batch; may be given several times
    #[arg(long, default_values = ["1", "8", "64", "256"], value_name = "N", allow_negative_numbers = true, value_parser = runtime::within(1..=65_536_u32))]
    batch: Vec<u32>,
    /// Positions that answers are compared on; 0 leaves the comparison out
    #[arg(long, default_value = "2000", value_name = "N", allow_negative_numbers = true, value_parser = runtime::within(1..=1_000_000_usize))]
    positions: usize,
    /// Where the network runs: auto (a GPU if there is one), cpu, cuda or cuda:N
    #[arg(long, env = "TENGEN_DEVICE", default_value = "auto", value_name = "DEVICE")]
    device: Device,
}

/// Rates of one tower with one batch size, one thread.
#[derive(Serialize)]
#[serde(tag = "bench", rename = "network")]
struct Case {
    #[serde(flatten)]
    tower: Tower,
    batch: u32,
    device: String,
    /// As in play.
    evaluations_per_s: f64,
    evaluations_per_s_per_core: f64,
    gflop_per_s: f64,
    /// As in play but in f32.
    f32_evaluations_per_s: f64,
    /// What nobody made fast.
    plain_evaluations_per_s: f64,
    /// Of as in play to plain, by time on a core.
    ratio: f64,
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Case { tower, batch, evaluations_per_s, gflop_per_s, ratio, .. } = self;
        write!(f, "network {tower}, batches of {batch}, one thread: ")?;
        write!(f, "{evaluations_per_s:.0} evaluations/s ({gflop_per_s:.0} Gflop/s), ")?;
        write!(f, "f32 {:.0}, plain {:.0}: ", self.f32_evaluations_per_s, self.plain_evaluations_per_s)?;
        write!(f, "{ratio:.2} times plain")
    }
}

/// How far the answers in play are from those in f32.
#[derive(Serialize)]
#[serde(tag = "bench", rename = "agreement")]
struct Agreement {
    #[serde(flatten)]
    tower: Tower,
    positions: usize,
    /// Share of positions where both give the same legal move the highest prior.
    top_1: f64,
    /// What the best move of those in play lacks to the best move in f32, by the priors in f32, where they differ.
    mean_prior_lost: f64,
    mean_value_difference: f64,
    max_value_difference: f64,
}

impl fmt::Display for Agreement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Agreement { tower, positions, .. } = self;
        write!(f, "agreement with f32, {tower} ({}), {positions} positions: ", tower.model)?;
        write!(f, "the same best move in {:.2} %, ", 100.0 * self.top_1)?;
        write!(f, "elsewhere one with {:.5} less prior; ", self.mean_prior_lost)?;
        write!(f, "values {:.5} apart, {:.5} at most", self.mean_value_difference, self.max_value_difference)
    }
}

pub(super) fn run(bench: &Bench<'_>, args: &Args) -> anyhow::Result<()> {
    for subject in args.subject.subjects(bench.store)? {
        for &batch in &args.batch {
            if !bench.stop.requested() {
                bench.report(&rates(bench, &subject, args.device, batch)?)?;
            }
        }
        if args.positions > 0 && !bench.stop.requested() {
            bench.report(&agreement(&subject, args)?)?;
        }
    }
    Ok(())
}

fn rates(bench: &Bench<'_>, subject: &Subject, device: Device, batch: u32) -> anyhow::Result<Case> {
    let weights = &subject.weights;
    let of =
        |precision| Ok::<_, anyhow::Error>(InferenceBench::of(&model(weights, device, precision, batch as usize)?));
    let networks: [InferenceBench; 3] =
        [of(Precision::Auto)?, of(Precision::F32)?, InferenceBench::plain(weights, device, batch as usize)?];
    // libtorch prepares its kernels in the first evaluations.
    for network in networks.iter().flat_map(|network| [network; 2]) {
        network.evaluate()?;
    }
    let mut rates = [Rate::default(); 3];
    for _ in 0..ROUNDS {
        for (rate, network) in rates.iter_mut().zip(&networks) {
            *rate += Rate::measure(bench.time / ROUNDS, || Ok(network.evaluate().map(|()| f64::from(batch))?))?;
        }
    }
    let [play, f32, plain] = rates;
    let shape = weights.shape();
    Ok(Case {
        tower: subject.tower(),
        batch,
        device: device.to_string(),
        evaluations_per_s: play.per_second(),
        evaluations_per_s_per_core: play.per_core(),
        gflop_per_s: play.per_second() * shape.operations() as f64 / 1e9,
        f32_evaluations_per_s: f32.per_second(),
        plain_evaluations_per_s: plain.per_second(),
        ratio: play.per_core() / plain.per_core(),
    })
}

pub(super) fn model(weights: &Weights, device: Device, precision: Precision, batch: usize) -> anyhow::Result<Model> {
    Model::new(weights, device, precision, batch).misconfigured()
}

fn agreement(subject: &Subject, args: &Args) -> anyhow::Result<Agreement> {
    const BATCH: usize = 64;
    let (weights, shape) = (&subject.weights, subject.weights.shape());
    let network = |precision| Ok::<_, anyhow::Error>(model(weights, args.device, precision, BATCH)?.network());
    let (mut play, mut exact) = (network(Precision::Auto)?, network(Precision::F32)?);
    let mut games = Games::new(shape.size, subject.config.selfplay.move_limit, BATCH);
    let (mut positions, mut others, mut lost, mut sum, mut most) = (0, 0, 0.0, 0.0, 0.0f64);
    while positions < args.positions {
        let evaluate = |network: &mut Network| -> anyhow::Result<Vec<Ticket>> {
            let submit = |game| network.submit(Request { game, komi: 7.0, draw: Draw::PLAIN });
            let tickets = games.games.iter().map(submit).collect();
            network.flush().map_err(|error| anyhow::anyhow!(error))?;
            Ok(tickets)
        };
        let (play_tickets, exact_tickets) = (evaluate(&mut play)?, evaluate(&mut exact)?);
        for ((game, &play_ticket), &exact_ticket) in games.games.iter().zip(&play_tickets).zip(&exact_tickets) {
            let (play, exact) = (play.get(play_ticket), exact.get(exact_ticket));
            let (chosen, best) = (best_move(game, play.policy), best_move(game, exact.policy));
            others += usize::from(chosen != best);
            lost += f64::from(exact.policy[best] - exact.policy[chosen]);
            let difference = f64::from((play.value.black() - exact.value.black()).abs());
            (sum, most) = (sum + difference, most.max(difference));
        }
        positions += BATCH;
        games.go_on(&exact, &exact_tickets)?;
    }
    Ok(Agreement {
        tower: subject.tower(),
        positions,
        top_1: 1.0 - others as f64 / positions as f64,
        mean_prior_lost: lost / others.max(1) as f64,
        mean_value_difference: sum / positions as f64,
        max_value_difference: most,
    })
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
    rng: play::Seed,
}

impl Games {
    fn new(size: Size, move_limit: usize, count: usize) -> Games {
        Games { size, move_limit, games: vec![Game::new(size); count], rng: generator(1) }
    }

    /// Draws a move in every game from what the network said of it last.
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
