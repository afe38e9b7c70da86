//! What the matches of `tengen run` tell of its models.

use std::collections::BTreeSet;

use play::GameRng;
use ratings::pairing::{self, InFlight, Knowledge, Objective, Reason, by_age};
use ratings::{PairResults, Ratings};

use crate::table::compared;
use crate::{EvaluatorError, RatedRun};

/// Elo between neighbours on the ladder above which a model between them takes part. The stronger wins 91 % of the
/// games at this difference, and a game has a third of the information of one between equals
/// (`experiments/0060-bridges-in-final-pairs`).
const TOO_FAR: f64 = 400.0;

/// The rated models of a run.
pub(crate) struct Ladder {
    ratings: Ratings,
    /// By player: the number of a model that takes part.
    ages: Vec<Option<u32>>,
    /// The players that intervals of the table are against, models that play no more matches among them.
    compared: Vec<usize>,
}

impl RatedRun {
    /// The models up to `newest` that have played, and `newest`. Those that play no more matches take no part.
    ///
    /// # Errors
    /// The store cannot be read, or the results cannot be rated.
    pub(crate) fn ladder(&self, newest: u32) -> Result<Ladder, EvaluatorError> {
        let (unpaired, results_of_all) = (self.unpaired()?, self.pool()?.results([]));
        let played = self.ages(&results_of_all).into_iter().flatten().chain([newest]);
        let mut models: Vec<u32> = played.filter(|number| *number <= newest && !unpaired.contains(number)).collect();
        models.sort_unstable();
        models.dedup();
        // By number, so that ratings do not depend on the order in which results came.
        let mut results = PairResults::new(models.iter().chain([&0]).map(|&number| self.numbered(number).to_string()));
        results.extend(&results_of_all);
        let ratings = self.fit(&results, |prior| prior)?;
        let ages = self.ages(&results);
        let compared = compared(&results, &ages).players;
        let ages = ages.into_iter().map(|age| age.filter(|age| models.binary_search(age).is_ok()));
        Ok(Ladder { ages: ages.collect(), ratings, compared })
    }
}

impl Ladder {
    /// The models that take part.
    pub(crate) fn models(&self) -> usize {
        self.ages.iter().flatten().count()
    }

    /// The largest half-width of the 95 % intervals that the table of a run prints, in Elo: of all ratings, against the
    /// mean of the other models, and of the newest model minus the oldest (`experiments/0065-end-of-final-pairs`).
    pub(crate) fn margin(&self) -> f64 {
        let gain = match by_age(&self.ages)[..] {
            [oldest, .., newest] => self.ratings.difference(newest, oldest).margin(),
            _ => 0.0,
        };
        self.margin_of_places().max(gain)
    }

    /// The largest half-width among the ratings of the models that take part.
    pub(crate) fn margin_of_places(&self) -> f64 {
        let above = self.ratings.above(&self.compared);
        by_age(&self.ages).into_iter().map(|player| above[player].margin()).fold(0.0, f64::max)
    }

    /// The model nearest to the middle between the two neighbours that are farthest apart, and the older of the two, if
    /// games between them tell too little. `unpaired` models take no part.
    pub(crate) fn bridge(&self, unpaired: &BTreeSet<u32>) -> Option<(u32, u32)> {
        let by_age = by_age(&self.ages);
        let gaps = by_age.iter().zip(by_age.iter().skip(1)).filter_map(|(&older, &younger)| {
            let (from, to) = (self.ages[older]?, self.ages[younger]?);
            let gap = self.ratings.difference(younger, older).elo;
            let middle = (from + 1..to)
                .filter(|model| !unpaired.contains(model))
                .min_by_key(|model| (2 * model).abs_diff(from + to));
            middle.filter(|_| gap > TOO_FAR).map(|middle| (gap, (middle, from)))
        });
        gaps.max_by(|(one, _), (other, _)| one.total_cmp(other)).map(|(_, bridge)| bridge)
    }

    /// The two models, by number, whose games tell most of all ratings and of the newest model minus the oldest.
    pub(crate) fn choose(&self, games: usize, rng: &mut GameRng) -> Option<(u32, u32, Reason)> {
        let takes_part = |player: usize| self.ages[player].is_some();
        let cost = |one: usize, other: usize| (takes_part(one) && takes_part(other)).then_some(1.0);
        let knowledge = Knowledge {
            ratings: &self.ratings,
            ages: &self.ages,
            in_flight: &InFlight::default(),
            games: u32::try_from(games).unwrap_or(u32::MAX),
            cost: &cost,
        };
        let choice = pairing::pairs(&knowledge, Objective::Ladder, 1, rng).pop()?;
        Some((self.ages[choice.first]?, self.ages[choice.second]?, choice.reason))
    }
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;
    use record::Outcome::{Black, White};

    use super::*;

    #[test]
    fn pair_is_random_once_in_ten_where_half_of_the_models_are_retired() {
        let models: Vec<String> = (1..=10).map(|number| format!("tiny-{number}")).collect();
        let mut results = PairResults::new(models.iter().map(String::as_str).chain(["random"]));
        for (older, newer) in models.iter().zip(&models[1..]) {
            for outcome in [Black, White] {
                results.add(older, newer, outcome);
                results.add(newer, older, outcome);
            }
        }
        let (ratings, _) = Ratings::of_runs(&results, |prior| prior).expect("the pool can be rated");
        let ages: Vec<Option<u32>> = (1..=11).map(|number| Some(number).filter(|number| *number <= 5)).collect();
        let ladder = Ladder { ratings, ages, compared: (0..10).collect() };
        let mut rng = GameRng::seed_from_u64(1);
        let choose = || ladder.choose(4, &mut rng).map(|(_, _, reason)| reason);
        let reasons: Vec<Reason> = std::iter::repeat_with(choose).take(2000).flatten().collect();
        let random = reasons.iter().filter(|reason| matches!(reason, Reason::Random { .. })).count();
        // Three standard deviations of a binomial count are 40.
        assert!(reasons.len() == 2000 && (160..=240).contains(&random), "{random} of {}", reasons.len());
    }
}
