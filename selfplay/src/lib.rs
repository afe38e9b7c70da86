//! The selfplay stage: plays games with a model and publishes them, many to a file.
//!
//! The cast: [`play`] splits the wanted games over worker threads; each thread (`worker`) keeps its own games going on
//! a network of its own; finished records come back over one channel to the calling thread, which publishes them
//! (`shelf`). Which games are wanted follows from what is published already, so the work can be killed and started
//! again at any time, and goes on where it was.
//!
//! A worker that follows a run plays one job after the other. Between them games are finished first, or handed to the
//! newer model where they are ([`Unfinished`]), as the run's configuration says. When the process is to stop they are given up,
//! or left in the store for others (`handed`), as the job says.

mod bound;
pub mod command;
mod error;
mod handed;
mod models;
mod monitor;
mod shelf;
mod threshold;
mod worker;

use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use cli::{Stop, human, metrics};
use config::{Algorithm, ModelConfig, ModelId, RunConfig, Search};
use play::{EvaluatorCounts, EvaluatorStats, Selfplay};
use record::Totals;
use store::Run;

pub use error::SelfplayError;
pub use models::Model;
pub use threshold::Threshold;

use handed::Taken;
use monitor::Monitor;
use shelf::Shelf;

/// What to play.
#[derive(Clone, Debug)]
pub struct Job {
    /// The run the games belong to.
    pub config: RunConfig,
    /// The model that plays both sides.
    pub model: ModelId,
    /// Name of this worker; games of different workers differ.
    pub worker: String,
    /// Games this worker shall have published with this model when the job is done.
    pub games: u64,
    /// Worker threads.
    pub threads: usize,
    /// Bytes for evaluations that are needed again, for each thread.
    pub cache: usize,
    /// Whether games say when they were played.
    pub times: bool,
    /// Whether games in progress are left to others when the process is to stop, and such games are gone on with.
    pub hand_on: bool,
    /// Whether other models play next, so that games of any may be gone on with.
    pub follows: bool,
    /// Root value for the mover below which it resigns, if anybody may, in the games that are still to be started.
    pub threshold: Threshold,
}

/// Games in progress that a job leaves to the next one.
#[derive(Debug, Default)]
pub struct Unfinished {
    /// For each worker thread.
    games: Vec<Vec<Selfplay>>,
    /// Where those come from that other processes began.
    taken: Taken,
}

/// How far a job is.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Progress {
    /// Games published or ready to be, those of earlier processes included.
    pub games: u64,
    /// Games wanted.
    pub wanted: u64,
    /// Games finished by this process.
    pub finished: u64,
    /// Moves in those games.
    pub moves: u64,
    /// Evaluations of this process.
    pub evaluator: EvaluatorCounts,
    /// Visits by which the moves of the finished games were chosen.
    pub visits: u64,
    /// Games in progress that were given up because the process was asked to stop.
    pub abandoned: u64,
    /// Games in progress that were left to others for that reason.
    pub left: u64,
    /// Time since this process began the job.
    pub time: Duration,
}

/// What all threads of a job share.
pub(crate) struct Shared<'a> {
    pub(crate) job: &'a Job,
    /// As the model plays by it.
    pub(crate) config: &'a ModelConfig,
    /// Name of the series the games belong to.
    pub(crate) series: &'a str,
    /// Games of the series that are not to be begun.
    pub(crate) begun: &'a BTreeSet<u64>,
    pub(crate) stats: Arc<EvaluatorStats>,
    /// No more games are to be started.
    pub(crate) enough: AtomicBool,
    pub(crate) stop: &'a Stop,
}

/// Plays until the wanted games are published, or `stop` is requested; then games in progress are given up, or left to others
/// ([`Job::hand_on`]), and what is finished is published all the same.
///
/// `watch` is told several times a second how far the job is; when it breaks no more games are started, and those in
/// progress are finished, or left in `unfinished` if the configuration says so. Games in `unfinished` are gone on with
/// first; they count for the model that began them.
///
/// # Errors
/// The model cannot be opened or fails, or the store refuses the games. Games that were published stay published.
pub fn play(
    run: &Run,
    job: &Job,
    model: &Model,
    unfinished: &mut Unfinished,
    stop: &Stop,
    watch: &mut dyn FnMut(Progress) -> ControlFlow<()>,
) -> Result<Progress, SelfplayError> {
    let (number, series) = models::series(&job.model, &job.worker);
    let config = job.config.at(job.model.number());
    unfinished.games.resize_with(job.threads, Vec::new);
    if job.hand_on {
        unfinished.take(run, job)?;
    }
    let (begun, here) = handed::begun(run, job, unfinished)?;
    let began = Instant::now();
    let done = begun.range(..job.games).filter(|index| !here.contains(index)).count() as u64;
    let mut totals = Totals::default();
    let mut progress = Progress { games: done, wanted: job.games, ..Progress::default() };
    let mut monitor = Monitor::begin(number, progress);
    let Unfinished { games: in_progress, taken } = unfinished;
    let mut shelf = Shelf::new(run, &job.worker, config.selfplay.games_per_file, taken);
    let name = job.model.to_string();
    let shared = Shared {
        job,
        config: &config,
        series: &series,
        begun: &begun,
        stats: Arc::default(),
        enough: AtomicBool::new(false),
        stop,
    };
    std::thread::scope(|scope| {
        // Threads that finish games faster than those are published wait, so that little is left to publish when the process
        // is to stop.
        let (sender, finished) = mpsc::sync_channel(config.selfplay.games_per_file);
        let threads: Vec<_> = (in_progress.iter_mut().enumerate())
            .map(|(thread, games)| {
                let (shared, sender) = (&shared, sender.clone());
                scope.spawn(move || worker::play(shared, thread, model, games, &sender))
            })
            .collect();
        drop(sender);
        loop {
            match finished.recv_timeout(Duration::from_millis(200)) {
                Ok(record) => {
                    let record: record::GameRecord = record;
                    if record.black == name && record.worker == series {
                        progress.games += 1;
                        totals.add(&record);
                    }
                    progress.finished += 1;
                    progress.moves += record.turns.len() as u64;
                    progress.visits += monitor::visits(&record, &config);
                    shelf.put(record)?;
                }
                Err(mpsc::RecvTimeoutError::Timeout) => shelf.publish_if_old()?,
                Err(mpsc::RecvTimeoutError::Disconnected) => break,
            }
            progress.evaluator = shared.stats.counts();
            progress.time = began.elapsed();
            monitor.note(progress, shelf.games(), job.threshold.get());
            if watch(progress).is_break() {
                shared.enough.store(true, Ordering::Relaxed);
            }
        }
        shelf.publish()?;
        monitor.note(progress, shelf.games(), job.threshold.get());
        report(job, &totals);
        threads.into_iter().try_for_each(|thread| thread.join().expect("a worker thread does not panic"))
    })?;
    if stop.requested() {
        let games = unfinished.count();
        progress.left = put_down(run, &job.worker, job.hand_on, unfinished)?;
        progress.abandoned = games - progress.left;
    }
    Ok(progress)
}

/// Leaves games in progress to others, or gives them up, since the process is to stop; answers how many it left.
fn put_down(run: &Run, worker: &str, hand_on: bool, unfinished: &mut Unfinished) -> Result<u64, SelfplayError> {
    let games = unfinished.count();
    let done = if hand_on { unfinished.leave(run, worker) } else { Ok(0) };
    let left = *done.as_ref().unwrap_or(&0);
    metrics::GAMES_LEFT.add(left);
    metrics::GAMES_ABANDONED.add(games - left);
    if left > 0 {
        tracing::info!(games = left, "left games in progress to other workers");
    } else {
        tracing::info!(games = games - left, "gave up games in progress");
    }
    done
}

/// Logs what the games of a model were like.
fn report(job: &Job, totals: &Totals) {
    let Job { config, model, .. } = job;
    tracing::info!(
        %model,
        games = totals.games(),
        mean_value = totals.mean_value(),
        mean_depth = totals.mean_depth(),
        mean_length = totals.mean_length(),
        black_won = totals.black_share(),
        "games of this model"
    );
    let search = config.search.at(model.number());
    if let Some(depth) = totals.mean_depth().filter(|&depth| looks_one_move_ahead(&search, depth)) {
        let Search { visits, gumbel_moves, .. } = search;
        tracing::warn!(
            %model,
            "searches look one move ahead (mean depth {depth:.2}): {visits} visits are spread over {gumbel_moves} moves; with fewer \
             search.gumbel_moves or more search.visits they read on"
        );
    }
}

/// Whether a Gumbel search gives nearly every move that it considers its first visit, and nothing more. With 16 visits for 16 moves
/// that is so, and the same visits for 4 moves play 270 Elo better (RESULTS.md, "how many moves a Gumbel search considers").
fn looks_one_move_ahead(search: &Search, mean_depth: f64) -> bool {
    search.algorithm == Algorithm::Gumbel && search.visits > 2 && mean_depth < 1.2
}

/// What a second brings, for people.
pub fn rates(progress: &Progress) -> String {
    let rate = |number| human::rate(number, progress.time);
    let (games, moves) = (rate(progress.finished), rate(progress.moves));
    let EvaluatorCounts { evaluations, cache_hits, .. } = progress.evaluator;
    let hits = 100.0 * cache_hits as f64 / (evaluations + cache_hits).max(1) as f64;
    format!("{games} games, {moves} positions, {} evaluations, {hits:.0} % cache hits", rate(evaluations))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn searches_that_do_not_read_are_told_from_others() {
        let config = config::Preset::NineByNine.config();
        let gumbel = Search { algorithm: Algorithm::Gumbel, visits: 16, ..config.search };
        assert!(looks_one_move_ahead(&gumbel, 1.02));
        assert!(!looks_one_move_ahead(&gumbel, 1.47));
        assert!(!looks_one_move_ahead(&Search { visits: 2, ..gumbel.clone() }, 1.0), "two visits cannot read");
        assert!(
            !looks_one_move_ahead(&Search { algorithm: Algorithm::Puct, ..gumbel }, 1.0),
            "one good move may be all"
        );
    }
}
