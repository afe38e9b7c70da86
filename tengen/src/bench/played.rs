//! Games on one thread, counted for a time.

use std::cell::Cell;
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use config::RunConfig;
use mcts::Evaluator;
use play::{EvaluatorCounts, EvaluatorStats, Selfplay, SelfplaySpec};
use record::GameRecord;
use runtime::Stop;

use super::clock::{Rate, Spent, Stopwatch};

/// With fewer games ended their rate says little: its error is then more than a fifth.
const ENOUGH_GAMES: usize = 25;

/// What one thread did in the time that counts.
pub(super) struct Played {
    pub(super) games: usize,
    pub(super) moves: usize,
    pub(super) counts: EvaluatorCounts,
    pub(super) spent: Spent,
}

/// What several threads did side by side; `None` where too few games ended to say how many do in a second.
pub(super) fn games_per_second(all: &[Played]) -> Option<f64> {
    let enough = all.iter().map(|played| played.games).sum::<usize>() >= ENOUGH_GAMES;
    enough.then(|| per_second(all, |played| played.games as f64))
}

/// Things that each of several threads did in a second of its own, together.
pub(super) fn per_second(all: &[Played], things: impl Fn(&Played) -> f64) -> f64 {
    all.iter().map(|played| things(played) / played.spent.wall.as_secs_f64()).sum()
}

/// Self-play on one thread, with an evaluator that counts into `stats`: for a quarter of the time to get the games
/// apart from each other, and then for the time that counts. It ends early when `stop` is requested.
pub(super) fn selfplay(
    evaluator: &mut dyn Evaluator,
    stats: &EvaluatorStats,
    config: &RunConfig,
    thread: usize,
    time: Duration,
    stop: &Stop,
) -> anyhow::Result<Played> {
    let config = config.at(0);
    let slots = config.selfplay_slots();
    // Games that have ended, the moves of these, and the moves that games had at their beginning.
    let [games, ended, given] = [0_usize; 3].map(Cell::new);
    let mut specs = (0..).map(|index| SelfplaySpec::new(&config, "made-up", &thread.to_string(), index, None));
    let mut start = || {
        let game = Selfplay::new(specs.next()?);
        given.set(given.get() + game.turns());
        Some(game)
    };
    let mut finish = |game: GameRecord| {
        games.set(games.get() + 1);
        ended.set(ended.get() + game.turns.len());
    };
    let moves = |playing: &[Selfplay]| ended.get() + playing.iter().map(Selfplay::turns).sum::<usize>() - given.get();
    let began = Instant::now();
    let mut measured: Option<(Stopwatch, EvaluatorCounts, usize)> = None;
    let mut end = None;
    let mut watch = |playing: &[Selfplay]| {
        let (counts, stopped) = (stats.counts(), stop.requested());
        if measured.is_none() && (stopped || began.elapsed() >= time / 4) {
            games.set(0);
            measured = Some((Stopwatch::start(), counts, moves(playing)));
        }
        let Some((clock, before, moves_before)) = &measured else { return ControlFlow::Continue(()) };
        let spent = clock.spent();
        if !stopped && (spent.wall < time || counts.batches == before.batches) {
            return ControlFlow::Continue(());
        }
        // The request during the last batch does not count.
        let moves = moves(playing) - *moves_before;
        end.get_or_insert(Played { games: games.get(), moves, counts: counts.since(*before), spent });
        ControlFlow::Break(())
    };
    play::run(&mut [evaluator], &mut Vec::new(), slots, &mut start, &mut finish, &mut watch)
        .map_err(|error| anyhow::anyhow!(error))?;
    Ok(end.expect("the loop sets it in its last round"))
}

/// Does the same on several threads at once.
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

/// Of several threads together.
pub(super) fn total(rates: &[Rate]) -> Rate {
    rates.iter().fold(Rate::default(), |mut sum, rate| {
        sum += *rate;
        sum
    })
}

/// Positions that a thread evaluated.
pub(super) fn evaluations(played: &Played) -> Rate {
    Rate { count: played.counts.evaluations as f64, spent: played.spent }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use config::Preset;
    use play::{Instrumented, RandomModel};

    use super::*;

    #[test]
    fn selfplay_ends_when_a_stop_is_requested() {
        let (stats, stop) = (Arc::new(EvaluatorStats::default()), Stop::never());
        let mut evaluator = Instrumented::new(RandomModel::new(), Arc::clone(&stats));
        stop.request();
        let (config, day) = (Preset::NineByNine.config(), Duration::from_secs(24 * 3600));
        let played = selfplay(&mut evaluator, &stats, &config, 0, day, &stop).unwrap();
        assert_eq!(played.games, 0);
    }
}
