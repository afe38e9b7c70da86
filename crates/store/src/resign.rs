//! The resignation threshold, recomputed from the newest calibration games.

use config::Resign;
use object_store::path::Path;
use record::resign::Calibration;
use serde::{Deserialize, Serialize};

use crate::names::{number_name, parse_number, parse_time};
use crate::numbers;
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

/// A threshold as it is stored.
#[derive(Serialize, Deserialize)]
struct Dated {
    /// When it was published, in milliseconds since 1970. Those of earlier versions are named by it instead.
    #[serde(default)]
    time: u64,
    #[serde(flatten)]
    threshold: ResignThreshold,
}

/// The number of the newest threshold that was read, and what it says.
#[derive(Debug, Default)]
pub(crate) struct Newest(Option<(u32, ResignThreshold)>);

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
    /// [`StoreError::Damaged`] for games that this version cannot read. Damaged ones are moved to quarantine.
    pub fn update_resign(&self, settings: &Resign) -> Result<Option<ResignThreshold>, StoreError> {
        let bleakest = self.bleakest(settings.games)?;
        let found = Calibration::of(&bleakest.values, f64::from(settings.quantile), settings.min_games);
        let Some(found) = found.map(|found| describe(&found, &bleakest, settings)) else { return Ok(None) };
        if self.resign_in_force()?.as_ref() != Some(&found) {
            self.publish_resign(&found)?;
        }
        Ok(Some(found))
    }

    /// Publishes a threshold that holds from now on, under the next number: whatever clocks say, it comes after those before.
    ///
    /// # Errors
    /// A store that cannot be written.
    pub fn publish_resign(&self, threshold: &ResignThreshold) -> Result<(), StoreError> {
        self.resign_in_force()?;
        let stored = Dated { time: self.store().now(), threshold: threshold.clone() };
        let mut number = self.known_threshold().map_or(0, |known| known.0);
        loop {
            number += 1;
            match self.store().publish_toml(&self.resign_path(&number_name(number)), &stored) {
                // Somebody else has published one meanwhile, from the same games or from fewer.
                Err(StoreError::AlreadyExists { .. }) => {}
                done => return done,
            }
        }
    }

    /// The newest threshold; `None` before any. In a run that has only thresholds of earlier versions, which are named by times,
    /// their folder is listed.
    ///
    /// # Errors
    /// [`StoreError::Damaged`] when it cannot be read.
    pub fn newest_resign(&self) -> Result<Option<ResignThreshold>, StoreError> {
        self.resign_in_force()?.map_or_else(|| self.old_resign(), |found| Ok(Some(found)))
    }

    /// As [`Run::newest_resign`] for the many who ask again and again: thresholds are numbered without gaps, so that is one
    /// small question while there is nothing new. Nothing is listed, and thresholds that are named by times are not seen;
    /// [`Run::update_resign`] gives the newest of them a number.
    ///
    /// # Errors
    /// As [`Run::newest_resign`].
    pub fn resign_in_force(&self) -> Result<Option<ResignThreshold>, StoreError> {
        let known = self.known_threshold();
        let from = known.as_ref().map_or(0, |known| known.0);
        let newest = numbers::last(from, |number| self.store().exists(&self.resign_path(&number_name(number))))?;
        if newest == from {
            return Ok(known.map(|known| known.1));
        }
        let (_, found) = self.resign_at(&number_name(newest))?;
        *self.threshold.lock().expect("nobody panics while holding it") = Newest(Some((newest, found.clone())));
        Ok(Some(found))
    }

    fn known_threshold(&self) -> Option<(u32, ResignThreshold)> {
        self.threshold.lock().expect("nobody panics while holding it").0.clone()
    }

    /// The newest of the thresholds that are named by times, as those of earlier versions are.
    fn old_resign(&self) -> Result<Option<ResignThreshold>, StoreError> {
        let newest = self.resigns()?.into_iter().rfind(|name| parse_time(name).is_some());
        newest.map(|name| Ok(self.resign_at(&name)?.1)).transpose()
    }

    /// The names of all thresholds, in the order in which they were published.
    ///
    /// # Errors
    /// A store that cannot be reached.
    pub fn resigns(&self) -> Result<Vec<String>, StoreError> {
        let files = self.store().files(&self.path([RESIGN]))?;
        let names = || files.iter().filter_map(|name| name.strip_suffix(TOML));
        let old = names().filter(|name| parse_time(name).is_some());
        let numbered = names().filter(|name| parse_number(name).is_some());
        Ok(old.chain(numbered).map(str::to_owned).collect())
    }

    /// The threshold with one of the names of [`Run::resigns`], and when it was published, in milliseconds since 1970.
    ///
    /// # Errors
    /// [`StoreError::NotFound`] for another name, [`StoreError::Damaged`] when it cannot be read.
    pub fn resign_at(&self, name: &str) -> Result<(u64, ResignThreshold), StoreError> {
        let path = self.resign_path(name);
        let found: Option<Dated> = self.store().find_toml(&path)?;
        let found = found.ok_or_else(|| StoreError::NotFound { path: self.store().name(&path) })?;
        Ok((parse_time(name).unwrap_or(found.time), found.threshold))
    }

    /// The full name of the file of a threshold, for people.
    pub fn resign_name(&self, name: &str) -> String {
        self.store().name(&self.resign_path(name))
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
                let Some(summaries) = self.summaries_or_quarantine(&file)? else { continue };
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

    fn resign_path(&self, name: &str) -> Path {
        self.path([RESIGN]).join(format!("{name}{TOML}"))
    }
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
