//! Which of two players is stronger, with as few games as that takes: a sequential test.

use std::fmt;

use config::PlayerId;
use ratings::sprt::{Outcomes, Sprt, Verdict};
use runtime::Step;

use crate::driver::{Schedule, Session};
use crate::{Arena, EvaluatorError, RatedRun};

/// What a sequential test has found.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Comparison {
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

/// Two players meet until a test of the first's lead over the second has a verdict, or they have played so many games.
/// A batch without a result ends the test without a verdict, where the match does not fail. Games of earlier matches
/// count. The test is evaluated when a batch is over, all of its games included, so that short games do not count for
/// more; one that was interrupted is played to its end first.
pub(crate) struct SequentialTest {
    players: [PlayerId; 2],
    test: Sprt,
    /// Games after which it ends without a verdict.
    most: u64,
    /// Whether a batch that was interrupted has been completed.
    resumed: bool,
    /// Whether the test is over, and was not interrupted.
    finished: bool,
}

impl SequentialTest {
    /// A test of two players.
    pub(crate) fn new(players: [PlayerId; 2], test: Sprt, most: u64) -> SequentialTest {
        SequentialTest { players, test, most, resumed: false, finished: false }
    }

    /// What the games so far say.
    pub(crate) fn compare(&self, rated: &RatedRun) -> Result<Comparison, EvaluatorError> {
        let [one, other] = &self.players;
        let outcomes = rated.pool()?.pairs_of_games(one, other);
        Ok(Comparison {
            first: one.clone(),
            second: other.clone(),
            log_ratio: self.test.log_ratio(&outcomes),
            bounds: self.test.bounds(),
            verdict: self.test.verdict(&outcomes),
            outcomes,
        })
    }

    /// The result in words. The games of a batch that is interrupted are short ones, and no verdict follows from them.
    ///
    /// # Errors
    /// The store cannot be read.
    pub(crate) fn result(&self, rated: &RatedRun) -> Result<String, EvaluatorError> {
        let comparison = self.compare(rated)?;
        let Comparison { first, second, .. } = &comparison;
        Ok(match self.finished {
            true => comparison.to_string(),
            false => format!("{first} against {second}: interrupted, no verdict; run the command again"),
        })
    }

    /// The next batch, unless the test is over.
    fn play_batch(&mut self, session: &mut Session<'_>) -> Result<Step, EvaluatorError> {
        if self.complete_batch(session)? {
            return Ok(Step::Worked);
        }
        let so_far = self.compare(session.arena.rated())?;
        let played = 2 * u64::from(so_far.outcomes.count());
        if so_far.verdict != Verdict::Open || played >= self.most {
            return Ok(Step::Finished);
        }
        tracing::info!(pairs = so_far.outcomes.count(), log_ratio = so_far.log_ratio, bounds = ?so_far.bounds, "no verdict yet");
        let players = self.players.each_ref();
        let before = session.arena.rated().score(players)?.games;
        session.play(players, (played + session.arena.batch()).min(self.most))?;
        let has_results = session.arena.rated().score(players)?.games > before;
        Ok(if has_results || session.stop.requested() { Step::Worked } else { Step::Finished })
    }

    /// Plays the rest of a batch that was interrupted, once; returns whether there was one. The games of it that are
    /// over are the short ones, which end in a resignation more often than the others.
    fn complete_batch(&mut self, session: &mut Session<'_>) -> Result<bool, EvaluatorError> {
        if std::mem::replace(&mut self.resumed, true) {
            return Ok(false);
        }
        let (arena, players) = (&*session.arena, self.players.each_ref());
        let played = arena.rated().pool()?.played(players[0], players[1]);
        let begun = played.last().map_or(0, |last| (last + 1).next_multiple_of(arena.batch())).min(self.most);
        if arena.missing(players, begun)?.is_empty() {
            return Ok(false);
        }
        session.play(players, begun)?;
        Ok(true)
    }
}

impl Schedule for SequentialTest {
    fn step(&mut self, session: &mut Session<'_>) -> Result<Step, EvaluatorError> {
        let step = self.play_batch(session)?;
        self.finished = step == Step::Finished;
        Ok(step)
    }

    fn conclusion(&self, arena: &Arena) -> Result<Option<String>, EvaluatorError> {
        self.result(arena.rated()).map(Some)
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
