//! Metrics of matches and ratings.

use ratings::{PairResults, Ratings};
use runtime::{Health, metrics};

use crate::MatchProgress;

/// Notes what has come in a match since the last time.
pub(crate) struct Monitor {
    health: Health,
    noted: MatchProgress,
}

impl Monitor {
    pub(crate) fn new(health: Health) -> Monitor {
        Monitor { health, noted: MatchProgress::default() }
    }

    pub(crate) fn note(&mut self, now: MatchProgress) {
        let before = std::mem::replace(&mut self.noted, now);
        metrics::MATCH_GAMES.add(now.finished - before.finished);
        metrics::MATCH_VOID.add(now.void - before.void);
        metrics::MATCH_EVALUATIONS.add(now.evaluations - before.evaluations);
        // The loop that tells this turns whether the threads get on or not.
        if (now.finished, now.void, now.evaluations) != (before.finished, before.void, before.evaluations) {
            self.health.heartbeat();
        }
    }
}

/// Notes the rating of the newest model of a run that has played; `ages` are the models' numbers.
pub(crate) fn note_ratings(results: &PairResults, ratings: &Ratings, ages: &[Option<u32>]) {
    let played = (0..).zip(results.records()).filter(|(_, record)| record.games > 0);
    if let Some((number, player)) = played.filter_map(|(player, _)| Some((ages[player]?, player))).max() {
        let rating = ratings.rating(player);
        metrics::RATED_MODEL.set(number);
        metrics::RATED_ELO.set(rating.elo);
        metrics::RATED_ERROR.set(rating.error);
    }
}
