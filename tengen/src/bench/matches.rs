//! Matches of two different models beside self-play of one of them, at equal visits.
//!
//! Visits count those inherited from the move before. In self-play that is the same player's move, in a match two moves lie
//! between, so as a rule a match inherits less and has more to evaluate for each position. Where trees are kept, both are
//! measured once more without: then a move takes the same evaluations in either.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use config::RunConfig;
use mcts::Settings;
use net::{Model, Precision, Weights};
use play::{Budget, By, EvaluatorStats, Match, MatchSpec, Side};
use runtime::{Classify, PlaceArgs};
use serde::Serialize;

use super::Bench;
use super::network::model;
use super::played::{Played, games_per_second, on_threads, per_second, play};
use super::selfplay;
use super::subject::{Subject, SubjectArgs, Tower};

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
    #[serde(flatten)]
    tower: Tower,
    /// Positions in a batch of either model.
    batch: usize,
    visits: u32,
    /// Whether the tree below the move that was played is kept, `search.reuse`.
    reuse: bool,
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
    /// Evaluations for each position of a match; none where the time was too short for a move.
    evaluations_per_position: Option<f64>,
    selfplay_evaluations_per_position: Option<f64>,
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Case { tower, batch, visits, threads, .. } = self;
        let inherited = if self.reuse { "" } else { ", none inherited" };
        write!(f, "match {tower}, {visits} visits{inherited}, {threads} threads with batches of {batch}: ")?;
        let games = |rate: Option<f64>| match rate {
            Some(rate) => format!("{rate:.2} games/s"),
            None => "too few games to count".to_owned(),
        };
        write!(f, "{}, {:.0} positions/s, ", games(self.games_per_s), self.positions_per_s)?;
        write!(f, "{:.1} % of self-play's {:.0} ", 100.0 * self.share, self.selfplay_positions_per_s)?;
        write!(f, "({}); batches {:.1} % full; ", games(self.selfplay_games_per_s), 100.0 * self.fill)?;
        let rate = |rate: Option<f64>| rate.map_or("unknown".to_owned(), |rate| format!("{rate:.2}"));
        let (own, theirs) = (rate(self.evaluations_per_position), rate(self.selfplay_evaluations_per_position));
        write!(f, "{own} evaluations a position, {theirs} in self-play")
    }
}

pub(super) fn run(bench: &Bench<'_>, args: &Args) -> anyhow::Result<()> {
    for subject in args.subject.subjects(bench.store)? {
        for reuse in if subject.config.search.reuse { vec![true, false] } else { vec![false] } {
            if !bench.stop.requested() {
                let mut config = subject.config.clone();
                config.search.reuse = reuse;
                bench.report(&measure(bench, args, &subject, &config)?)?;
            }
        }
    }
    Ok(())
}

/// Half of self-play's time comes before the matches and half after, so that a change in the machine's load shows in both.
fn measure(bench: &Bench<'_>, args: &Args, subject: &Subject, config: &RunConfig) -> anyhow::Result<Case> {
    let batch = config.selfplay.batch;
    let device = args.place.device.parse().misconfigured()?;
    let shape = subject.weights.shape();
    let first = model(&subject.weights, device, Precision::Auto, batch)?;
    let second = model(&Weights::synthetic(shape, 2), device, Precision::Auto, batch)?;
    let (threads, cache) = (args.place.threads(), args.place.cache());
    let alone = || on_threads(threads, |thread| selfplay::play(&first, config, cache, thread, bench.time / 2));
    let before = alone()?;
    let met = on_threads(threads, |thread| matches([&first, &second], config, cache, thread, bench.time))?;
    let after = alone()?;
    let positions = |all: &[Played]| per_second(all, |played| played.moves as f64);
    let own = (positions(&before) + positions(&after)) / 2.0;
    let own_games =
        games_per_second(&before).zip(games_per_second(&after)).map(|(before, after)| (before + after) / 2.0);
    let evaluations = |all: &[Played]| all.iter().map(|played| played.counts.evaluations).sum::<u64>() as f64;
    let moves = |all: &[Played]| all.iter().map(|played| played.moves).sum::<usize>() as f64;
    let room: u64 = met.iter().map(|played| played.counts.slots).sum();
    Ok(Case {
        tower: subject.tower(),
        batch,
        visits: config.search.visits,
        reuse: config.search.reuse,
        threads,
        games_per_s: games_per_second(&met),
        positions_per_s: positions(&met),
        selfplay_games_per_s: own_games,
        selfplay_positions_per_s: own,
        share: positions(&met) / own,
        fill: evaluations(&met) / room as f64,
        evaluations_per_position: ratio(evaluations(&met), moves(&met)),
        selfplay_evaluations_per_position: ratio(
            evaluations(&before) + evaluations(&after),
            moves(&before) + moves(&after),
        ),
    })
}

fn ratio(evaluations: f64, moves: f64) -> Option<f64> {
    (moves > 0.0).then(|| evaluations / moves)
}

fn matches(
    models: [&Model; 2],
    config: &RunConfig,
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
    let stats = Arc::new(EvaluatorStats::default());
    let [mut one, mut other] = models.map(|model| selfplay::evaluator(model, cache, &stats));
    let slots = 2 * config.selfplay.batch / config.search.leaves;
    play(&mut [&mut one, &mut other], &stats, slots, &mut start, time)
}
