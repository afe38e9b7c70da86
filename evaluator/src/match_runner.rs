//! Two players meet.

use std::cell::RefCell;
use std::collections::{BTreeSet, VecDeque};
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread;
use std::time::{Duration, Instant};

use config::PlayConfig;
use go::Color;
use gtp::engines::Engine;
use mcts::Evaluator;
use models::{Searcher, lost_at_stop};
use play::{EvaluatorStats, ExternalPlayer, Finish, Instrumented, Match, MatchSpec, game_seed};
use record::GameRecord;
use runtime::Stop;
use store::Run;

use crate::EvaluatorError;
use crate::player::Player;
use crate::retries::{Failure, Retries, TRIES, VoidStreak};

/// Poll interval of the waiting thread. A result waits at most this long for others to share its file with, so that a
/// process that is killed loses hardly more than the games in progress.
const BEAT: Duration = Duration::from_millis(200);

/// Maximum games of a thread where each has a process of a program: while some wait for it, the others have positions
/// for a batch.
const PROCESSES: usize = 4;

/// Games between two players, by their numbers in the series of the pair: 2k and 2k + 1 share an opening and swap the
/// colours. A game is a function of the players, the configuration and its number; with a network on a GPU it may
/// differ.
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
    /// Whether the two have results of earlier matches.
    pub has_results: bool,
    /// Worker threads.
    pub threads: usize,
    /// Whether a GPU evaluates.
    pub gpu: bool,
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
    /// Games that were void as often as a game is begun.
    pub exhausted: u64,
}

/// What came of a match.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Played {
    pub progress: MatchProgress,
    /// The numbers of the games that were void as often as a game is begun.
    pub exhausted: BTreeSet<u64>,
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
    /// A void game is replayed, at most twice: a crash of an engine is no win of its opponent. `watch` gets the
    /// progress several times a second.
    ///
    /// # Errors
    /// A network fails, the store refuses the results, more consecutive games are void than are in progress at once, or
    /// games are void and the two are without results at the end. Results that were published stay.
    pub(crate) fn play(&self, stop: &Stop, watch: &mut dyn FnMut(MatchProgress)) -> Result<Played, EvaluatorError> {
        let stats = Arc::new(EvaluatorStats::default());
        let (threads, slots) = self.threads_and_slots();
        // Set where the store refuses results, which games in progress would have, too, and where games are void
        // anyway.
        let leave = AtomicBool::new(false);
        let mut streak = VoidStreak::new(self.games.len().min(threads * slots), self.has_results);
        let played = thread::scope(|scope| {
            let (sender, finished) = mpsc::channel();
            let workers: Vec<_> = (0..threads)
                .map(|thread| {
                    let (sender, stats, leave) = (sender.clone(), &stats, &leave);
                    // Which thread plays a game is fixed beforehand, so that it does not depend on timing.
                    let games = self.games.iter().copied().skip(thread).step_by(threads);
                    scope.spawn(move || self.work(games.collect(), slots, &sender, stats, stop, leave))
                })
                .collect();
            drop(sender);
            let played = self.collect(&finished, &stats, &mut streak, &leave, watch);
            leave.store(true, Ordering::Relaxed);
            drop(finished);
            let worked = workers.into_iter().try_for_each(|worker| worker.join().expect("a worker does not panic"));
            played.and_then(|played| worked.map(|()| played))
        })?;
        match streak.failure() {
            // Programs may get the signal, too.
            Some((games, reason)) if !stop.requested() => {
                let (first, second) = (self.first.id().to_string(), self.second.id().to_string());
                Err(EvaluatorError::Voids { first, second, games, reason })
            }
            _ => Ok(played),
        }
    }

    /// One thread: its own networks, its own games, of which so many are in progress at once.
    fn work(
        &self,
        games: VecDeque<u64>,
        slots: usize,
        finished: &Sender<Result<Finish, Failure>>,
        stats: &Arc<EvaluatorStats>,
        stop: &Stop,
        leave: &AtomicBool,
    ) -> Result<(), EvaluatorError> {
        let players = [self.first, self.second];
        let searchers = players.map(Player::searcher);
        let instrumented = |searcher: &Searcher| Instrumented::new(searcher.evaluator(self.cache), Arc::clone(stats));
        let mut models: Vec<_> = searchers.iter().flatten().map(|searcher| instrumented(searcher)).collect();
        let indices = [0, usize::from(searchers[0].is_some())];
        let (first, second) = (self.first.side(indices[0]), self.second.side(indices[1]));
        let retries = RefCell::new(Retries::new(games));
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
                // Without a receiver the match has failed.
                drop(finished.send(game.map_err(|void| retries.borrow_mut().void(void))));
            },
            &mut |_| {
                let leave = stop.requested() || leave.load(Ordering::Relaxed);
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
        engine.player(self.config.game.board(), self.config.game.komi, seed)
    }

    /// The programs among the players.
    fn engines(&self) -> impl Iterator<Item = &Engine> {
        [self.first, self.second].into_iter().filter_map(Player::engine)
    }

    /// The threads that play, and the games that each keeps going.
    fn threads_and_slots(&self) -> (usize, usize) {
        let players = [self.first, self.second];
        let leaves = players
            .iter()
            .filter_map(|player| player.searcher())
            .map(|searcher| searcher.budget().leaves)
            .max()
            .unwrap_or(1);
        let processes = self.engines().filter_map(Engine::processes).min();
        let threads = self.threads.min(self.games.len()).max(1);
        // Enough for a batch of each player.
        let slots = (2 * self.config.evaluate.batch / leaves).max(1);
        processes.map_or((threads, slots), |processes| share_processes(processes, threads, slots, self.gpu))
    }

    /// Publishes what the workers finish.
    fn collect(
        &self,
        finished: &Receiver<Result<Finish, Failure>>,
        stats: &EvaluatorStats,
        streak: &mut VoidStreak,
        leave: &AtomicBool,
        watch: &mut dyn FnMut(MatchProgress),
    ) -> Result<Played, EvaluatorError> {
        let Played { mut progress, mut exhausted } = Played::default();
        let mut waiting: Vec<GameRecord> = Vec::new();
        let mut published = Instant::now();
        loop {
            match finished.recv_timeout(BEAT) {
                Ok(Ok(Finish { record, breach })) => {
                    if let Some(breach) = breach {
                        let GameRecord { black, white, index, .. } = &record;
                        tracing::warn!(%black, %white, game = index, reason = breach, "a game is lost by forfeit");
                    }
                    streak.finished();
                    progress.finished += 1;
                    progress.points += self.points(&record);
                    waiting.push(record);
                }
                Ok(Err(failure)) => {
                    streak.void(&failure);
                    leave.fetch_or(streak.is_hopeless(), Ordering::Relaxed);
                    progress.void += 1;
                    let Failure { void, times } = failure;
                    if times == TRIES {
                        exhausted.insert(void.index);
                        progress.exhausted += 1;
                    }
                    let (first, second) = (self.first.id(), self.second.id());
                    tracing::warn!(%first, %second, game = void.index, reason = void.reason, "a game does not count");
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
        Ok(Played { progress, exhausted })
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

/// Threads of those that are there, and the games of each, for so many processes of a program. A GPU has larger batches
/// with few threads that have several games each; on CPUs each thread evaluates, so that there are as many as there can
/// be.
fn share_processes(processes: usize, threads: usize, slots: usize, gpu: bool) -> (usize, usize) {
    let slots = slots.min(PROCESSES).min(processes);
    if gpu {
        return (threads.min(processes / slots), slots);
    }
    let threads = threads.min(processes);
    (threads, slots.min(processes / threads))
}

/// Those of the first `wanted` numbers of a series that were not played.
pub(crate) fn missing(played: &BTreeSet<u64>, wanted: u64) -> Vec<u64> {
    (0..wanted).filter(|index| !played.contains(index)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn games_of_all_threads_have_a_process_each() {
        for (processes, threads, gpu, expected) in [
            (16, 32, true, (4, 4)),
            (16, 2, true, (2, 4)),
            (2, 32, true, (1, 2)),
            (16, 32, false, (16, 1)),
            (16, 4, false, (4, 4)),
            (1, 1, false, (1, 1)),
        ] {
            assert_eq!(share_processes(processes, threads, 16, gpu), expected, "{processes} for {threads}, {gpu}");
        }
        assert_eq!(share_processes(16, 32, 1, true), (16, 1));
    }
}
