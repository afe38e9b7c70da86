//! Which thread plays which games.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

use config::PlayConfig;
use play::CalibrationGames;

use crate::job::{Extent, Job};
use crate::series::Series;

/// The games of a job that are still to be begun, dealt to its threads.
///
/// A thread whose own are begun takes those of others after its first finished game, since neither cores nor games are
/// equally fast. On CPUs, which thread plays a game has no influence on it; on a GPU, none beyond rounding.
pub(crate) struct Shares {
    threads: Vec<Mutex<Share>>,
}

/// The games of one thread.
type Share = Box<dyn Iterator<Item = u64> + Send>;

impl Shares {
    /// The games of the series that are wanted and not `begun`.
    pub(crate) fn new(job: &Job, config: &PlayConfig, series: &Series, begun: BTreeSet<u64>) -> Shares {
        let calibration = CalibrationGames::of(config, &job.model.to_string(), series.as_str());
        let begun = Arc::new(begun);
        let share = |thread| -> Share {
            let begun = Arc::clone(&begun);
            let wanted = order(job, config, calibration).filter(move |index| !begun.contains(index));
            Box::new(dealt(wanted, calibration, thread, job.threads))
        };
        Shares { threads: (0..job.threads).map(|thread| Mutex::new(share(thread))).collect() }
    }

    /// The next game of a thread's own.
    pub(crate) fn next(&self, thread: usize) -> Option<u64> {
        next_of(&self.threads[thread])
    }

    /// The next game of a thread's own, or one of another thread when these are begun.
    pub(crate) fn next_or_help(&self, thread: usize) -> Option<u64> {
        let (before, own) = self.threads.split_at(thread);
        own.iter().chain(before).find_map(next_of)
    }
}

fn next_of(share: &Mutex<Share>) -> Option<u64> {
    share.lock().unwrap_or_else(PoisonError::into_inner).next()
}

/// The games of the job in the order in which they begin.
///
/// Calibration games come first where all games are sure to be played: they are the longest. Where the job may end at
/// any of its games they come between the others, so that their share is right whenever that is.
fn order(job: &Job, config: &PlayConfig, calibration: CalibrationGames) -> impl Iterator<Item = u64> + use<> {
    let sorts = matches!(job.extent, Extent::Whole(_)) && !calibration.is_empty();
    calibration_first(calibration, if sorts { config.selfplay.games as u64 } else { 1 }, job.extent.end())
}

/// The games 0 to `games`, in each `block` of them the calibration games first.
fn calibration_first(calibration: CalibrationGames, block: u64, games: u64) -> impl Iterator<Item = u64> {
    (0..games).step_by(block as usize).flat_map(move |first| {
        let block = first..games.min(first.saturating_add(block));
        let others = block.clone().filter(move |&index| !calibration.contains(index));
        block.filter(move |&index| calibration.contains(index)).chain(others)
    })
}

/// The games of one thread: every `threads`-th calibration game, and every `threads`-th of the others. Dealt together,
/// all calibration games might fall to one thread, and these are longer.
fn dealt(
    games: impl Iterator<Item = u64>,
    calibration: CalibrationGames,
    thread: usize,
    threads: usize,
) -> impl Iterator<Item = u64> {
    let mut dealt = [0_usize; 2];
    games.filter(move |&index| {
        let is_calibration = calibration.contains(index);
        let count = &mut dealt[usize::from(is_calibration)];
        let place = *count % threads;
        *count += 1;
        // From either end, so that no thread has two games more than another. Spectators follow the first thread, and
        // most games are no calibration games.
        thread == if is_calibration { threads - 1 - place } else { place }
    })
}

#[cfg(test)]
pub(crate) mod tests {
    use config::{ModelId, RunConfig};

    use super::*;
    use crate::{Follow, OnShutdown, Threshold, series};

    fn config(overrides: &[&str]) -> RunConfig {
        config::Preset::Tiny.with(overrides).expect("the overrides are good")
    }

    /// A job of worker 0 with `random`, in one thread.
    pub(crate) fn job(config: &RunConfig, extent: Extent) -> Job {
        Job {
            config: config.into(),
            model: ModelId::Random,
            worker: "0".to_owned(),
            extent,
            threads: 1,
            cache: 0,
            evaluations: None,
            times: false,
            live: None,
            on_shutdown: OnShutdown::Discard,
            follow: Follow::One,
            threshold: Threshold::new(None),
        }
    }

    /// The calibration games of worker 0, and the order of a job.
    fn of(job: &Job) -> (CalibrationGames, impl Iterator<Item = u64>) {
        let calibration = CalibrationGames::of(&job.config, "random", "0");
        (calibration, order(job, &job.config, calibration))
    }

    #[test]
    fn every_game_of_a_whole_job_is_played_once_and_calibration_games_come_first() {
        let config = config(&["resign.calibration_fraction=0.2", "selfplay.games=10"]);
        let games: Vec<u64> = of(&job(&config, Extent::Whole(25))).1.collect();
        assert_eq!(games, [0, 5, 1, 2, 3, 4, 6, 7, 8, 9, 10, 15, 11, 12, 13, 14, 16, 17, 18, 19, 20, 21, 22, 23, 24]);
        assert_eq!(of(&job(&config, Extent::Whole(0))).1.count(), 0);
    }

    #[test]
    fn job_that_may_end_at_any_game_has_its_share_of_calibration_games_by_then() {
        let config = config(&["resign.calibration_fraction=0.1", "selfplay.games=20000"]);
        for extent in [Extent::AtMost(25_000), Extent::Open] {
            let job = job(&config, extent);
            let begun = |most: usize| of(&job).1.take(most);
            for most in [10, 40, 320, 2500] {
                let found = begun(most).filter(|&index| of(&job).0.contains(index)).count();
                assert_eq!(found, most / 10, "of {most}");
            }
            assert!(begun(1000).eq(0..1000));
        }
    }

    #[test]
    fn thread_that_helps_takes_the_games_of_others_once_its_own_are_begun() {
        let config = config(&["resign.calibration_fraction=0"]);
        let job = Job { threads: 3, ..job(&config, Extent::Whole(9)) };
        let shares = Shares::new(&job, &job.config, &series::of(&job.model, "0").1, BTreeSet::from([4]));
        let own = |thread| std::iter::from_fn(|| shares.next(thread)).collect::<Vec<u64>>();
        let all = |thread| std::iter::from_fn(|| shares.next_or_help(thread)).collect::<Vec<u64>>();
        assert_eq!(own(1), [1, 5, 8]);
        assert_eq!(shares.next_or_help(2), Some(2));
        assert_eq!(all(1), [6, 0, 3, 7]);
        assert_eq!((all(0), all(2)), (Vec::new(), Vec::new()));
    }

    #[test]
    fn order_of_a_huge_job_without_calibration_games_is_known_at_once() {
        let config = config(&["resign.calibration_fraction=0", "selfplay.games=1000000000000"]);
        assert!(of(&job(&config, Extent::Whole(1_000_000_000_000))).1.take(3).eq(0..3));
    }

    #[test]
    fn threads_share_the_games_and_the_calibration_games_evenly() {
        let config = config(&["resign.calibration_fraction=0.1"]);
        for threads in [1, 2, 9, 10, 11, 20] {
            let job = job(&config, Extent::AtMost(1003));
            let (calibration, _) = of(&job);
            let share = |thread| dealt(of(&job).1, calibration, thread, threads).collect::<Vec<u64>>();
            let shares: Vec<Vec<u64>> = (0..threads).map(share).collect();
            let mut all: Vec<u64> = shares.iter().flatten().copied().collect();
            all.sort_unstable();
            assert!(all.into_iter().eq(0..1003), "{threads} threads play each game once");
            let spread = |counts: Vec<usize>| {
                counts.iter().max().copied().unwrap_or_default() - counts.iter().min().copied().unwrap_or_default()
            };
            let is_calibration = |index: &&u64| calibration.contains(**index);
            let counts = shares.iter().map(|share| share.iter().filter(is_calibration).count()).collect();
            assert!(spread(counts) <= 1 && spread(shares.iter().map(Vec::len).collect()) <= 1, "{threads} threads");
        }
    }
}
