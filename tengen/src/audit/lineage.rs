//! Where models come from, and the files beside the games.

use std::collections::BTreeMap;

use runtime::{Progress, Stop};
use store::{ModelMetadata, StoreError};

use super::Audit;

impl Audit<'_> {
    /// Reads every model, and follows each to its parent.
    pub(super) fn models(&mut self, stop: &Stop) -> Result<(), StoreError> {
        let numbers = self.run.models().list()?;
        let played = self.run.games().models();
        let played = self.note(played)?.unwrap_or_default();
        for number in played.into_iter().filter(|number| *number > 0 && !numbers.contains(number)) {
            self.problem(self.run.models().name(number), "it has games, and is not there");
        }
        let mut steps = BTreeMap::new();
        let progress = Progress::new("models", Some(numbers.len() as u64));
        for number in numbers.into_iter().take_while(|_| !stop.requested()) {
            progress.set(self.found.models as u64);
            self.found.models += 1;
            let metadata = match self.run.models().get(number) {
                // Weights are deleted on request only.
                Err(StoreError::Deleted { .. }) => self.run.models().metadata(number).ok(),
                read => match self.note(read)? {
                    Some((metadata, _)) => Some(metadata),
                    // The weights may be damaged and the metadata not.
                    None => self.run.models().metadata(number).ok(),
                },
            };
            let Some(metadata) = metadata else {
                steps.insert(number, None);
                continue;
            };
            let name = self.run.models().name(number);
            self.metadata(number, &metadata).into_iter().for_each(|what| self.problem(&name, what));
            if let Some(what) = descent(&metadata, &steps) {
                self.problem(&name, what);
            }
            steps.insert(number, Some(metadata.step));
        }
        Ok(())
    }

    fn metadata(&self, number: u32, metadata: &ModelMetadata) -> Vec<String> {
        let mut problems = Vec::new();
        if metadata.number != number || metadata.run != *self.run.name() {
            problems.push(format!("it says that it is {}", metadata.id()));
        }
        if metadata.config_digest != self.digest {
            problems.push(format!("trained with configuration {}, not {}", metadata.config_digest, self.digest));
        }
        if metadata.size != self.config.game.size {
            problems.push(format!("it plays on {0}x{0}, not {1}x{1}", metadata.size, self.config.game.size));
        }
        problems
    }

    /// Reads checkpoints and thresholds.
    pub(super) fn state(&mut self, stop: &Stop) -> Result<(), StoreError> {
        for step in self.run.checkpoints().steps()?.into_iter().take_while(|_| !stop.requested()) {
            let read = self.run.checkpoints().get(step);
            if let Some(Some(_)) = self.note(read)? {
                self.found.checkpoints += 1;
            }
        }
        for name in self.run.resign().list()? {
            let read = self.run.resign().get(&name);
            let Some((_, resign)) = self.note(read)? else { continue };
            self.found.thresholds += 1;
            let rates = [0.0, resign.rate_low, resign.false_positive_rate, resign.rate_high, 1.0];
            let counts = [resign.in_force_wrong, resign.in_force_games, resign.games];
            let threshold = resign.threshold;
            if !(-1.0..=0.0).contains(&threshold) || !rates.is_sorted() || !counts.is_sorted() {
                let what = format!("threshold {threshold} with rates {rates:?} of {counts:?} games is impossible");
                self.problem(self.run.resign().name(&name), what);
            }
        }
        Ok(())
    }

    /// Reads the results of matches and the newest ratings.
    pub(super) fn results(&mut self, stop: &Stop) -> Result<(), StoreError> {
        let files = self.run.matches().files()?;
        let progress = Progress::new("files of matches", Some(files.len() as u64));
        for (stem, number) in files.into_iter().zip(0..).take_while(|_| !stop.requested()) {
            progress.set(number);
            let read = self.run.matches().read(&stem);
            if let Err(error @ StoreError::Damaged { .. }) = &read
                && self.run.matches().is_altered(&stem)?
            {
                self.found.damaged_results.insert(stem.clone(), error.to_string());
            }
            for game in self.note(read)?.into_iter().flatten() {
                let place = format!("{}, game {}", self.run.matches().name(&stem), game.id);
                self.found.results += 1;
                if !self.ids.insert(game.id) {
                    self.problem(&place, "it is published twice");
                }
                if let Err(error) = game.replay() {
                    self.problem(&place, error.to_string());
                }
            }
        }
        let read = self.run.ratings().newest();
        self.note(read).map(drop)
    }
}

/// A model continues one that is there, and has more steps. Those of a model whose metadata cannot be read are not
/// known.
fn descent(metadata: &ModelMetadata, steps: &BTreeMap<u32, Option<u64>>) -> Option<String> {
    match metadata.parent {
        None if steps.is_empty() => None,
        None => Some("it has no parent, and is not the first".to_owned()),
        Some(parent) => match steps.get(&parent) {
            None => Some(format!("its parent {parent} is not there")),
            Some(Some(step)) if *step >= metadata.step => {
                Some(format!("it has {} steps, and its parent {parent} has {step}", metadata.step))
            }
            Some(_) => None,
        },
    }
}

#[cfg(test)]
mod tests {
    use config::Preset;

    use super::*;

    #[test]
    fn parent_that_cannot_be_read_is_there() {
        let metadata = ModelMetadata::new(&"tiny".parse().unwrap(), 3, 60, &Preset::Tiny.config());
        let found = |second: Option<Option<u64>>| {
            let second = second.map(|step| (2, step));
            descent(&metadata, &[(1, Some(20))].into_iter().chain(second).collect())
        };
        assert_eq!(found(Some(Some(40))), None);
        assert_eq!(found(Some(None)), None);
        assert_eq!(found(None).as_deref(), Some("its parent 2 is not there"));
        assert_eq!(found(Some(Some(60))).as_deref(), Some("it has 60 steps, and its parent 2 has 60"));
    }
}
