//! Matches of two different models beside self-play of one of them, at equal visits.

use std::cell::Cell;
use std::fmt;
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use cli::{Blame, PlaceArgs};
use config::RunConfig;
use mcts::{Evaluate, Settings};
use net::{Model, Precision, Weights};
use play::{Budget, By, Contest, Counts, Match, MatchSpec, Selfplay, SelfplaySpec, Side, Void};
use record::GameRecord;
use serde::Serialize;

use super::Bench;
use super::network::model;
use super::selfplay::{ENOUGH_GAMES, on_threads};
use super::subject::{Subject, SubjectArgs};

/// Arguments of `tengen bench match`.
#[derive(clap::Args, Debug)]
pub(super) struct Args {
    #[command(flatten)]
    subject: SubjectArgs,
    #[command(flatten)]
    place: PlaceArgs,
}

/// One case.
#[derive(Serialize)]
#[serde(tag = "bench", rename = "match")]
struct Case {
    model: String,
    board: usize,
    blocks: usize,
    filters: usize,
    /// Positions in a batch of either model.
    batch: usize,
    visits: u32,
    threads: usize,
    /// None where too few games ended to say.
    games_per_s: Option<f64>,
    positions_per_s: f64,
    /// None where too few games ended to say.
    selfplay_games_per_s: Option<f64>,
    selfplay_positions_per_s: f64,
    /// Of the positions a second; games of matches and of self-play differ in length.
    share: f64,
    /// Positions in the rows of the batches that were evaluated.
    fill: f64,
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let &Case { board, blocks, filters, batch, visits, threads, .. } = self;
        write!(
            f,
            "match {board}x{board} {blocks}x{filters}, {visits} visits, {threads} threads with batches of {batch}: "
        )?;
        let games = |rate: Option<f64>| match rate {
            Some(rate) => format!("{rate:.2} games/s"),
            None => "too few games to count".to_owned(),
        };
        write!(f, "{}, {:.0} positions/s, ", games(self.games_per_s), self.positions_per_s)?;
        write!(f, "{:.1} % of self-play's {:.0} ", 100.0 * self.share, self.selfplay_positions_per_s)?;
        write!(f, "({}); batches {:.1} % full", games(self.selfplay_games_per_s), 100.0 * self.fill)
    }
}

pub(super) fn run(bench: &Bench<'_>, args: &Args) -> anyhow::Result<()> {
    for subject in args.subject.subjects(bench.store)? {
        for batch in [evaluator::batch(&subject.config), subject.config.selfplay.batch] {
            if !bench.stop.requested() {
                bench.report(&measure(bench, args, &subject, batch)?)?;
            }
        }
    }
    Ok(())
}

/// Half of self-play's time comes before the matches and half after, so that a change in the machine's load shows in both.
fn measure(bench: &Bench<'_>, args: &Args, subject: &Subject, batch: usize) -> anyhow::Result<Case> {
    let config = &subject.config;
    let device = args.place.device.parse().misconfigured()?;
    let shape = subject.weights.shape();
    let first = model(&subject.weights, device, Precision::Auto, batch)?;
    let second = model(&Weights::synthetic(shape, 2), device, Precision::Auto, batch)?;
    let player = model(&subject.weights, device, Precision::Auto, config.selfplay.batch)?;
    let (threads, cache) = (args.place.threads(), args.place.cache());
    let alone = || on_threads(threads, |thread| selfplay(&player, config, cache, thread, bench.time / 2));
    let mut own = alone()?;
    let met = on_threads(threads, |thread| matches([&first, &second], config, batch, cache, thread, bench.time))?;
    own.extend(alone()?);
    // Threads ran side by side, and the two halves one after the other.
    let rate = |of: Count, all: &[Played]| {
        let seconds = all.iter().map(|played| played.seconds).sum::<f64>() / threads as f64;
        all.iter().map(of).sum::<f64>() / seconds
    };
    let (games, positions): (Count, Count) = (|played| played.games, |played| played.moves);
    let enough = |all: &[Played]| all.iter().map(games).sum::<f64>() >= ENOUGH_GAMES;
    let evaluations: u64 = met.iter().map(|played| played.counts.evaluations).sum();
    let rounds: u64 = met.iter().map(|played| played.counts.rounds).sum();
    Ok(Case {
        model: subject.name.clone(),
        board: shape.size.side(),
        blocks: shape.blocks,
        filters: shape.filters,
        batch,
        visits: config.search.visits,
        threads,
        games_per_s: enough(&met).then(|| rate(games, &met)),
        positions_per_s: rate(positions, &met),
        selfplay_games_per_s: enough(&own).then(|| rate(games, &own)),
        selfplay_positions_per_s: rate(positions, &own),
        share: rate(positions, &met) / rate(positions, &own),
        fill: evaluations as f64 / rounds as f64 / batch as f64,
    })
}

/// Something that a thread did so often.
type Count = fn(&Played) -> f64;

/// What one thread did.
struct Played {
    games: f64,
    moves: f64,
    counts: Counts,
    seconds: f64,
}

fn selfplay(model: &Model, config: &RunConfig, cache: usize, thread: usize, time: Duration) -> anyhow::Result<Played> {
    let mut started = (0..).map(|index| SelfplaySpec::new(config, "made-up", &thread.to_string(), index, None));
    let mut start = || started.next().map(Selfplay::new);
    let slots = config.selfplay.batch / config.search.leaves;
    play(&mut [&mut model.network(cache)], slots, &mut start, time)
}

fn matches(
    models: [&Model; 2],
    config: &RunConfig,
    batch: usize,
    cache: usize,
    thread: usize,
    time: Duration,
) -> anyhow::Result<Played> {
    let settings = Settings::new(&config.search, &config.game);
    let budget = Budget { visits: config.search.visits, leaves: config.search.leaves };
    let side = |name: &str, place| Side { name: format!("{name}{thread}"), by: By::Model { place, settings, budget } };
    let (first, second) = (side("one", 0), side("other", 1));
    let mut started = (0..).map(|index| MatchSpec::new(config, &first, &second, index));
    let mut nobody = |_: &MatchSpec, _| unreachable!("both sides are models");
    let mut start = || started.next().map(|spec| Match::new(spec, &mut nobody));
    let [mut one, mut other] = models.map(|model| model.network(cache));
    let slots = 2 * batch / config.search.leaves;
    play(&mut [&mut one, &mut other], slots, &mut start, time)
}

/// A game whose moves can be counted.
trait Turns: Contest {
    /// Moves made so far.
    fn turns(&self) -> usize;
    /// Moves of a game that is over.
    fn turns_of(finished: &Self::Finished) -> usize;
}

impl Turns for Selfplay {
    fn turns(&self) -> usize {
        self.turns()
    }

    fn turns_of(finished: &GameRecord) -> usize {
        finished.turns.len()
    }
}

impl Turns for Match {
    fn turns(&self) -> usize {
        self.turns()
    }

    fn turns_of(finished: &Result<GameRecord, Void>) -> usize {
        finished.as_ref().map_or(0, |record| record.turns.len())
    }
}

/// Counts moves as they are made.
struct Counted<'a, G> {
    game: G,
    moves: &'a Cell<usize>,
}

impl<G: Turns> Contest for Counted<'_, G> {
    type Finished = G::Finished;

    fn model(&self) -> Option<usize> {
        self.game.model()
    }

    fn push(&mut self, models: &mut [&mut dyn Evaluate], pushed: &mut [usize]) {
        self.game.push(models, pushed);
    }

    fn take(&mut self, models: &[&mut dyn Evaluate]) -> Option<G::Finished> {
        let before = self.game.turns();
        let finished = self.game.take(models);
        let after = finished.as_ref().map_or(self.game.turns(), G::turns_of);
        self.moves.set(self.moves.get() + after - before);
        finished
    }
}

/// Plays for a quarter of the time to get the games apart from each other, and then for the time that counts.
fn play<G: Turns>(
    models: &mut [&mut dyn Evaluate],
    slots: usize,
    start: &mut dyn FnMut() -> Option<G>,
    time: Duration,
) -> anyhow::Result<Played> {
    let (games, moves) = (Cell::new(0), Cell::new(0));
    let mut start = || start().map(|game| Counted { game, moves: &moves });
    let began = Instant::now();
    let mut measured: Option<(Instant, Counts)> = None;
    let mut end = None;
    play::run(models, &mut Vec::new(), slots, &mut start, &mut |_| games.set(games.get() + 1), &mut |counts| {
        if measured.is_none() && began.elapsed() >= time / 4 {
            games.set(0);
            moves.set(0);
            measured = Some((Instant::now(), counts));
        }
        let Some((since, before)) = &measured else { return ControlFlow::Continue(()) };
        if since.elapsed() < time {
            return ControlFlow::Continue(());
        }
        let counts = Counts {
            rounds: counts.rounds - before.rounds,
            evaluations: counts.evaluations - before.evaluations,
            recalled: counts.recalled - before.recalled,
        };
        end.get_or_insert(Played {
            games: f64::from(games.get()),
            moves: moves.get() as f64,
            counts,
            seconds: since.elapsed().as_secs_f64(),
        });
        ControlFlow::Break(())
    })
    .map_err(|error| anyhow::anyhow!(error))?;
    Ok(end.expect("the loop ends when the time is over"))
}
