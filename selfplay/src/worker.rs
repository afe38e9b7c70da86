//! One thread: its own network, its own games.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::SyncSender;

use exit_class::ExitClass;
use models::{Model, evaluate_class};
use play::{Instrumented, Selfplay, SelfplaySpec, is_calibration};
use record::GameRecord;

use crate::SelfplayError;
use crate::job::Shared;
use crate::live::Follower;

/// Plays every `threads`-th game that is wanted and not published, and sends the records. `games` are those to resume
/// first, and are left unfinished when the model is to be followed within games and no more are to be started.
///
/// The share of a thread is fixed beforehand, so that which thread plays a game does not depend on timing.
pub(crate) fn play(
    shared: &Shared<'_>,
    thread: usize,
    model: &Model,
    games: &mut Vec<Selfplay>,
    finished: &SyncSender<GameRecord>,
) -> Result<(), SelfplayError> {
    let job = shared.job;
    let (name, config) = (job.model.to_string(), shared.config);
    let order = calibration_first(config.resign.calibration_fraction, config.selfplay.games as u64, job.games);
    let wanted = order.filter(|index| !shared.begun.contains(index));
    let mut wanted = wanted.skip(thread).step_by(job.threads);
    let slots = config.selfplay.batch / config.search.leaves;
    let mut evaluator =
        Instrumented::new(model.evaluator_keeping(job.cache, job.evaluations.clone()), Arc::clone(&shared.stats));
    games.iter_mut().for_each(|game| game.take_over(&name));
    // A worker with more threads handed off more games than fit; they come before new ones.
    let mut later = games.split_off(games.len().min(slots));
    let mut follower = shared.live.as_ref().filter(|_| thread == 0).map(Follower::new);
    let played = play::run(
        &mut [&mut evaluator],
        games,
        slots,
        &mut || {
            if let Some(game) = later.pop() {
                return Some(game);
            }
            let index = wanted.next().filter(|_| !shared.enough.load(Ordering::Relaxed))?;
            let spec = SelfplaySpec::new(config, &name, shared.series, index, job.threshold.get());
            Some(Selfplay::new(spec.timed(job.times)))
        },
        &mut |record| {
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
        Err(error) if shared.stop.requested() && evaluate_class(&error) == ExitClass::StoreUnreachable => Ok(()),
        played => played.map_err(|source| SelfplayError::Evaluate { model: job.model.clone(), source }),
    }
}

/// The games 0 to `games`, in each `block` of them the calibration games first: the sooner they are over, the sooner the
/// threshold is that of the present model.
fn calibration_first(share: f32, block: u64, games: u64) -> impl Iterator<Item = u64> {
    (0..games).step_by(block as usize).flat_map(move |first| {
        let block = first..games.min(first.saturating_add(block));
        let others = block.clone().filter(move |&index| !is_calibration(index, share));
        block.filter(move |&index| is_calibration(index, share)).chain(others)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_game_is_played_once_and_calibration_games_come_first() {
        let order: Vec<u64> = calibration_first(0.2, 10, 25).collect();
        assert_eq!(order, [0, 5, 1, 2, 3, 4, 6, 7, 8, 9, 10, 15, 11, 12, 13, 14, 16, 17, 18, 19, 20, 21, 22, 23, 24]);
        assert_eq!(calibration_first(0.2, 10, u64::MAX).nth(1000), Some(1000));
        assert_eq!(calibration_first(0.2, 10, 0).count(), 0);
    }
}
