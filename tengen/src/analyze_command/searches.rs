//! The searches of games: of their positions, and of those after other candidate moves.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::mpsc::{self, Sender};

use analysis::{Analysis, Engine, Event, Report, Task};
use anyhow::anyhow;
use go::{Game, Move};
use runtime::{Classify, Notes, Progress, Stop};

use crate::player::receive;

use super::work::{Analyst, AnalyzedGame};

/// What was done.
#[derive(Default)]
pub(super) struct Done {
    /// Positions that were searched.
    pub(super) positions: u64,
    /// Positions after other candidate moves that were searched.
    pub(super) candidates: u64,
    /// Games whose files cannot be used.
    pub(super) failed: usize,
    /// What is printed of the games. The others are analysed although its reader has seen enough.
    pub(super) notes: Notes,
}

/// What is searched of a game.
#[derive(Clone, Copy)]
enum Subject {
    /// The position at this turn.
    Position(usize),
    /// The position after a move that was not played at this turn.
    Candidate(usize),
}

/// A search that is over: the number of its game, its subject, and its result.
type Finished = (usize, Subject, Event);

/// All searches of a command.
struct Searches<'a> {
    games: &'a mut [AnalyzedGame],
    analyst: &'a Analyst,
    engine: &'a Engine,
    sender: Sender<Finished>,
    /// Games that have begun.
    begun: usize,
    /// Candidate moves that are searched next: the number of the game, the turn, and the move.
    candidates: VecDeque<(usize, usize, Move)>,
    /// Searches that the engine has.
    waiting: usize,
    /// Searches that are not necessary: results of earlier processes, and positions with few candidates.
    omitted: u64,
    progress: Progress,
    done: Done,
}

/// Analyses all positions that have no report, with `ahead` searches in the engine or the positions of one more game.
///
/// Nothing says whether the position after a candidate was searched: it is searched again by a process that resumes.
/// Its evaluations are in the cache then, except those that the earlier process had not published.
pub(super) fn run(
    games: &mut [AnalyzedGame],
    analyst: &Analyst,
    engine: &Engine,
    ahead: usize,
    stop: &Stop,
) -> anyhow::Result<Done> {
    let (sender, finished) = mpsc::channel();
    let mut searches = Searches::new(games, analyst, engine, sender);
    loop {
        while searches.waiting < ahead && !stop.requested() && searches.submit_next()? {}
        if searches.waiting == 0 {
            return Ok(searches.done);
        }
        let Some((number, subject, event)) = receive(&finished, engine, stop) else { continue };
        searches.waiting -= 1;
        match event {
            Event::Done(analysis) if !stop.requested() => searches.add(number, subject, &analysis)?,
            Event::Failed(error) if !models::lost_at_stop(&error, stop) => {
                let class = models::evaluate_class(&error);
                let (Subject::Position(turn) | Subject::Candidate(turn)) = subject;
                return Err(anyhow!("{}, turn {turn}: {error}", searches.games[number].name())).class(class);
            }
            // Stopped before its visits, or lost.
            _ => {}
        }
    }
}

impl<'a> Searches<'a> {
    fn new(
        games: &'a mut [AnalyzedGame],
        analyst: &'a Analyst,
        engine: &'a Engine,
        sender: Sender<Finished>,
    ) -> Searches<'a> {
        let positions: usize = games.iter().map(AnalyzedGame::positions).sum();
        let most = positions * (1 + analyst.candidates);
        Searches {
            games,
            analyst,
            engine,
            sender,
            begun: 0,
            candidates: VecDeque::new(),
            waiting: 0,
            omitted: 0,
            progress: Progress::new("analyze", Some(most as u64)),
            done: Done::default(),
        }
    }

    /// Submits the next candidate, or the positions of the next game. Returns whether there was any.
    fn submit_next(&mut self) -> anyhow::Result<bool> {
        if let Some((number, turn, mv)) = self.candidates.pop_front() {
            match self.games[number].after(turn, mv) {
                Some(game) => self.submit(number, Subject::Candidate(turn), Arc::new(game)),
                None => self.omit(1),
            }
            return Ok(true);
        }
        if self.begun == self.games.len() {
            return Ok(false);
        }
        self.begun += 1;
        self.begin(self.begun - 1)?;
        Ok(true)
    }

    /// Begins a game: submits the positions that it lacks, and queues the candidates of the others. A game whose file
    /// cannot be used is printed.
    fn begin(&mut self, number: usize) -> anyhow::Result<()> {
        let game = &mut self.games[number];
        let positions = game.positions();
        match game.begin(self.analyst) {
            Ok(left) => {
                self.omit(positions - left.len());
                (0..positions).for_each(|turn| self.queue_candidates(number, turn));
                let game = self.games[number].game();
                left.into_iter().for_each(|turn| self.submit(number, Subject::Position(turn), Arc::clone(&game)));
                self.games[number].finish_when_whole(self.analyst, &mut self.done.notes)?;
            }
            Err(error) => {
                tracing::error!(game = game.name(), %error, "game cannot be analysed");
                self.done.failed += 1;
                self.omit(positions * (1 + self.analyst.candidates));
            }
        }
        Ok(())
    }

    /// Queues the candidates of a position, if it is analysed.
    fn queue_candidates(&mut self, number: usize, turn: usize) {
        let most = self.analyst.candidates;
        let Some(moves) = self.games[number].candidates(turn, most) else { return };
        self.omit(most - moves.len());
        self.candidates.extend(moves.into_iter().map(|mv| (number, turn, mv)));
    }

    fn submit(&mut self, number: usize, subject: Subject, game: Arc<Game>) {
        let turn = match subject {
            Subject::Position(turn) => turn,
            Subject::Candidate(_) => game.turn(),
        };
        let sender = self.sender.clone();
        let listener = move |event| {
            // Nothing listens after a failure.
            let _ = sender.send((number, subject, event));
        };
        let task = Task::new(game, turn, self.games[number].komi(), self.analyst.visits);
        self.engine.submit(task, Box::new(listener));
        self.waiting += 1;
    }

    fn omit(&mut self, searches: usize) {
        self.omitted += searches as u64;
        self.progress.skip(searches as u64);
    }

    /// Adds the result of a search.
    fn add(&mut self, number: usize, subject: Subject, analysis: &Analysis) -> anyhow::Result<()> {
        match subject {
            Subject::Position(turn) => {
                let game = &mut self.games[number];
                game.add(Report::new(analysis, &self.analyst.style))?;
                self.done.positions += 1;
                self.queue_candidates(number, turn);
                self.games[number].finish_when_whole(self.analyst, &mut self.done.notes)?;
            }
            Subject::Candidate(_) => self.done.candidates += 1,
        }
        self.progress.set(self.omitted + self.done.positions + self.done.candidates);
        Ok(())
    }
}
