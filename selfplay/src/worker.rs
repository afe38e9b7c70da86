//! One thread: its own network, and the games that it plays.

use std::cell::Cell;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::SyncSender;

use models::{Model, lost_at_stop};
use play::{Instrumented, Selfplay, SelfplaySpec};
use record::GameRecord;

use crate::SelfplayError;
use crate::live::Follower;
use crate::shared::Shared;

/// Plays games that are wanted and not published, and sends the records. `games` are those to resume first. They are
/// left unfinished when the model is to be followed within games and no more are to be started.
pub(crate) fn play(
    shared: &Shared<'_>,
    thread: usize,
    model: &Model,
    games: &mut Vec<Selfplay>,
    finished: &SyncSender<GameRecord>,
) -> Result<(), SelfplayError> {
    let job = shared.job;
    let (name, config) = (shared.name, shared.config);
    let slots = config.selfplay_slots();
    let mut evaluator =
        Instrumented::new(model.evaluator_keeping(job.cache, job.evaluations.clone()), Arc::clone(&shared.stats));
    games.iter_mut().for_each(|game| game.take_over(name));
    // A worker with more threads handed off more games than fit; they come before new ones.
    let mut later = games.split_off(games.len().min(slots));
    // Not before a game is finished: at the start of a job this thread would take the games of threads that are about
    // to begin.
    let helps = Cell::new(false);
    let mut follower = shared.live.as_ref().filter(|_| thread == 0).map(Follower::new);
    let played = play::run(
        &mut [&mut evaluator],
        games,
        slots,
        &mut || {
            if let Some(game) = later.pop() {
                return Some(game);
            }
            if shared.enough.load(Ordering::Relaxed) {
                return None;
            }
            let shares = &shared.shares;
            let next = if helps.get() { shares.next_or_help(thread) } else { shares.next(thread) };
            let index = next?;
            let spec = SelfplaySpec::new(config, name, shared.series.as_str(), index, job.threshold.get());
            Some(Selfplay::new(spec.timed(job.times)))
        },
        &mut |record| {
            helps.set(true);
            // The receiver is gone only after a panic of the collector.
            if finished.send(record).is_err() {
                shared.failed.store(true, Ordering::Relaxed);
            }
        },
        &mut |games| {
            follower.iter_mut().for_each(|follower| follower.follow(games));
            let hand_over = config.selfplay.follow_within_games && shared.enough.load(Ordering::Relaxed);
            let leave = hand_over || shared.stop.requested() || shared.failed.load(Ordering::Relaxed);
            if leave { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        },
    );
    games.append(&mut later);
    if played.is_err() {
        // The job is over, and the other threads might play for hours.
        shared.failed.store(true, Ordering::Relaxed);
    }
    match played {
        // Games in progress are put down as they are when the process is to stop and no inference server is there.
        Err(error) if lost_at_stop(&error, shared.stop) => Ok(()),
        played => played.map_err(|source| SelfplayError::Evaluate { model: job.model.clone(), source }),
    }
}
