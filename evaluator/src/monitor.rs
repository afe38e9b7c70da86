//! Metrics of ratings.

use ratings::{PairResults, Ratings};
use runtime::metrics;

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
