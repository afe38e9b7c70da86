//! Two players meet.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread;
use std::time::{Duration, Instant};

use config::PlayConfig;
use go::{Color, Size};
use gtp::engines::Engine;
use mcts::Evaluator;
use models::{Searcher, lost_at_stop};
use play::{EvaluatorStats, ExternalPlayer, Finish, Instrumented, Match, MatchSpec, Void, game_seed};
use record::GameRecord;
use runtime::Stop;
use store::Run;

use crate::EvaluatorError;
use crate::player::Player;
use crate::retries::{Retries, TRIES, VoidStreak};

/// Poll interval of the waiting thread. A result waits at most this long for others to share its file with, so that a process
/// that is killed loses hardly more than the games in progress.
const BEAT: Duration = Duration::from_millis(200);

/// Games between two players, by their numbers in the series of the pair: 2k and 2k + 1 share an opening and swap the
/// colours. A game is a function of the players, the configuration and its number; with a network on a GPU it may differ.
pub(crate) struct MatchRunner<'a> {
    /// The run that the games belong to.
    pub run: &'a Run,
    /// What its games depend on.
    pub config: &'a PlayConfig,
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
    /// Whether the games say when they were played.
    pub times: bool,
    /// Who writes the results.
    pub worker: &'a str,
}

/// How far a match is.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct MatchProgress {
    /// Games finished.
    pub finished: u64,
    /// Points that the player who is named first made; a draw is half a point.
    pub points: f64,
    /// Positions evaluated.
    pub evaluations: u64,
    /// Times that a game was void.
    pub void: u64,
    /// Games that were void so often that they are missing.
    pub missing: u64,
}

/// What came of a match.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Played {
    pub progress: MatchProgress,
    /// The numbers of the games that are missing.
    pub missing: BTreeSet<u64>,
    /// Why the last void game does not count.
    pub reason: Option<String>,
}

impl MatchProgress {
    /// The same as the second player sees it.
    pub(crate) fn turned(self) -> MatchProgress {
        MatchProgress { points: self.finished as f64 - self.points, ..self }
    }
}

impl MatchRunner<'_> {
    /// Plays the games and publishes their results as they come, until all are played or `stop` is requested.
    ///
    /// A void game is replayed, at most twice: a crash of an engine is no win of its opponent. `watch` gets the progress
    /// several times a second.
    ///
    /// # Errors
    /// A network fails, several consecutive games are void, whichever threads play them, or the store refuses the
    /// results. Results that were published stay.
    pub(crate) fn play(&self, stop: &Stop, watch: &mut dyn FnMut(MatchProgress)) -> Result<Played, EvaluatorError> {
        let stats = Arc::new(EvaluatorStats::default());
        let threads = most_threads(self.threads, self.games.len(), self.engines().filter_map(Engine::processes).min());
        // Whether the store refuses results: games in progress would be lost, too.
        let failed = AtomicBool::new(false);
        let streak = VoidStreak::default();
        let played = thread::scope(|scope| {
            let (sender, finished) = mpsc::channel();
            let workers: Vec<_> = (0..threads)
                .map(|thread| {
                    let (sender, stats, failed, streak) = (sender.clone(), &stats, &failed, &streak);
                    // Which thread plays a game is fixed beforehand, so that it does not depend on timing.
                    let games = self.games.iter().copied().skip(thread).step_by(threads);
                    let slots = self.slots(threads);
                    scope.spawn(move || self.work((games.collect(), slots), streak, &sender, stats, stop, failed))
                })
                .collect();
            drop(sender);
            let played = self.collect(&finished, &stats, watch);
            failed.store(played.is_err(), Ordering::Relaxed);
            drop(finished);
            let worked = workers.into_iter().try_for_each(|worker| worker.join().expect("a worker does not panic"));
            played.and_then(|played| worked.map(|()| played))
        })?;
        match streak.hopeless() {
            None => Ok(played),
            Some((games, reason)) => Err(self.voids(games, reason)),
        }
    }

    /// The error of a match whose games are void.
    pub(crate) fn voids(&self, games: u32, reason: String) -> EvaluatorError {
        let (first, second) = (self.first.id().to_string(), self.second.id().to_string());
        EvaluatorError::Voids { first, second, games, reason }
    }

    /// One thread: its own networks, its own games, of which so many are in progress at once.
    fn work(
        &self,
        (games, slots): (VecDeque<u64>, usize),
        streak: &VoidStreak,
        finished: &Sender<Result<Finish, Void>>,
        stats: &Arc<EvaluatorStats>,
        stop: &Stop,
        failed: &AtomicBool,
    ) -> Result<(), EvaluatorError> {
        let players = [self.first, self.second];
        let searchers = players.map(Player::searcher);
        let instrumented = |searcher: &Searcher| Instrumented::new(searcher.evaluator(self.cache), Arc::clone(stats));
        let mut models: Vec<_> = searchers.iter().flatten().map(|searcher| instrumented(searcher)).collect();
        let indices = [0, usize::from(searchers[0].is_some())];
        let (first, second) = (self.first.side(indices[0]), self.second.side(indices[1]));
        let retries = RefCell::new(Retries::new(games, streak));
        let played = play::run(
            &mut models.iter_mut().map(|model| model as &mut dyn Evaluator).collect::<Vec<_>>(),
            &mut Vec::new(),
            slots,
            &mut || {
                let (index, attempt) = retries.borrow_mut().next()?;
                let spec = MatchSpec::new(self.config, &first, &second, index).timed(self.times);
                Some(Match::new(spec, &mut |spec, color| self.external(spec, color, attempt)))
            },
            &mut |game| {
                retries.borrow_mut().finished(&game);
                // Without a receiver the match has failed.
                drop(finished.send(game));
            },
            &mut |_| {
                let leave = stop.requested() || failed.load(Ordering::Relaxed) || streak.is_hopeless();
                if leave { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            },
        );
        match played {
            // Games in progress are lost when the process is to stop, whether or not an inference server is there.
            Err(error) if lost_at_stop(&error, stop) => Ok(()),
            played => played.map_err(|source| {
                let (first, second) = (self.first.id().to_string(), self.second.id().to_string());
                EvaluatorError::Evaluate { first, second, source }
            }),
        }
    }

    /// The program that plays a colour of a game, with chances of its own at each attempt.
    fn external(&self, spec: &MatchSpec, color: Color, attempt: u64) -> Box<dyn ExternalPlayer> {
        let first = (color == Color::Black) == spec.index().is_multiple_of(2);
        let player = if first { self.first } else { self.second };
        let engine = player.engine().expect("Match::new requests programs for By::ExternalPlayer alone");
        let seed = game_seed(spec.seed(), engine.name().as_str(), "guest", attempt);
        let size = Size::new(self.config.game.size).expect("the configuration was checked");
        engine.player(size, self.config.game.komi, seed)
    }

    /// The programs among the players.
    fn engines(&self) -> impl Iterator<Item = &Engine> {
        [self.first, self.second].into_iter().filter_map(Player::engine)
    }

    /// Games that each thread keeps going: enough for a batch of each player, and no more than programs can play at once.
    fn slots(&self, threads: usize) -> usize {
        let players = [self.first, self.second];
        let leaves = players
            .iter()
            .filter_map(|player| player.searcher())
            .map(|searcher| searcher.budget().leaves)
            .max()
            .unwrap_or(1);
        let programs = self.engines().filter_map(|engine| engine.games(threads)).min();
        (2 * self.config.evaluate.batch / leaves).min(programs.unwrap_or(usize::MAX)).max(1)
    }

    /// Publishes what the workers finish.
    fn collect(
        &self,
        finished: &Receiver<Result<Finish, Void>>,
        stats: &EvaluatorStats,
        watch: &mut dyn FnMut(MatchProgress),
    ) -> Result<Played, EvaluatorError> {
        let Played { mut progress, mut missing, mut reason } = Played::default();
        // By game: how often it was void.
        let mut voids: BTreeMap<u64, u64> = BTreeMap::new();
        let mut waiting: Vec<GameRecord> = Vec::new();
        let mut published = Instant::now();
        loop {
            match finished.recv_timeout(BEAT) {
                Ok(Ok(Finish { record, breach })) => {
                    if let Some(breach) = breach {
                        let GameRecord { black, white, index, .. } = &record;
                        tracing::warn!(%black, %white, game = index, reason = breach, "a game is lost by forfeit");
                    }
                    progress.finished += 1;
                    progress.points += self.points(&record);
                    waiting.push(record);
                }
                Ok(Err(void)) => {
                    progress.void += 1;
                    let times = voids.entry(void.index).or_default();
                    *times += 1;
                    if *times == TRIES {
                        missing.insert(void.index);
                        progress.missing += 1;
                    }
                    let (first, second) = (self.first.id(), self.second.id());
                    tracing::warn!(%first, %second, game = void.index, reason = void.reason, "a game does not count");
                    reason = Some(void.reason);
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
            if published.elapsed() >= BEAT {
                self.publish(&mut waiting)?;
                published = Instant::now();
            }
            progress.evaluations = stats.counts().evaluations;
            watch(progress);
        }
        self.publish(&mut waiting)?;
        Ok(Played { progress, missing, reason })
    }

    /// Points of the first player in a game.
    fn points(&self, record: &GameRecord) -> f64 {
        let as_black = record.black == self.first.id().to_string();
        record.outcome.points(if as_black { Color::Black } else { Color::White })
    }

    /// Publishes the games in the order of their numbers, whichever finished first.
    fn publish(&self, waiting: &mut Vec<GameRecord>) -> Result<(), EvaluatorError> {
        if waiting.is_empty() {
            return Ok(());
        }
        waiting.sort_by_key(|game| game.index);
        let file = self.run.matches().publish(self.worker, waiting)?;
        tracing::debug!(games = waiting.len(), %file, "published results");
        waiting.clear();
        Ok(())
    }
}

/// Threads of those that are there, for so many games: no more than there are processes of a program at once.
fn most_threads(threads: usize, games: usize, processes: Option<usize>) -> usize {
    threads.min(games).min(processes.unwrap_or(usize::MAX)).max(1)
}

/// The first `wanted` numbers of a series that are not played yet, if that many games are not there already.
pub(crate) fn missing(played: &BTreeSet<u64>, wanted: u64) -> Vec<u64> {
    (0..wanted).filter(|index| !played.contains(index)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_are_no_more_than_games_and_processes() {
        assert_eq!([most_threads(8, 100, None), most_threads(8, 3, None), most_threads(8, 0, None)], [8, 3, 1]);
        assert_eq!([most_threads(64, 100, Some(16)), most_threads(4, 100, Some(16))], [16, 4]);
    }
}
