//! Which of two players is stronger, with as few games as that takes.

use std::fmt;

use cli::Stop;
use config::PlayerId;
use ratings::sprt::{Outcomes, Sprt, Verdict};

use super::Arena;
use crate::{EvaluatorError, Progress};

/// What a sequential test has found.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    /// Who was tested.
    pub first: PlayerId,
    /// Against whom.
    pub second: PlayerId,
    /// Pairs of games on one opening, by the points of the first: 0, ½, 1, 1½, 2.
    pub outcomes: Outcomes<5>,
    /// ln of the likelihood ratio of the upper hypothesis to the lower one.
    pub log_ratio: f64,
    /// Where the test ends.
    pub bounds: [f64; 2],
    /// What was found.
    pub verdict: Verdict,
}

impl Arena {
    /// Lets two players meet until a test of the first's lead over the second has a verdict, or they have played `most`
    /// games. Games of earlier meetings count. It looks when a batch is over, all of its games included, so that short
    /// games do not count for more.
    ///
    /// # Errors
    /// As [`Arena::meet`].
    pub fn compare(
        &mut self,
        [one, other]: [&PlayerId; 2],
        test: &Sprt,
        most: u64,
        stop: &Stop,
        watch: &mut dyn FnMut(&Comparison, Progress),
    ) -> Result<Comparison, EvaluatorError> {
        let batch = (self.config.evaluate.games_per_pair as u64).max(2 * self.place.threads as u64).next_multiple_of(2);
        loop {
            let comparison = self.look([one, other], test)?;
            let played = 2 * u64::from(comparison.outcomes.count());
            if comparison.verdict != Verdict::Open || played >= most || stop.requested() {
                return Ok(comparison);
            }
            let wanted = (played + batch).min(most);
            self.meet([one, other], wanted, stop, &mut |progress| watch(&comparison, progress))?;
        }
    }

    fn look(&self, [one, other]: [&PlayerId; 2], test: &Sprt) -> Result<Comparison, EvaluatorError> {
        let outcomes = self.pool()?.pairs_of_games(one, other);
        Ok(Comparison {
            first: one.clone(),
            second: other.clone(),
            log_ratio: test.log_ratio(&outcomes),
            bounds: test.bounds(),
            verdict: test.verdict(&outcomes),
            outcomes,
        })
    }
}

impl fmt::Display for Comparison {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Comparison { first, second, outcomes, log_ratio, bounds: [low, high], verdict } = self;
        let verdict = match verdict {
            Verdict::Open => "no verdict yet",
            Verdict::Lower => "elo0 rather than elo1",
            Verdict::Upper => "elo1 rather than elo0",
        };
        write!(f, "{first} against {second}: {verdict}; log likelihood ratio {log_ratio:.2} of {low:.2} to {high:.2}")?;
        let [lost, .., won] = outcomes.0;
        let count = outcomes.count();
        write!(f, " after {count} pairs of games ({won} won twice, {lost} lost twice")?;
        if count == 0 { write!(f, ")") } else { write!(f, ", {:.1} % of the points)", 100.0 * outcomes.mean()) }
    }
}
