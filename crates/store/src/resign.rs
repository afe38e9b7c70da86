//! Resignation thresholds.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

use object_store::path::Path;
use record::statistics::wilson;
use serde::{Deserialize, Serialize};

use crate::error::StoreError;
use crate::folder::RunFolder;
use crate::names::{TOML, number_name, parse_number};
use crate::numbers;

const RESIGN: &str = "resign";

/// A published threshold, and the games it comes from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ResignThreshold {
    /// Root value for the mover below which it resigns: -1 to 0.
    pub threshold: f32,
    /// The quantile of the winner's minimum root values that it is.
    pub quantile: f32,
    /// Calibration games with a winner that it comes from: the newest ones.
    pub games: usize,
    /// The oldest model that played one of them.
    pub from_model: u32,
    /// The newest model that played one of them.
    pub to_model: u32,
    /// Those of these games that were played under an earlier threshold; 0 in files that do not have the number.
    #[serde(default)]
    pub in_force_games: usize,
    /// Those of them whose winner would have resigned by the threshold of its game: the false positives.
    #[serde(default)]
    pub in_force_wrong: usize,
    /// Share of these games that the winner would have resigned at this threshold: by construction nearly the quantile.
    pub false_positive_rate: f64,
    /// Lower end of the 95 % interval of that share.
    pub rate_low: f64,
    /// Upper end of the 95 % interval of that share.
    pub rate_high: f64,
}

impl ResignThreshold {
    /// Share of false positives among the games that were played under earlier thresholds; 0 without such games.
    pub fn in_force_rate(&self) -> f64 {
        self.in_force_wrong as f64 / self.in_force_games.max(1) as f64
    }

    /// The 95 % interval of that share.
    pub fn in_force_interval(&self) -> (f64, f64) {
        wilson(self.in_force_wrong, self.in_force_games)
    }
}

/// A threshold as it is stored.
#[derive(Serialize, Deserialize)]
struct Dated {
    /// When it was published, in milliseconds since 1970.
    time: u64,
    #[serde(flatten)]
    threshold: ResignThreshold,
}

/// The number of the newest threshold that was seen, and what holds with it.
type Newest = (u32, Option<ResignThreshold>);

/// The resignation thresholds of a run.
#[derive(Debug)]
pub struct ResignThresholds {
    at: RunFolder,
    newest: Mutex<Newest>,
}

impl ResignThresholds {
    pub(crate) fn new(at: RunFolder) -> ResignThresholds {
        ResignThresholds { newest: Mutex::default(), at }
    }

    /// Publishes a threshold that holds from now on, under the next number: whatever clocks say, it comes after those
    /// before.
    ///
    /// # Errors
    /// A store that cannot be written.
    pub fn publish(&self, threshold: &ResignThreshold) -> Result<(), StoreError> {
        self.newest()?;
        let stored = Dated { time: self.at.store.now(), threshold: threshold.clone() };
        let (mut number, _) = self.known();
        loop {
            number += 1;
            match self.at.store.publish_toml(&self.file(&number_name(number)), &stored) {
                // Another process has published one meanwhile, from the same games or from fewer.
                Err(StoreError::AlreadyExists { .. }) => {}
                done => return done,
            }
        }
    }

    /// The newest threshold; `None` before any. Thresholds are numbered without gaps, so polling is one small request
    /// while there is nothing new, and lists nothing.
    ///
    /// Of one that is damaged, or of a later version, a warning is logged, and the one before it holds. All workers
    /// would stop at it, and with them the games that the next threshold is computed from.
    ///
    /// # Errors
    /// A store that cannot be reached.
    pub fn newest(&self) -> Result<Option<ResignThreshold>, StoreError> {
        let (from, known) = self.known();
        let newest = numbers::last(from, |number| self.at.store.exists(&self.file(&number_name(number))))?;
        if newest == from {
            return Ok(known);
        }
        let found = self.newest_readable(newest)?;
        *self.newest.lock().unwrap_or_else(PoisonError::into_inner) = (newest, found.clone());
        Ok(found)
    }

    /// The newest threshold up to a number that can be read.
    fn newest_readable(&self, newest: u32) -> Result<Option<ResignThreshold>, StoreError> {
        for number in (1..=newest).rev() {
            match self.get(&number_name(number)) {
                Err(error) if error.is_skippable() => {
                    tracing::warn!(%error, "skipped a resign threshold; the one before it holds");
                }
                found => return found.map(|(_, threshold)| Some(threshold)),
            }
        }
        Ok(None)
    }

    fn known(&self) -> Newest {
        self.newest.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The names of all thresholds, in the order in which they were published.
    ///
    /// # Errors
    /// A store that cannot be reached.
    pub fn list(&self) -> Result<Vec<String>, StoreError> {
        Ok(names(&self.at.store.files(&self.at.path([RESIGN]))?))
    }

    /// The names with the same first digit that order after this one.
    ///
    /// # Errors
    /// A store that cannot be reached.
    pub fn list_after(&self, name: &str) -> Result<Vec<String>, StoreError> {
        Ok(names(&self.at.store.files_after(&self.at.path([RESIGN]), &format!("{name}{TOML}"))?))
    }

    /// The threshold with one of the names of [`ResignThresholds::list`], and when it was published, in milliseconds
    /// since 1970.
    ///
    /// # Errors
    /// [`StoreError::NotFound`] for another name, [`StoreError::Damaged`] when it cannot be read.
    pub fn get(&self, name: &str) -> Result<(u64, ResignThreshold), StoreError> {
        let path = self.file(name);
        let found: Option<Dated> = self.at.store.find_toml(&path)?;
        let found = found.ok_or_else(|| StoreError::NotFound { path: self.at.store.name(&path) })?;
        Ok((found.time, found.threshold))
    }

    /// The full name of the file of a threshold, for messages.
    pub fn name(&self, name: &str) -> String {
        self.at.store.name(&self.file(name))
    }

    fn file(&self, name: &str) -> Path {
        self.at.path([RESIGN]).join(format!("{name}{TOML}"))
    }
}

/// The names of thresholds among those of files.
fn names(files: &BTreeSet<String>) -> Vec<String> {
    let names = files.iter().filter_map(|name| name.strip_suffix(TOML));
    names.filter(|name| parse_number(name).is_some()).map(str::to_owned).collect()
}
