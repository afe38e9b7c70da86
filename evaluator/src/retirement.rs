//! Models that are surely too weak to be worth more games: retired, brought back, and without their weights.

use std::collections::BTreeSet;
use std::fmt;

use config::ModelId;
use ratings::Estimate;
use serde::Serialize;
use store::{Run, StoreError};

use crate::{EvaluatorError, RatedRun};

/// A model with fewer games is not judged.
const ENOUGH_GAMES: u32 = 16;

/// A model that was retired.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Retirement {
    /// The model.
    pub model: ModelId,
    /// The best model of the run.
    pub best: ModelId,
    /// How far it is behind that one.
    pub behind: Estimate,
    /// Games it has played.
    pub games: u32,
}

/// A model that was retired or brought back by name.
#[derive(Serialize)]
struct ByName {
    retired: bool,
    by: &'static str,
}

/// A model whose weights were deleted.
#[derive(Clone, Debug, PartialEq)]
pub struct Deletion {
    /// The model.
    pub model: ModelId,
    /// Why its weights were kept; `None` where they were deleted.
    pub kept: Option<&'static str>,
}

impl RatedRun {
    /// Retires the models of the run that are, with 97.5 %, more than `bound` Elo behind its best: they are hidden from
    /// then on. Never the newest, a champion, one that was brought back, or one with fewer than 16 games. Those that
    /// were retired before are not in the result.
    ///
    /// # Errors
    /// The store cannot be used, or the results cannot be rated.
    pub(crate) fn retire(&self, bound: f64) -> Result<Vec<Retirement>, EvaluatorError> {
        let results = self.pool()?.results([]);
        let ratings = self.fit(&results, |prior| prior)?;
        let ages = self.ages(&results);
        let aged: Vec<(usize, u32)> =
            ages.iter().enumerate().filter_map(|(player, &age)| Some((player, age?))).collect();
        let elo = |player: usize| ratings.rating(player).elo;
        let Some(&(best, best_age)) = aged.iter().max_by(|a, b| elo(a.0).total_cmp(&elo(b.0))) else {
            return Ok(Vec::new());
        };
        let newest = aged.iter().map(|&(_, age)| age).max();
        let scores = results.player_scores();
        let exempt = [
            self.run().retirements().retired()?,
            self.run().retirements().reinstated()?,
            self.run().champions().list()?,
        ];
        let is_exempt = |age: u32| Some(age) == newest || exempt.iter().any(|models| models.contains(&age));
        let mut found = Vec::new();
        for (player, age) in aged.into_iter().filter(|&(_, age)| !is_exempt(age)) {
            let (behind, games) = (ratings.difference(best, player), scores[player].games);
            if games >= ENOUGH_GAMES && behind.elo - behind.margin() > bound {
                let model = |number| self.run().name().model(number);
                let retirement = Retirement { model: model(age), best: model(best_age), behind, games };
                self.run().retirements().retire(age, &retirement.reason())?;
                found.push(retirement);
            }
        }
        Ok(found)
    }

    /// Retires this model of the run, whatever its rating.
    ///
    /// # Errors
    /// The store cannot be used, or the model is no model of the run, its newest, or its champion.
    pub(crate) fn retire_model(&self, model: &ModelId) -> Result<(), EvaluatorError> {
        let wrong = |reason| EvaluatorError::NotRetirable { model: model.clone(), what: "retired", reason };
        let number = self.published(model)?.ok_or_else(|| wrong("the run has no such model"))?;
        if self.run().models().newest()? == Some(number) {
            return Err(wrong("it is the newest model of the run"));
        }
        if self.champion()?.number() == number {
            return Err(wrong("it is the champion of the run"));
        }
        Ok(self.run().retirements().retire(number, &ByName { retired: true, by: "name" })?)
    }

    /// Brings a retired model back. [`RatedRun::retire`] leaves it alone from then on.
    ///
    /// # Errors
    /// The store cannot be used, or the model is not retired.
    pub(crate) fn unretire(&self, model: &ModelId) -> Result<(), EvaluatorError> {
        let wrong = |reason| EvaluatorError::NotRetirable { model: model.clone(), what: "brought back", reason };
        let number = self.published(model)?.ok_or_else(|| wrong("the run has no such model"))?;
        if !self.run().retirements().retired()?.contains(&number) {
            return Err(wrong("it is not retired"));
        }
        if self.run().models().weights_are_deleted(number)? {
            return Err(wrong("its weights were deleted; --include-retired shows its rating"));
        }
        Ok(self.run().retirements().reinstate(number, &ByName { retired: false, by: "name" })?)
    }

    /// Deletes the weights of the retired models, except those that something still needs: champions, the newest model,
    /// the models of the stored checkpoints, and the parents of these. Metadata, games and results are kept.
    ///
    /// # Errors
    /// The store cannot be used.
    pub(crate) fn delete_retired_weights(&self) -> Result<Vec<Deletion>, EvaluatorError> {
        let found = retired_weights(self.run())?;
        for deletion in found.iter().filter(|deletion| deletion.kept.is_none()) {
            self.run().models().delete_weights(deletion.model.number())?;
        }
        Ok(found)
    }

    /// The number of a published model of this run; `None` for any other.
    fn published(&self, model: &ModelId) -> Result<Option<u32>, EvaluatorError> {
        match model {
            ModelId::Trained { run, number } if run == self.run().name() && self.run().models().exists(*number)? => {
                Ok(Some(*number))
            }
            _ => Ok(None),
        }
    }
}

/// The weights of the retired models that are not deleted yet, and why some of them are kept.
///
/// # Errors
/// A store that cannot be reached.
pub fn retired_weights(run: &Run) -> Result<Vec<Deletion>, StoreError> {
    let (champions, steps) = (run.champions().list()?, run.checkpoints().steps()?);
    let newest = run.models().newest()?;
    let mut needed = BTreeSet::new();
    for number in run.models().list()? {
        let metadata = run.models().metadata(number)?;
        if newest == Some(number) || steps.contains(&metadata.step) {
            needed.extend([number].into_iter().chain(metadata.parent));
        }
    }
    let mut found = Vec::new();
    for number in run.retirements().retired()? {
        // Not the mark, which comes before the deletion.
        if !run.models().exists(number)? || !run.models().has_weights(number)? {
            continue;
        }
        let kept = match number {
            _ if champions.contains(&number) => Some("it was a champion"),
            _ if needed.contains(&number) => Some("training may continue from it"),
            _ => None,
        };
        found.push(Deletion { model: run.name().model(number), kept });
    }
    Ok(found)
}

impl fmt::Display for Deletion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.kept {
            None => write!(f, "{}: weights deleted", self.model),
            Some(reason) => write!(f, "{}: weights kept, {reason}", self.model),
        }
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

#[cfg(test)]
pub(crate) mod tests;
