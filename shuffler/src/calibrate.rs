//! The resign threshold: computed from the newest calibration games whenever there are new games.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use config::Resign;
use record::calibration::ResignCalibration;
use runtime::Reporter;
use store::{FileRef, ResignThreshold, Run, StoreError};

use crate::event::Event;

/// How many models back held-out games are searched.
const BACK: u32 = 3;

/// How long a threshold from games of a model holds at least, unless there are games of a newer model: as long as workers may take
/// to see it.
const HOLDS: Duration = Duration::from_secs(30);

/// Keeps the resign threshold of a run up to date.
#[derive(Debug)]
pub struct Calibrator {
    run: Run,
    settings: Resign,
    /// The newest games that were read, and how many files of their model there were.
    seen: Option<(FileRef, usize)>,
    /// By file that the last threshold came from: the winner's minimum root values of its calibration games, the newest first.
    known: BTreeMap<FileRef, Vec<f32>>,
    /// When the last threshold was published.
    published: Option<Instant>,
}

/// The winner's minimum root values of the newest calibration games that have a winner.
#[derive(Debug, Default)]
struct WinnerMinValue {
    values: Vec<f32>,
    from_model: u32,
    to_model: u32,
}

impl Calibrator {
    /// A calibrator that has not seen any games.
    pub fn new(run: &Run, settings: &Resign) -> Calibrator {
        Calibrator { run: run.clone(), settings: settings.clone(), seen: None, known: BTreeMap::new(), published: None }
    }

    /// Updates the threshold if there are games that the last call has not seen, and it has held for a while. Games that cannot be
    /// read leave it as it is, and are logged once.
    pub(crate) fn poll(&mut self, reporter: &mut dyn Reporter<Event>) -> Result<(), StoreError> {
        let files = self.run.games().newest_files()?;
        let newest = files.last().map(|newest| (newest.clone(), files.len()));
        let model = |seen: &Option<(FileRef, usize)>| seen.as_ref().map(|(file, _)| file.model);
        let holds = self.published.is_some_and(|published| published.elapsed() < HOLDS);
        if newest == self.seen || (holds && model(&newest) == model(&self.seen)) {
            return Ok(());
        }
        if let Some((newest, _)) = &newest {
            reporter.report(Event::Games { time: newest.stem.time(), holdout: self.newest_holdout(newest.model)? });
        }
        match self.update() {
            Ok(found) => reporter.report(Event::Calibrated(found)),
            Err(error @ StoreError::Damaged { .. }) => tracing::error!(%error, "the resign threshold stays as it is"),
            Err(error) => return Err(error),
        }
        self.seen = newest;
        Ok(())
    }

    /// Computes the threshold from the newest calibration games, and publishes it unless it is the newest already. `None` while
    /// there are too few games.
    ///
    /// # Errors
    /// [`StoreError::Damaged`] for games that this version cannot read. Damaged ones are moved to quarantine.
    pub fn update(&mut self) -> Result<Option<ResignThreshold>, StoreError> {
        let winner_min = self.winner_min()?;
        let found =
            ResignCalibration::of(&winner_min.values, f64::from(self.settings.quantile), self.settings.min_games);
        let Some(found) = found.map(|found| self.describe(&found, &winner_min)) else { return Ok(None) };
        if self.run.resign().newest()?.as_ref() != Some(&found) {
            self.run.resign().publish(&found)?;
            self.published = Some(Instant::now());
            let ResignThreshold { threshold, games, false_positive_rate, .. } = found;
            tracing::info!(threshold, games, false_positive_rate, "resign threshold updated");
        }
        Ok(Some(found))
    }

    /// Takes games from the newest file backwards until there are enough. The values of `random`, model 0, mean nothing,
    /// so its games say nothing about when to resign.
    fn winner_min(&mut self) -> Result<WinnerMinValue, StoreError> {
        let mut found = WinnerMinValue::default();
        // All games of the run would be searched in vain.
        if self.settings.calibration_fraction == 0.0 {
            return Ok(found);
        }
        let newest = self.run.games().newest_model()?.unwrap_or_default();
        for model in (1..=newest).rev() {
            for file in self.run.games().files(model)?.into_iter().rev() {
                let games_left = self.settings.games - found.values.len();
                if games_left == 0 {
                    self.known.retain(|known, _| *known > file);
                    return Ok(found);
                }
                let before = found.values.len();
                found.values.extend(self.values(&file)?.into_iter().take(games_left));
                if found.values.len() > before {
                    found.from_model = model;
                    found.to_model = found.to_model.max(model);
                }
            }
        }
        Ok(found)
    }

    /// The values of a file, which is read once: hundreds of files have the calibration games of a threshold, and workers publish
    /// one every second.
    fn values(&mut self, file: &FileRef) -> Result<Vec<f32>, StoreError> {
        if let Some(values) = self.known.get(file) {
            return Ok(values.clone());
        }
        let Some(games) = self.run.games().summaries_or_quarantine(file)? else { return Ok(Vec::new()) };
        let calibration = games.iter().rev().filter(|game| game.calibration);
        let values: Vec<f32> = calibration.filter_map(|game| game.winner_min_value).collect();
        self.known.insert(file.clone(), values.clone());
        Ok(values)
    }

    fn describe(&self, found: &ResignCalibration, winner_min: &WinnerMinValue) -> ResignThreshold {
        let (rate_low, rate_high) = found.interval();
        ResignThreshold {
            threshold: found.threshold,
            quantile: self.settings.quantile,
            games: found.games,
            from_model: winner_min.from_model,
            to_model: winner_min.to_model,
            false_positive_rate: found.false_positive_rate(),
            rate_low,
            rate_high,
        }
    }

    /// When held-out games of this model or the last ones before it were published, in milliseconds since 1970.
    fn newest_holdout(&self, newest: u32) -> Result<Option<u64>, StoreError> {
        for model in (newest.saturating_sub(BACK)..=newest).rev() {
            if let Some(file) = self.run.games().holdout_files(model)?.last() {
                return Ok(Some(file.stem.time()));
            }
        }
        Ok(None)
    }
}
