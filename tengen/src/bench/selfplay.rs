//! Self-play as the stage does it, but for the store: each thread plays its own games on a network of its own.

use std::fmt;
use std::sync::Arc;

use config::RunConfig;
use mcts::Evaluator;
use net::{Device, InferenceBench, Model, Precision};
use play::{Cached, EvaluatorCounts, EvaluatorStats, Instrumented};
use runtime::{Classify, ResourceArgs};
use serde::Serialize;

use super::Bench;
use super::clock::Rate;
use super::network::model;
use super::null_network;
use super::played::{Played, evaluations, games_per_second, on_threads, per_second, selfplay, total};
use super::subject::{Subject, SubjectArgs, Tower};

/// Arguments of `tengen bench selfplay`.
#[derive(clap::Args, Debug)]
pub(super) struct Args {
    #[command(flatten)]
    subject: SubjectArgs,
    /// Precision of inference: auto, int16 (CPU), f32 or bf16
    #[arg(long, default_value = "auto", value_name = "PRECISION")]
    precision: Precision,
    /// Replace the network by fixed outputs; planes are still written
    #[arg(long, conflicts_with = "precision")]
    null_network: bool,
    #[command(flatten)]
    resources: ResourceArgs,
}

/// One case.
#[derive(Serialize)]
#[serde(tag = "bench", rename = "selfplay")]
pub(super) struct Case {
    #[serde(flatten)]
    tower: Tower,
    batch: usize,
    visits: u32,
    threads: usize,
    /// None where too few games ended to say.
    games_per_s: Option<f64>,
    pub(super) positions_per_s: f64,
    pub(super) evaluations_per_s: f64,
    pub(super) network_evaluations_per_s: f64,
    /// Of self-play's evaluations a second to the bare network's with as many threads.
    share: f64,
    /// The same by time on a core, which other work on the machine disturbs less.
    share_of_core_time: f64,
    /// Positions whose evaluation was known from before, of all that were requested.
    recalled: f64,
    /// Positions requested in the rows of the batches that were evaluated.
    fill: f64,
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Case { tower, batch, visits, threads, .. } = self;
        write!(f, "selfplay {tower}, {visits} visits, {threads} threads with batches of {batch}: ")?;
        let games = self.games_per_s.map_or("too few games to count".to_owned(), |games| format!("{games:.2} games/s"));
        write!(f, "{games}, {:.0} positions/s, ", self.positions_per_s)?;
        write!(f, "{:.0} evaluations/s, ", self.evaluations_per_s)?;
        write!(f, "{:.1} % of the bare network's {:.0}; ", 100.0 * self.share, self.network_evaluations_per_s)?;
        write!(f, "{:.1} % by time on a core, ", 100.0 * self.share_of_core_time)?;
        write!(f, "batches {:.1} % full, ", 100.0 * self.fill)?;
        write!(f, "{:.1} % of the positions known from before", 100.0 * self.recalled)
    }
}

pub(super) fn run(bench: &Bench<'_>, args: &Args) -> anyhow::Result<()> {
    if args.null_network {
        // Towers differ in nothing then.
        let subjects = args.subject.subjects(bench.store)?;
        return subjects
            .iter()
            .take(1)
            .try_for_each(|subject| bench.report(&null_network::measure(bench, &args.resources, subject)?));
    }
    for subject in args.subject.subjects(bench.store)? {
        if !bench.stop.requested() {
            bench.report(&measure(bench, &args.resources, args.precision, &subject)?)?;
        }
    }
    Ok(())
}

/// Half of the network's time comes before the games and half after, so that a change in the machine's load shows in
/// both.
pub(super) fn measure(
    bench: &Bench<'_>,
    place: &ResourceArgs,
    precision: Precision,
    subject: &Subject,
) -> anyhow::Result<Case> {
    let config = &subject.config;
    let batch = config.selfplay.batch;
    let device: Device = place.device().parse().misconfigured()?;
    let model = model(&subject.weights, device, precision, batch)?;
    let threads = place.search_threads(device.is_gpu());
    let bare = || on_threads(threads, |_| bare(bench, &model, batch));
    let mut network = bare()?;
    let played = on_threads(threads, |thread| of_thread(bench, &model, config, place.cache(), thread))?;
    network.extend(bare()?);
    // Threads ran side by side, and the two halves one after the other.
    let network = total(&network);
    let network_per_s = network.per_second() * threads as f64;
    let sum = |of: fn(&EvaluatorCounts) -> u64| played.iter().map(|played| of(&played.counts)).sum::<u64>() as f64;
    let evaluated = total(&played.iter().map(evaluations).collect::<Vec<_>>());
    let evaluations_per_s = per_second(&played, |played| played.counts.evaluations as f64);
    let recalled = sum(|counts| counts.cache_hits);
    Ok(Case {
        tower: subject.tower(),
        batch,
        visits: config.search.visits,
        threads,
        games_per_s: games_per_second(&played),
        positions_per_s: per_second(&played, |played| played.moves as f64),
        evaluations_per_s,
        network_evaluations_per_s: network_per_s,
        share: evaluations_per_s / network_per_s,
        share_of_core_time: evaluated.per_core() / network.per_core(),
        recalled: recalled / (recalled + evaluated.count),
        fill: evaluated.count / sum(|counts| counts.slots),
    })
}

/// Half of the network's time.
fn bare(bench: &Bench<'_>, model: &Model, batch: usize) -> anyhow::Result<Rate> {
    let mut network = InferenceBench::of(model);
    // libtorch prepares its kernels in the first evaluations.
    (0..2).try_for_each(|_| network.evaluate())?;
    Rate::measure(bench.time / 2, bench.stop, || Ok(network.evaluate().map(|()| batch as f64)?))
}

/// Self-play with a network on one thread for a time.
pub(super) fn of_thread(
    bench: &Bench<'_>,
    model: &Model,
    config: &RunConfig,
    cache: usize,
    thread: usize,
) -> anyhow::Result<Played> {
    let stats = Arc::new(EvaluatorStats::default());
    selfplay(&mut evaluator(model, cache, &stats), &stats, config, thread, bench.time, bench.stop)
}

/// The evaluator of a thread of self-play.
fn evaluator(model: &Model, cache: usize, stats: &Arc<EvaluatorStats>) -> impl Evaluator + use<> {
    Instrumented::new(Cached::new(model.network(), model.shape().size, cache), Arc::clone(stats))
}
