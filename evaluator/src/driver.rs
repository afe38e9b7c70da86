//! The driver of the stage: each step plays one match of a schedule.

use std::time::Duration;

use config::PlayerId;
use ratings::PlayerScore;
use ratings::pairing::Objective;
use runtime::{Driver, Reporter, Step, Stop};
use store::Backoff;

use crate::arena::Proposal;
use crate::table::Table;
use crate::{Arena, EvaluatorError, MatchProgress, RatedModel};

/// The first pause where there is nothing to play.
const PAUSE: Duration = Duration::from_secs(10);
/// … and the longest.
const LONGEST_PAUSE: Duration = Duration::from_secs(60);

/// Pauses between two polls for something to play.
pub(crate) fn pauses() -> Backoff {
    Backoff::new(PAUSE, LONGEST_PAUSE)
}

/// The order of the matches.
pub trait Schedule {
    /// Plays the next match.
    ///
    /// # Errors
    /// A player cannot be opened or fails, or the store cannot be used. Results that were published stay.
    fn step(&mut self, session: &mut Session<'_>) -> Result<Step, EvaluatorError>;

    /// The result beside the ratings, once the schedule is finished or stopped.
    ///
    /// # Errors
    /// The store cannot be read.
    fn conclusion(&self, _: &Arena) -> Result<Option<String>, EvaluatorError> {
        Ok(None)
    }
}

impl<S: Schedule + ?Sized> Schedule for Box<S> {
    fn step(&mut self, session: &mut Session<'_>) -> Result<Step, EvaluatorError> {
        (**self).step(session)
    }

    fn conclusion(&self, arena: &Arena) -> Result<Option<String>, EvaluatorError> {
        (**self).conclusion(arena)
    }
}

/// What a schedule has its matches played with.
pub struct Session<'a> {
    /// The players.
    pub arena: &'a mut Arena,
    /// Whether to stop.
    pub stop: &'a Stop,
    pub(crate) report: &'a mut dyn FnMut(Event),
}

/// Something that a driver reports.
#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    /// A match begins.
    Begun {
        /// The players.
        players: [PlayerId; 2],
        /// The games to play.
        games: u64,
    },
    /// A match is in progress, with points of the first player.
    Progress(MatchProgress),
    /// A pair that was chosen, not given, has played. [`Event::Ended`] follows.
    PairPlayed,
    /// A match is over.
    Ended {
        /// The players.
        players: [PlayerId; 2],
        /// The score of the first, earlier matches included.
        score: PlayerScore,
    },
    /// The models are rated: the newest of those that have played.
    Rated(RatedModel),
}

/// The matches of a schedule.
pub struct Matches<'a, S, R> {
    arena: Arena,
    schedule: S,
    reporter: R,
    stop: &'a Stop,
}

impl<'a, S: Schedule, R: Reporter<Event>> Matches<'a, S, R> {
    /// A driver that plays the matches of a schedule in an arena.
    pub fn new(arena: Arena, schedule: S, reporter: R, stop: &'a Stop) -> Matches<'a, S, R> {
        Matches { arena, schedule, reporter, stop }
    }

    /// The arena.
    pub(crate) fn arena(&self) -> &Arena {
        &self.arena
    }

    /// As [`Schedule::conclusion`].
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn conclusion(&self) -> Result<Option<String>, EvaluatorError> {
        self.schedule.conclusion(&self.arena)
    }
}

impl<S: Schedule, R: Reporter<Event>> Driver for Matches<'_, S, R> {
    type Error = EvaluatorError;

    fn step(&mut self) -> Result<Step, EvaluatorError> {
        let Matches { arena, schedule, reporter, stop } = self;
        schedule.step(&mut Session { arena, stop, report: &mut |event| reporter.report(event) })
    }

    fn pause(&self) -> Backoff {
        pauses()
    }
}

impl Session<'_> {
    /// Reports an event.
    pub(crate) fn report(&mut self, event: Event) {
        (self.report)(event);
    }

    /// Lets two players meet until they have played so many games against each other, those of earlier matches
    /// included, so that a match that was interrupted can be repeated.
    pub(crate) fn play(&mut self, players: [&PlayerId; 2], wanted: u64) -> Result<(), EvaluatorError> {
        let missing = self.arena.missing(players, wanted)?;
        let report = &mut *self.report;
        report(Event::Begun { players: players.map(PlayerId::clone), games: missing.len() as u64 });
        self.arena.play_missing(players, missing, self.stop, &mut |progress| report(Event::Progress(progress)))?;
        self.end(players)
    }

    /// Rates the models, and reports the rating of the newest.
    pub(crate) fn rate(&mut self) -> Result<Table, EvaluatorError> {
        let table = self.arena.rated().rate()?;
        table.newest_rated().into_iter().for_each(|model| self.report(Event::Rated(model)));
        Ok(table)
    }

    /// Proposes a pair, and reports the rating of the newest model.
    pub(crate) fn propose(&mut self, objective: Objective) -> Result<Option<Proposal>, EvaluatorError> {
        let report = &mut *self.report;
        self.arena.propose(objective, &mut |model| report(Event::Rated(model)))
    }

    /// Plays a proposed match; returns whether it did, or another evaluator has claimed the pair.
    pub(crate) fn play_proposed(&mut self, proposal: &Proposal) -> Result<bool, EvaluatorError> {
        let report = &mut *self.report;
        let mut watch = |progress| report(Event::Progress(progress));
        let played = self.arena.play_proposed(proposal, self.stop, &mut watch)?.is_some();
        if played {
            self.report(Event::PairPlayed);
        }
        Ok(played)
    }

    /// Reports the score of two players whose match is over.
    pub(crate) fn end(&mut self, players: [&PlayerId; 2]) -> Result<(), EvaluatorError> {
        let score = self.arena.rated().score(players)?;
        self.report(Event::Ended { players: players.map(PlayerId::clone), score });
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use runtime::drive;
    use store::Claim;

    use super::*;
    use crate::schedule::{Uncertain, WhenIdle};
    use crate::tests::fixture::{BEST, PAIR, arena, store};

    #[test]
    fn chosen_pair_is_reported_from_its_begin_to_its_score() {
        let store = store();
        let mut arena = arena(&store, 2);
        let (stop, mut events) = (Stop::never(), Vec::new());
        arena.play_match(PAIR, 2, &stop, &mut |_| {}).expect("the players can play");
        let mut driver =
            Matches::new(arena, Uncertain::new(BEST, 1, WhenIdle::End), |event: Event| events.push(event), &stop);
        drive(&mut driver, &stop).expect("the players can play");
        drop(driver);
        let last = events.iter().rfind(|event| matches!(event, Event::Progress(_)));
        assert!(matches!(last, Some(Event::Progress(MatchProgress { finished: 2, .. }))), "{last:?}");
        events.retain(|event| !matches!(event, Event::Progress(_)));
        let score = |event: &Event| matches!(event, Event::Ended { score: PlayerScore { games: 4, .. }, .. });
        assert!(matches!(&events[..], [Event::Begun { .. }, Event::PairPlayed, end] if score(end)), "{events:?}");
    }

    #[test]
    fn pair_that_another_evaluator_has_claimed_is_not_reported_as_played() {
        let store = store();
        let mut arena = arena(&store, 1);
        let (stop, mut events) = (Stop::never(), Vec::<Event>::new());
        arena.play_match(PAIR, 2, &stop, &mut |_| {}).expect("the players can play");
        let proposal = arena.propose(BEST, &mut |_| {}).expect("the pool can be rated").expect("there are two players");
        let [first, second] = [&proposal.first, &proposal.second].map(PlayerId::to_string);
        let claim = Claim { first, second, numbers: vec![2, 3] };
        arena.rated.run.claims().acquire("another", &claim).expect("memory can be written");
        let mut session = Session { arena: &mut arena, stop: &stop, report: &mut |event| events.push(event) };
        assert!(!session.play_proposed(&proposal).expect("memory can be read"));
        assert!(events.is_empty(), "{events:?}");
    }
}
