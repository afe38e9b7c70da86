//! Self-play as the stage does it, but for the store: each thread plays its own games on a network of its own.

use std::fmt;
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use cli::{Blame, PlaceArgs};
use config::RunConfig;
use mcts::Evaluate;
use net::{Bare, Model, Precision};
use play::{Contest, Counts, Selfplay, SelfplaySpec};
use record::GameRecord;
use serde::Serialize;

use super::Bench;
use super::clock::{Rate, Stopwatch};
use super::network::model;
use super::subject::{Subject, SubjectArgs};

/// With fewer games ended their rate says little: its error is then more than a fifth.
pub(super) const ENOUGH_GAMES: f64 = 25.0;

/// Arguments of `tengen bench selfplay`.
#[derive(clap::Args, Debug)]
pub(super) struct Args {
    #[command(flatten)]
    subject: SubjectArgs,
    /// Numbers that the network calculates with: auto, f32 or bf16
    #[arg(long, default_value = "auto", value_name = "PRECISION")]
    precision: Precision,
    #[command(flatten)]
    place: PlaceArgs,
}

/// One case.
#[derive(Serialize)]
#[serde(tag = "bench", rename = "selfplay")]
struct Case {
    model: String,
    board: usize,
    blocks: usize,
    filters: usize,
    batch: usize,
    visits: u32,
    threads: usize,
    /// None where too few games ended to say.
    games_per_s: Option<f64>,
    positions_per_s: f64,
    evaluations_per_s: f64,
    network_evaluations_per_s: f64,
    /// Of self-play's evaluations a second to the bare network's with as many threads.
    share: f64,
    /// The same by time on a core, which other work on the machine disturbs less.
    share_of_core_time: f64,
    /// Positions whose evaluation was known from before, of all that were asked for.
    recalled: f64,
    /// Positions asked for in the rows of the batches that were evaluated.
    fill: f64,
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let &Case { board, blocks, filters, batch, visits, threads, .. } = self;
        write!(
            f,
            "selfplay {board}x{board} {blocks}x{filters}, {visits} visits, {threads} threads with batches of {batch}: "
        )?;
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
    for subject in args.subject.subjects(bench.store)? {
        if !bench.stop.requested() {
            bench.report(&measure(bench, args, &subject)?)?;
        }
    }
    Ok(())
}

/// Half of the network's time comes before the games and half after, so that a change in the machine's load shows in
/// both.
fn measure(bench: &Bench<'_>, args: &Args, subject: &Subject) -> anyhow::Result<Case> {
    let config = &subject.config;
    let batch = config.selfplay.batch;
    let device = args.place.device.parse().misconfigured()?;
    let model = model(&subject.weights, device, args.precision, batch)?;
    let threads = args.place.threads();
    let bare = || on_threads(threads, |_| bare(&model, batch, bench.time / 2));
    let mut network = bare()?;
    let games = |thread| play(&model, config, args.place.cache(), thread, bench.time);
    let played = on_threads(threads, games)?;
    network.extend(bare()?);
    // Threads ran side by side, and the two halves one after the other.
    let network = total(&network);
    let network_per_s = network.per_second() * threads as f64;
    let sum = |of: fn(&Played) -> f64| played.iter().map(of).sum::<f64>();
    let evaluations = total(&played.iter().map(|played| played.evaluations).collect::<Vec<_>>());
    let recalled = sum(|played| played.recalled);
    let shape = subject.weights.shape();
    Ok(Case {
        model: subject.name.clone(),
        board: shape.size.side(),
        blocks: shape.blocks,
        filters: shape.filters,
        batch,
        visits: config.search.visits,
        threads,
        games_per_s: (sum(|played| played.games as f64) >= ENOUGH_GAMES).then(|| sum(Played::games_per_second)),
        positions_per_s: sum(Played::positions_per_second),
        evaluations_per_s: sum(|played| played.evaluations.per_second()),
        network_evaluations_per_s: network_per_s,
        share: sum(|played| played.evaluations.per_second()) / network_per_s,
        share_of_core_time: evaluations.per_core() / network.per_core(),
        recalled: recalled / (recalled + evaluations.count),
        fill: evaluations.count / sum(|played| played.rounds) / batch as f64,
    })
}

fn total(rates: &[Rate]) -> Rate {
    rates.iter().fold(Rate::default(), |mut sum, rate| {
        sum += *rate;
        sum
    })
}

pub(super) fn on_threads<T: Send>(
    threads: usize,
    work: impl Fn(usize) -> anyhow::Result<T> + Sync,
) -> anyhow::Result<Vec<T>> {
    std::thread::scope(|scope| {
        let work = &work;
        let threads: Vec<_> = (0..threads).map(|thread| scope.spawn(move || work(thread))).collect();
        threads.into_iter().map(|thread| thread.join().expect("a measurement does not panic")).collect()
    })
}

fn bare(model: &Model, batch: usize, time: Duration) -> anyhow::Result<Rate> {
    let network = Bare::of(model);
    // libtorch prepares its kernels in the first evaluations.
    (0..2).try_for_each(|_| network.evaluate())?;
    Rate::measure(time, || Ok(network.evaluate().map(|()| batch as f64)?))
}

/// What one thread did in the time that counts.
struct Played {
    games: usize,
    positions: f64,
    evaluations: Rate,
    recalled: f64,
    rounds: f64,
}

impl Played {
    fn games_per_second(&self) -> f64 {
        self.games as f64 / self.evaluations.spent.wall.as_secs_f64()
    }

    fn positions_per_second(&self) -> f64 {
        self.positions / self.evaluations.spent.wall.as_secs_f64()
    }
}

/// A self-play game that counts the moves made.
struct Counted<'a> {
    game: Selfplay,
    moves: &'a std::cell::Cell<usize>,
}

impl Contest for Counted<'_> {
    type Finished = GameRecord;

    fn model(&self) -> Option<usize> {
        self.game.model()
    }

    fn push(&mut self, models: &mut [&mut dyn Evaluate], pushed: &mut [usize]) {
        self.game.push(models, pushed);
    }

    fn take(&mut self, models: &[&mut dyn Evaluate]) -> Option<GameRecord> {
        let before = self.game.turns();
        let record = self.game.take(models);
        let after = record.as_ref().map_or(self.game.turns(), |record| record.turns.len());
        self.moves.set(self.moves.get() + after - before);
        record
    }
}

/// Plays for a quarter of the time to get the games apart from each other, and then for the time that counts.
fn play(model: &Model, config: &RunConfig, cache: usize, thread: usize, time: Duration) -> anyhow::Result<Played> {
    let moves = std::cell::Cell::new(0);
    let mut network = model.network(cache);
    let mut started = (0..).map(|index| SelfplaySpec::new(config, "made-up", &thread.to_string(), index, None));
    let mut start = || started.next().map(|spec| Counted { game: Selfplay::new(spec), moves: &moves });
    let games = std::cell::Cell::new(0);
    let began = Instant::now();
    let mut measured = None;
    let mut end = None;
    play::run(
        &mut [&mut network],
        &mut Vec::new(),
        config.selfplay.batch / config.search.leaves,
        &mut start,
        &mut |_| games.set(games.get() + 1),
        &mut |counts| {
            if measured.is_none() && began.elapsed() >= time / 4 {
                moves.set(0);
                games.set(0);
                measured = Some((Stopwatch::start(), counts));
            }
            let Some((watch, before)) = &measured else { return ControlFlow::Continue(()) };
            let spent = watch.spent();
            if spent.wall < time || counts.rounds == before.rounds {
                return ControlFlow::Continue(());
            }
            end = Some((spent, since(*before, counts)));
            ControlFlow::Break(())
        },
    )
    .map_err(|error| anyhow::anyhow!(error))?;
    let (spent, counts) = end.expect("the loop ends when the time is over");
    Ok(Played {
        games: games.get(),
        positions: moves.get() as f64,
        evaluations: Rate { count: counts.evaluations as f64, spent },
        recalled: counts.recalled as f64,
        rounds: counts.rounds as f64,
    })
}

fn since(before: Counts, now: Counts) -> Counts {
    Counts {
        rounds: now.rounds - before.rounds,
        evaluations: now.evaluations - before.evaluations,
        recalled: now.recalled - before.recalled,
    }
}
