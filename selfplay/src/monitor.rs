//! What a monitor is told of a job while it runs.

use cli::metrics;
use config::RunConfig;
use play::EvaluatorCounts;
use record::{GameRecord, SearchKind};

use crate::Progress;

/// Notes what has come since the last time.
#[derive(Default)]
pub(crate) struct Monitor {
    noted: Progress,
}

impl Monitor {
    /// A monitor of a job for this model, of which so much is done already.
    pub(crate) fn begin(model: u32, progress: Progress) -> Monitor {
        metrics::MODEL.set(model);
        metrics::MODEL_SINCE.set_to_now();
        for counter in [metrics::GAMES_ABANDONED, metrics::GAMES_LEFT, metrics::GAMES_RESUMED] {
            counter.add(0);
        }
        Monitor { noted: progress }
    }

    /// Notes how far the job is, and how many finished games wait to be published.
    pub(crate) fn note(&mut self, now: Progress, unpublished: usize, threshold: Option<f32>) {
        let before = std::mem::replace(&mut self.noted, now);
        metrics::GAMES.add(now.finished - before.finished);
        metrics::POSITIONS.add(now.moves - before.moves);
        metrics::VISITS.add(now.visits - before.visits);
        let evaluator = now.evaluator.since(before.evaluator);
        metrics::EVALUATIONS.add(evaluator.evaluations);
        metrics::RECALLED.add(evaluator.cache_hits);
        metrics::BATCH_PLACES.add(evaluator.slots);
        metrics::BATCHES.add(evaluator.batches);
        // Differences of whole microseconds, so that no part of one is lost.
        let micros = |progress: Progress| progress.evaluator.wait.as_micros() as u64;
        metrics::NETWORK_WAIT.add(micros(now) - micros(before));
        metrics::GAMES_UNPUBLISHED.set(unpublished as f64);
        threshold.into_iter().for_each(|threshold| metrics::RESIGN_IN_FORCE.set(threshold));
        // The loop that tells this turns whether the threads get on or not.
        if evaluator != EvaluatorCounts::default() || now.finished != before.finished {
            cli::alive();
        }
    }
}

/// Visits by which the moves of a game were chosen: each search ends at its budget, which counts what it has inherited.
pub(crate) fn visits(game: &GameRecord, config: &RunConfig) -> u64 {
    let budget = |kind| match kind {
        SearchKind::Full => u64::from(config.search.visits),
        SearchKind::Fast => u64::from(config.selfplay.fast_visits),
        SearchKind::Reduced => u64::from(config.resign.decided_visits),
        SearchKind::Given | SearchKind::Policy => 0,
    };
    game.turns.iter().map(|turn| budget(turn.kind)).sum()
}
