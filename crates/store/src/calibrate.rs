//! The resignation threshold, recomputed from the newest calibration games.

use config::Resign;
use record::resign::Calibration;

use crate::error::StoreError;
use crate::resign::ResignThreshold;
use crate::run::Run;

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
        if self.resign().in_force()?.as_ref() != Some(&found) {
            self.resign().publish(&found)?;
        }
        Ok(Some(found))
    }

    /// Reads games from the newest file backwards until there are enough. The values of `random`, model 0, mean nothing,
    /// so its games say nothing about when to resign.
    fn bleakest(&self, games: usize) -> Result<Bleakest, StoreError> {
        let mut found = Bleakest::default();
        let newest = self.games().newest_model()?.unwrap_or_default();
        for model in (1..=newest).rev() {
            for file in self.games().files(model)?.into_iter().rev() {
                let games_left = games - found.values.len();
                if games_left == 0 {
                    return Ok(found);
                }
                let Some(summaries) = self.games().summaries_or_quarantine(&file)? else { continue };
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
