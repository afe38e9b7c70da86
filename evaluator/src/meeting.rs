//! Two players meet.

use std::cell::Cell;
use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread;
use std::time::{Duration, Instant};

use cli::Stop;
use config::RunConfig;
use mcts::EvaluateError;
use play::{Match, MatchSpec, Side};
use record::{GameRecord, Outcome};
use store::Run;

use crate::{EvaluatorError, Player};

/// A result waits this long for others to share its file with; a process that is killed loses no more.
const PATIENCE: Duration = Duration::from_secs(20);

/// How often the waiting thread looks up.
const BEAT: Duration = Duration::from_millis(200);

/// Games between two players, by their numbers in the series of the pair: 2k and 2k + 1 share an opening and swap the
/// colours. A game is a function of the players, the configuration and its number.
pub struct Meeting<'a> {
    /// The run that the games belong to.
    pub run: &'a Run,
    /// Its configuration.
    pub config: &'a RunConfig,
    /// Black in the games of even number.
    pub first: &'a Player,
    /// White in the games of even number.
    pub second: &'a Player,
    /// The numbers of the games to play.
    pub games: Vec<u64>,
    /// Worker threads.
    pub threads: usize,
    /// Bytes for evaluations that are needed again, for each side in each thread.
    pub cache: usize,
    /// Who writes the results.
    pub worker: &'a str,
}

/// How far a meeting is.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Progress {
    /// Games finished.
    pub finished: u64,
    /// Games wanted.
    pub wanted: u64,
    /// Points that the player who is named first made; a draw is half a point.
    pub points: f64,
    /// Moves in the finished games.
    pub moves: u64,
    /// Positions evaluated.
    pub evaluations: u64,
}

impl Progress {
    /// The same as the second player sees it.
    pub(crate) fn turned(self) -> Progress {
        Progress { points: self.finished as f64 - self.points, ..self }
    }
}

/// Positions in a batch of a match. In a round about half of the games are the other player's, and in most matches
/// there are fewer games than in self-play. It follows from the configuration alone, because a network may answer
/// a little differently in batches of another size.
pub(crate) fn batch(config: &RunConfig) -> usize {
    config.selfplay.batch.div_ceil(4)
}

impl Meeting<'_> {
    /// Plays the games and publishes their results as they come, until all are played or `stop` is requested.
    ///
    /// `watch` is told several times a second how far the meeting is.
    ///
    /// # Errors
    /// A network fails, or the store refuses the results. Results that were published stay.
    pub fn play(&self, stop: &Stop, watch: &mut dyn FnMut(Progress)) -> Result<Progress, EvaluatorError> {
        let evaluations = AtomicU64::new(0);
        let threads = self.threads.clamp(1, self.games.len().max(1));
        thread::scope(|scope| {
            let (sender, finished) = mpsc::channel();
            let workers: Vec<_> = (0..threads)
                .map(|thread| {
                    let (sender, evaluations) = (sender.clone(), &evaluations);
                    // Which thread plays a game is fixed beforehand, so that it does not depend on timing.
                    let games = self.games.iter().copied().skip(thread).step_by(threads);
                    scope.spawn(move || self.work(games, &sender, evaluations, stop))
                })
                .collect();
            drop(sender);
            let progress = self.collect(&finished, &evaluations, watch);
            // A store that refuses results makes the workers give up, because nobody hears them any more.
            drop(finished);
            let failed = |source| EvaluatorError::Evaluate {
                first: self.first.id().clone(),
                second: self.second.id().clone(),
                source,
            };
            let worked = workers.into_iter().try_for_each(|worker| worker.join().expect("a worker does not panic"));
            progress.and_then(|progress| worked.map_err(failed).map(|()| progress))
        })
    }

    /// One thread: its own networks, its own games.
    fn work(
        &self,
        mut games: impl Iterator<Item = u64>,
        finished: &Sender<GameRecord>,
        evaluations: &AtomicU64,
        stop: &Stop,
    ) -> Result<(), EvaluateError> {
        let (mut first, mut second) = (self.first.evaluator(self.cache), self.second.evaluator(self.cache));
        let (black, white) = (self.first.side(0), self.second.side(1));
        let heard = Cell::new(true);
        let mut counted = 0;
        play::run(
            &mut [&mut *first, &mut *second],
            self.slots([&black, &white]),
            &mut || games.next().map(|index| Match::new(MatchSpec::new(self.config, &black, &white, index))),
            &mut |record| heard.set(heard.get() && finished.send(record).is_ok()),
            &mut |counts| {
                evaluations.fetch_add(counts.evaluations - counted, Ordering::Relaxed);
                counted = counts.evaluations;
                if stop.requested() || !heard.get() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            },
        )
        .map(drop)
    }

    /// Games that one thread keeps going: enough for a batch of each player.
    fn slots(&self, sides: [&Side; 2]) -> usize {
        let leaves = sides.map(|side| side.leaves).into_iter().max().unwrap_or(1);
        (2 * batch(self.config) / leaves).max(1)
    }

    /// Publishes what the workers finish.
    fn collect(
        &self,
        finished: &Receiver<GameRecord>,
        evaluations: &AtomicU64,
        watch: &mut dyn FnMut(Progress),
    ) -> Result<Progress, EvaluatorError> {
        let mut progress = Progress { wanted: self.games.len() as u64, ..Progress::default() };
        let mut waiting: Vec<GameRecord> = Vec::new();
        let mut published = Instant::now();
        loop {
            match finished.recv_timeout(BEAT) {
                Ok(record) => {
                    progress.finished += 1;
                    progress.moves += record.turns.len() as u64;
                    progress.points += self.points(&record);
                    waiting.push(record);
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
            if published.elapsed() >= PATIENCE {
                self.publish(&mut waiting)?;
                published = Instant::now();
            }
            progress.evaluations = evaluations.load(Ordering::Relaxed);
            watch(progress);
        }
        self.publish(&mut waiting)?;
        Ok(progress)
    }

    /// Points of the first player in a game.
    fn points(&self, record: &GameRecord) -> f64 {
        let as_black = record.black == self.first.id().to_string();
        match record.outcome {
            Outcome::Draw => 0.5,
            outcome => f64::from(u8::from((outcome == Outcome::Black) == as_black)),
        }
    }

    /// Publishes the games in the order of their numbers, whichever finished first.
    fn publish(&self, waiting: &mut Vec<GameRecord>) -> Result<(), EvaluatorError> {
        if waiting.is_empty() {
            return Ok(());
        }
        waiting.sort_by_key(|game| game.index);
        let file = self.run.publish_results(self.worker, waiting)?;
        tracing::debug!(games = waiting.len(), %file, "published results");
        waiting.clear();
        Ok(())
    }
}

/// The first `wanted` numbers of a series that are not played yet, if that many games are not there already.
pub(crate) fn missing(played: &BTreeSet<u64>, wanted: u64) -> Vec<u64> {
    (0..wanted).filter(|index| !played.contains(index)).collect()
}
