//! Which model is worth recommending: a promotion test.

use config::{ModelId, PlayerId};
use ratings::sprt::{Sprt, Verdict};
use runtime::Step;
use serde::Serialize;

use crate::comparison::SequentialTest;
use crate::driver::{Schedule, Session};
use crate::{Arena, EvaluatorError, RatedRun};

/// Tests whether a model of the run is stronger than the champion, and makes it the champion if it is. Without a
/// verdict after so many games it is not. Self-play uses the newest model whatever the verdict.
pub(crate) struct Gate {
    candidate: u32,
    champion: PlayerId,
    test: SequentialTest,
    promoted: bool,
}

/// The stored record of a promotion.
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

impl RatedRun {
    /// The last model that passed a promotion test; `random` before there is one. Only newer models can follow it.
    ///
    /// # Errors
    /// The store cannot be read.
    pub(crate) fn champion(&self) -> Result<ModelId, EvaluatorError> {
        Ok(self.numbered(self.run().champions().newest()?.unwrap_or(0)))
    }
}

impl Gate {
    /// The test of a candidate.
    ///
    /// # Errors
    /// A model of another run, one that is not newer than the champion, or a hidden one.
    pub(crate) fn new(rated: &RatedRun, candidate: &ModelId, test: Sprt, most: u64) -> Result<Gate, EvaluatorError> {
        let champion = rated.champion()?;
        let run = rated.run().name();
        let number = match candidate {
            ModelId::Trained { run: of, number } if of == run && *number > champion.number() => *number,
            _ => return Err(EvaluatorError::NoCandidate { model: candidate.clone(), run: run.clone() }),
        };
        if rated.hidden()?.contains(&number) {
            return Err(EvaluatorError::Retired(candidate.clone()));
        }
        let champion = PlayerId::from(champion);
        let test = SequentialTest::new([candidate.clone().into(), champion.clone()], test, most);
        Ok(Gate { candidate: number, champion, test, promoted: false })
    }
}

impl Schedule for Gate {
    fn step(&mut self, session: &mut Session<'_>) -> Result<Step, EvaluatorError> {
        let step = self.test.step(session)?;
        if step == Step::Finished {
            let rated = session.arena.rated();
            let comparison = self.test.compare(rated)?;
            if comparison.verdict == Verdict::Upper {
                let beaten = Beaten {
                    champion: self.champion.clone(),
                    pairs: comparison.outcomes.count(),
                    score: comparison.outcomes.mean(),
                    log_ratio: comparison.log_ratio,
                };
                rated.run().champions().put(self.candidate, &beaten)?;
                self.promoted = true;
            }
        }
        Ok(step)
    }

    fn conclusion(&self, arena: &Arena) -> Result<Option<String>, EvaluatorError> {
        let result = self.test.result(arena.rated())?;
        Ok(Some(match self.promoted {
            true => format!("{result}\n{} is the champion now", arena.rated().numbered(self.candidate)),
            false => format!("{result}\n{} stays the champion", self.champion),
        }))
    }
}

#[cfg(test)]
mod tests;
