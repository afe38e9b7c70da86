//! Which games are calibration games.

use config::PlayConfig;

use crate::seed::game_seed;

/// The share of a series is counted in whole millionths, so that no rounding adds or drops a game.
const UNIT: u64 = 1_000_000;

/// The worker whose first game is a calibration game: the one of `tengen run`, and the first of several. With another
/// name all games of its runs are other ones.
pub const FIRST_WORKER: &str = "0";

/// The calibration games of a series: the games that a worker plays with a model.
///
/// Of any n games in a row, n times the share are calibration games, rounded up or down. Where the first one is depends
/// on the series, so that the share also holds for many workers that play a few games each. If every series began with
/// a calibration game, ten workers of one game each would play nothing else.
#[derive(Clone, Copy, Debug)]
pub struct CalibrationGames {
    /// The share, in units.
    share: u64,
    /// Where the sum of the shares begins, in units; below one game.
    phase: u64,
}

impl CalibrationGames {
    /// Those of the games that `worker` plays with `model`, for which `config` is in force.
    pub fn of(config: &PlayConfig, model: &str, worker: &str) -> CalibrationGames {
        let share = config.resign.calibration_fraction;
        // A worker that is alone calibrates a new model at once. No game has the last index.
        let first = worker == FIRST_WORKER;
        let phase = if first { UNIT - 1 } else { game_seed(config.seed, model, worker, u64::MAX) % UNIT };
        // Only a share of 0 is none.
        let least = u64::from(share > 0.0);
        CalibrationGames { share: ((f64::from(share) * UNIT as f64).round() as u64).max(least), phase }
    }

    /// Whether no game is one.
    pub fn is_empty(self) -> bool {
        self.share == 0
    }

    /// Whether the `index`-th game of the series is one.
    pub fn contains(self, index: u64) -> bool {
        // Its share completes a whole game, with the fraction that the games before it have added up to.
        (index % UNIT * self.share + self.phase) % UNIT + self.share >= UNIT
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(share: f64) -> PlayConfig {
        let share = format!("resign.calibration_fraction={share}");
        (&config::Preset::Tiny.with(&[share]).expect("the override is good")).into()
    }

    /// How many of these games of a series are calibration games.
    fn count(share: f64, series: (&str, &str), games: std::ops::Range<u64>) -> u64 {
        count_with(&config(share), series, games)
    }

    fn count_with(config: &PlayConfig, (model, worker): (&str, &str), games: std::ops::Range<u64>) -> u64 {
        let calibration = CalibrationGames::of(config, model, worker);
        games.filter(|&index| calibration.contains(index)).count() as u64
    }

    #[test]
    fn first_worker_calibrates_at_once_and_keeps_its_share() {
        let calibration = CalibrationGames::of(&config(0.1), "v15-3", FIRST_WORKER);
        let first: Vec<u64> = (0..31).filter(|&index| calibration.contains(index)).collect();
        assert_eq!(first, [0, 10, 20, 30]);
        for games in [10, 100, 1000] {
            assert_eq!(count(0.1, ("v15-3", "0"), 0..games), games / 10);
        }
    }

    #[test]
    fn every_part_of_a_series_has_its_share() {
        for worker in ["0", "1", "2", "pod-7", "3-uniform"] {
            for share in [0.01, 0.1, 0.3, 0.95] {
                for (first, games) in [(0, 1), (0, 7), (3, 64), (999_990, 25), (1 << 60, 1000)] {
                    let found = count(share, ("v15-3", worker), first..first + games) as f64;
                    let expected = share * games as f64;
                    assert!((found - expected).abs() < 1.001, "{worker} {share} {first} {games}: {found}");
                }
            }
        }
    }

    #[test]
    fn many_workers_of_few_games_have_the_share_of_one() {
        let config = config(0.1);
        for games in [1, 3, 12] {
            let mut found = 0;
            for (worker, model) in (0..1000).map(|series| (series % 100, series / 100)) {
                let (worker, model) = (format!("{worker}"), format!("v15-{model}"));
                found += count_with(&config, (model.as_str(), worker.as_str()), 0..games);
            }
            let all = 1000.0 * games as f64;
            // By chance a series has one more or less: three standard deviations of 1,000 of them are 47 at most. The
            // first worker may add one for each model.
            assert!((found as f64 - 0.1 * all).abs() < 57.0, "{found} of {all}");
        }
    }

    #[test]
    fn share_of_nothing_is_none_and_of_everything_all() {
        for worker in ["0", "1"] {
            assert_eq!((count(0.0, ("v15-3", worker), 0..50), count(1.0, ("v15-3", worker), 0..50)), (0, 50));
            let calibration = |share| CalibrationGames::of(&config(share), "v15-3", worker);
            assert!(calibration(0.0).is_empty() && !calibration(1e-9).is_empty());
            assert_eq!(count(1e-9, ("v15-3", worker), 0..UNIT), 1, "a share above 0 is not none");
        }
    }
}
