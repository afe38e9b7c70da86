//! What a worker reports of its games: a progress bar, log lines and metrics.

use config::ModelId;
use play::EvaluatorCounts;
use runtime::{Health, Reporter, format, metrics};

use crate::{Event, JobProgress};

/// Reports to the terminal or the log, the metrics and the health of this process.
#[derive(Debug)]
pub struct Console {
    health: Health,
    job: Option<Job>,
}

impl Console {
    /// A console of a process.
    pub fn new(health: Health) -> Console {
        Console { health, job: None }
    }
}

/// The job that is being played.
#[derive(Debug)]
struct Job {
    model: ModelId,
    bar: runtime::Progress,
    /// What the metrics know of it.
    noted: JobProgress,
}

impl Reporter<Event> for Console {
    fn report(&mut self, event: Event) {
        match event {
            Event::Playing { model, games } => {
                self.health.set_ready();
                metrics::MODEL.set(model.number());
                metrics::MODEL_SINCE.set_to_now();
                count_handed_off(0, 0);
                metrics::GAMES_RESUMED.add(0);
                let bar = runtime::Progress::new(model.to_string(), games);
                self.job = Some(Job { model, bar, noted: JobProgress::default() });
            }
            Event::Progress(progress) => self.job.iter_mut().for_each(|job| job.note(progress, &self.health)),
            Event::Played(progress) => {
                count_handed_off(progress.handed_off, progress.discarded);
                let Some(mut job) = self.job.take() else { return };
                job.note(progress, &self.health);
                if progress.finished > 0 {
                    job.bar.finish();
                }
                let JobProgress { finished, games, .. } = progress;
                let rates = rates(&progress);
                tracing::info!(model = %job.model, games = finished, published = games, rates, "played");
            }
            Event::GamesStopped { handed_off, discarded } => count_handed_off(handed_off, discarded),
        }
    }
}

impl Job {
    fn note(&mut self, now: JobProgress, health: &Health) {
        if self.noted == JobProgress::default() {
            self.bar.skip(now.games.saturating_sub(now.finished));
        }
        self.bar.set(now.games);
        let resigning = now.threshold.map_or_else(String::new, |bound| format!(", resigns below {bound:.2}"));
        self.bar.note(format!("{}{resigning}", rates(&now)));
        let before = std::mem::replace(&mut self.noted, now);
        metrics::GAMES.add(now.finished - before.finished);
        metrics::POSITIONS.add(now.moves - before.moves);
        metrics::VISITS.add(now.visits - before.visits);
        metrics::GAMES_RESUMED.add(now.resumed - before.resumed);
        let evaluator = now.evaluator.since(before.evaluator);
        metrics::EVALUATIONS.add(evaluator.evaluations);
        metrics::MEMORY_CACHE_HITS.add(evaluator.cache_hits);
        metrics::BATCH_SLOTS.add(evaluator.slots);
        metrics::BATCHES.add(evaluator.batches);
        // Differences of whole microseconds, so that no part of one is lost.
        let micros = |progress: JobProgress| progress.evaluator.wait.as_micros() as u64;
        metrics::NETWORK_WAIT.add(micros(now) - micros(before));
        metrics::GAMES_UNPUBLISHED.set(now.unpublished as f64);
        now.threshold.into_iter().for_each(|threshold| metrics::RESIGN_IN_FORCE.set(threshold));
        // Progress is reported whether the threads get on or not.
        if evaluator != EvaluatorCounts::default() || now.finished != before.finished {
            health.heartbeat();
        }
    }
}

fn count_handed_off(handed_off: u64, discarded: u64) {
    metrics::GAMES_HANDED_OFF.add(handed_off);
    metrics::GAMES_DISCARDED.add(discarded);
}

/// Formats throughput for the progress bar.
fn rates(progress: &JobProgress) -> String {
    let rate = |number| format::rate(number, progress.time);
    let (games, moves) = (rate(progress.finished), rate(progress.moves));
    let EvaluatorCounts { evaluations, cache_hits, .. } = progress.evaluator;
    let hits = 100.0 * cache_hits as f64 / (evaluations + cache_hits).max(1) as f64;
    format!("{games} games, {moves} positions, {} evaluations, {hits:.0} % cache hits", rate(evaluations))
}
