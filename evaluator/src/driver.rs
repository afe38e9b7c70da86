//! The driver of the stage: each step plays one match of a schedule.

use std::time::Duration;

use config::PlayerId;
use runtime::{Driver, Reporter, Step, Stop};
use store::Backoff;

use crate::{Arena, EvaluatorError, MatchProgress, Proposal, Score};

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
    /// As [`Arena::play_match`].
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

/// Something that happens in a match.
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
    /// A match is over.
    Ended {
        /// The players.
        players: [PlayerId; 2],
        /// The score of the first, earlier matches included.
        score: Score,
    },
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
    pub fn arena(&self) -> &Arena {
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

    /// Lets two players meet until they have played so many games against each other.
    pub(crate) fn play(&mut self, players: [&PlayerId; 2], wanted: u64) -> Result<(), EvaluatorError> {
        let games = self.arena.left(players, wanted)?;
        let report = &mut *self.report;
        report(Event::Begun { players: players.map(PlayerId::clone), games });
        self.arena.play_match(players, wanted, self.stop, &mut |progress| report(Event::Progress(progress)))?;
        self.end(players)
    }

    /// Plays a proposed match; returns whether it did, or another evaluator has claimed the pair.
    pub(crate) fn play_proposed(&mut self, proposal: &Proposal) -> Result<bool, EvaluatorError> {
        let report = &mut *self.report;
        let mut watch = |progress| report(Event::Progress(progress));
        Ok(self.arena.play_proposed(proposal, self.stop, &mut watch)?.is_some())
    }

    /// Reports the score of two players whose match is over.
    pub(crate) fn end(&mut self, players: [&PlayerId; 2]) -> Result<(), EvaluatorError> {
        let score = self.arena.rated().score(players)?;
        self.report(Event::Ended { players: players.map(PlayerId::clone), score });
        Ok(())
    }
}

/// Shows matches as a progress bar, and logs their scores.
#[derive(Default)]
pub struct Bar(Option<runtime::Progress>);

impl Bar {
    fn finish(&mut self) {
        if let Some(bar) = self.0.take() {
            bar.finish();
        }
    }
}

impl Reporter<Event> for Bar {
    fn report(&mut self, event: Event) {
        match (event, &self.0) {
            (Event::Begun { players: [first, second], games }, _) => {
                self.finish();
                self.0 = Some(runtime::Progress::new(format!("{first} against {second}"), Some(games)));
            }
            (Event::Progress(progress), Some(bar)) => {
                bar.set(progress.finished);
                let void = if progress.void == 0 { String::new() } else { format!(", {} void", progress.void) };
                bar.note(format!("{} : {}{void}", progress.points, progress.finished as f64 - progress.points));
            }
            (Event::Ended { players: [first, second], score: Score { games, points } }, _) => {
                self.finish();
                tracing::info!(%first, %second, games, points, "match score");
            }
            (Event::Progress(_), None) => {}
        }
    }
}
