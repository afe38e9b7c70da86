//! Models that are surely too weak to be worth more games.

use std::fmt;

use config::ModelId;
use ratings::{Estimate, Ratings};
use serde::Serialize;

use super::Arena;
use crate::EvaluatorError;

/// A model with fewer games is not judged.
const ENOUGH_GAMES: u32 = 16;

/// A model that is not paired any more.
#[derive(Clone, Debug, PartialEq)]
pub struct Retirement {
    /// The model.
    pub model: ModelId,
    /// The best model of the run.
    pub best: ModelId,
    /// How far it is behind that one.
    pub behind: Estimate,
    /// Games it has played.
    pub games: u32,
}

impl Arena {
    /// Retires the models of the run that are, with 97.5 %, more than `bound` Elo behind its best: nobody proposes them for
    /// a pair any more. Never the newest, and none with fewer than 16 games. Those that were retired before are not told
    /// again.
    ///
    /// # Errors
    /// The store cannot be used, or the results cannot be rated.
    pub fn retire(&self, bound: f64) -> Result<Vec<Retirement>, EvaluatorError> {
        let tally = self.pool()?.tally([]);
        let (ratings, _) = Ratings::of_runs(&tally, |prior| prior).map_err(|source| self.unrated(source))?;
        let ages = self.ages(&tally);
        let aged: Vec<(usize, u32)> =
            ages.iter().enumerate().filter_map(|(player, &age)| Some((player, age?))).collect();
        let elo = |player: usize| ratings.rating(player).elo;
        let Some(&(best, best_age)) = aged.iter().max_by(|a, b| elo(a.0).total_cmp(&elo(b.0))) else {
            return Ok(Vec::new());
        };
        let newest = aged.iter().map(|&(_, age)| age).max();
        let (records, retired) = (tally.records(), self.run.retired_models()?);
        let mut found = Vec::new();
        for (player, age) in aged.into_iter().filter(|&(_, age)| Some(age) != newest && !retired.contains(&age)) {
            let (behind, games) = (ratings.difference(best, player), records[player].games);
            if games >= ENOUGH_GAMES && behind.elo - behind.margin() > bound {
                let model = |number| self.run.name().model(number);
                let retirement = Retirement { model: model(age), best: model(best_age), behind, games };
                self.run.retire_model(age, &retirement.reason())?;
                found.push(retirement);
            }
        }
        Ok(found)
    }
}

impl Retirement {
    /// The same, to be kept.
    fn reason(&self) -> Reason {
        let Retirement { best, behind, games, .. } = self;
        Reason { best: best.clone(), behind: behind.elo, error: behind.error, games: *games }
    }
}

/// Why a model was retired.
#[derive(Serialize)]
struct Reason {
    best: ModelId,
    /// Elo behind the best.
    behind: f64,
    /// One standard error of that.
    error: f64,
    /// Games that the model had played.
    games: u32,
}

impl fmt::Display for Retirement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Retirement { model, best, behind, games } = self;
        write!(f, "{model} is retired: {:.0} ±{:.0} Elo behind {best} after {games} games", behind.elo, behind.margin())
    }
}
