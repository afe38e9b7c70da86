//! Which model is worth recommending: a promotion test.

use std::fmt;

use cli::Stop;
use config::{ModelId, PlayerId};
use ratings::sprt::{Sprt, Verdict};
use serde::Serialize;

use super::{Arena, Comparison};
use crate::{EvaluatorError, Progress};

/// How a promotion test ended.
#[derive(Clone, Debug, PartialEq)]
pub struct Promotion {
    /// The games between the candidate and the champion.
    pub comparison: Comparison,
    /// Whether the candidate is the champion now.
    pub promoted: bool,
}

/// What is kept of a promotion.
#[derive(Serialize)]
struct Beaten {
    champion: PlayerId,
    /// Pairs of games on one opening.
    pairs: u32,
    /// Share of the points that the new champion made.
    score: f64,
    /// ln of the likelihood ratio with which it passed.
    log_ratio: f64,
}

impl Arena {
    /// The last model that passed a promotion test; `random` before there is one.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn champion(&self) -> Result<ModelId, EvaluatorError> {
        Ok(self.run.promotions().newest()?.map_or(ModelId::Random, |number| self.run.name().model(number)))
    }

    /// Tests whether a model of the run is stronger than the champion, and makes it the champion if it is. Without a
    /// verdict after `most` games it is not. Nothing else depends on it: self-play goes on with the newest model.
    ///
    /// # Errors
    /// As [`Arena::compare`]; a model of another run, one that is not newer than the champion, or a hidden one.
    pub fn promote(
        &mut self,
        candidate: &ModelId,
        test: &Sprt,
        most: u64,
        stop: &Stop,
        watch: &mut dyn FnMut(&Comparison, Progress),
    ) -> Result<Promotion, EvaluatorError> {
        let number = match candidate {
            ModelId::Trained { run, number }
                if run == self.run.name()
                    && self.run.promotions().newest()?.is_none_or(|champion| champion < *number) =>
            {
                *number
            }
            _ => return Err(EvaluatorError::NoCandidate { model: candidate.clone(), run: self.run.name().clone() }),
        };
        if self.hidden()?.contains(&number) {
            return Err(EvaluatorError::Retired(candidate.clone()));
        }
        let champion = PlayerId::from(self.champion()?);
        let comparison = self.compare([&PlayerId::from(candidate.clone()), &champion], test, most, stop, watch)?;
        let promoted = comparison.verdict == Verdict::Upper;
        if promoted {
            let beaten = Beaten {
                champion,
                pairs: comparison.outcomes.count(),
                score: comparison.outcomes.mean(),
                log_ratio: comparison.log_ratio,
            };
            self.run.promotions().put(number, &beaten)?;
        }
        Ok(Promotion { comparison, promoted })
    }
}

impl fmt::Display for Promotion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Promotion { comparison, promoted } = self;
        let (candidate, champion) = match promoted {
            true => (&comparison.first, "is the champion now"),
            false => (&comparison.second, "stays the champion"),
        };
        write!(f, "{comparison}\n{candidate} {champion}")
    }
}
