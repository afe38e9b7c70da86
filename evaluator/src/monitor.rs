//! What a monitor is told of matches and ratings.

use cli::metrics;
use config::RunName;
use record::RatingRow;

use crate::{Progress, pool};

/// Notes what has come in a meeting since the last time.
#[derive(Default)]
pub(crate) struct Monitor {
    noted: Progress,
}

impl Monitor {
    pub(crate) fn note(&mut self, now: Progress) {
        let before = std::mem::replace(&mut self.noted, now);
        metrics::MATCH_GAMES.add(now.finished - before.finished);
        metrics::MATCH_VOID.add(now.void - before.void);
        metrics::MATCH_EVALUATIONS.add(now.evaluations - before.evaluations);
        // The loop that tells this turns whether the threads get on or not.
        if (now.finished, now.void, now.evaluations) != (before.finished, before.void, before.evaluations) {
            cli::alive();
        }
    }
}

/// Notes the rating of the newest model of a run.
pub(crate) fn note_ratings(run: &RunName, rows: &[RatingRow]) {
    let aged = rows.iter().filter_map(|row| Some((pool::age(run, &row.player)?, row)));
    if let Some((number, row)) = aged.max_by_key(|(number, _)| *number) {
        metrics::RATED_MODEL.set(number);
        metrics::RATED_ELO.set(row.elo);
        metrics::RATED_ERROR.set(row.error);
    }
}
