//! The resignation threshold, recomputed from the newest calibration games.

use config::Resign;
use object_store::path::Path;
use record::resign::Calibration;
use serde::{Deserialize, Serialize};

use crate::names::{now, parse_time, time_name};
use crate::{Run, StoreError};

const RESIGN: &str = "resign";
const TOML: &str = ".toml";

/// A published threshold, and the games it comes from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ResignThreshold {
    /// Root value for the mover below which it resigns: -1 to 0.
    pub threshold: f32,
    /// The quantile of the bleakest values that it is.
    pub quantile: f32,
    /// Calibration games with a winner that it comes from: the newest ones.
    pub games: usize,
    /// The oldest model that played one of them.
    pub from_model: u32,
    /// The newest model that played one of them.
    pub to_model: u32,
    /// Share of these games that the winner would have resigned at this threshold.
    pub false_positive_rate: f64,
    /// Lower end of the 95 % interval of that share.
    pub rate_low: f64,
    /// Upper end of the 95 % interval of that share.
    pub rate_high: f64,
}

/// The bleakest values of the newest calibration games that have a winner.
#[derive(Clone, Debug, Default, PartialEq)]
struct Bleakest {
    values: Vec<f32>,
    from_model: u32,
    to_model: u32,
}

impl Run {
    /// Computes the threshold from the newest calibration games, and publishes it unless it is the newest already.
    /// `None` while there are too few games.
    ///
    /// # Errors
    /// [`StoreError::Damaged`] when some of the games cannot be read.
    pub fn update_resign(&self, settings: &Resign) -> Result<Option<ResignThreshold>, StoreError> {
        let bleakest = self.bleakest(settings.games)?;
        let found = Calibration::of(&bleakest.values, f64::from(settings.quantile), settings.min_games);
        let Some(found) = found.map(|found| describe(&found, &bleakest, settings)) else { return Ok(None) };
        if self.newest_resign()?.as_ref() != Some(&found) {
            self.publish_resign(&found)?;
        }
        Ok(Some(found))
    }

    /// Publishes a threshold that holds from now on.
    ///
    /// # Errors
    /// A store that cannot be written.
    pub fn publish_resign(&self, threshold: &ResignThreshold) -> Result<(), StoreError> {
        self.store().publish_toml(&self.resign_path(now()), threshold)
    }

    /// The newest threshold; `None` before any.
    ///
    /// # Errors
    /// [`StoreError::Damaged`] when it cannot be read.
    pub fn newest_resign(&self) -> Result<Option<ResignThreshold>, StoreError> {
        let newest = self.newest_name(RESIGN, |name| Ok(time_of(name).is_some()))?;
        newest.and_then(|name| time_of(&name)).map_or(Ok(None), |time| self.store().find_toml(&self.resign_path(time)))
    }

    /// When thresholds were published, in milliseconds since 1970, ascending.
    ///
    /// # Errors
    /// A store that cannot be reached.
    pub fn resign_times(&self) -> Result<Vec<u64>, StoreError> {
        let files = self.store().files(&self.path([RESIGN]))?;
        Ok(files.iter().filter_map(|name| time_of(name)).collect())
    }

    /// The threshold that was published at one of the [`Run::resign_times`].
    ///
    /// # Errors
    /// [`StoreError::NotFound`] for another time, [`StoreError::Damaged`] when it cannot be read.
    pub fn resign_at(&self, time: u64) -> Result<ResignThreshold, StoreError> {
        let path = self.resign_path(time);
        self.store().find_toml(&path)?.ok_or_else(|| StoreError::NotFound { path: self.store().name(&path) })
    }

    /// The full name of the file of a threshold, for people.
    pub fn resign_name(&self, time: u64) -> String {
        self.store().name(&self.resign_path(time))
    }

    /// Reads games from the newest file backwards until there are enough. The values of `random`, model 0, mean nothing,
    /// so its games say nothing about when to resign.
    fn bleakest(&self, games: usize) -> Result<Bleakest, StoreError> {
        let mut found = Bleakest::default();
        let newest = self.newest_player()?.unwrap_or_default();
        for model in (1..=newest).rev() {
            for file in self.game_files(model)?.into_iter().rev() {
                let games_left = games - found.values.len();
                if games_left == 0 {
                    return Ok(found);
                }
                let summaries = self.read_summaries(&file)?;
                let calibration = summaries.iter().rev().filter(|game| game.calibration);
                let before = found.values.len();
                found.values.extend(calibration.filter_map(|game| game.bleakest_value).take(games_left));
                if found.values.len() > before {
                    found.from_model = model;
                    found.to_model = found.to_model.max(model);
                }
            }
        }
        Ok(found)
    }

    fn resign_path(&self, time: u64) -> Path {
        self.path([RESIGN]).join(format!("{}{TOML}", time_name(time)))
    }
}

fn time_of(name: &str) -> Option<u64> {
    parse_time(name.strip_suffix(TOML)?)
}

fn describe(found: &Calibration, bleakest: &Bleakest, settings: &Resign) -> ResignThreshold {
    let (rate_low, rate_high) = found.interval();
    ResignThreshold {
        threshold: found.threshold,
        quantile: settings.quantile,
        games: found.games,
        from_model: bleakest.from_model,
        to_model: bleakest.to_model,
        false_positive_rate: found.false_positive_rate(),
        rate_low,
        rate_high,
    }
}
