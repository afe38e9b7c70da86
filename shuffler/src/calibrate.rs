//! Keeping the resign threshold up to date.

use config::Resign;
use store::{FileRef, Run, StoreError};

use crate::monitor;

/// Computes the resign threshold anew whenever there are new games.
pub(crate) struct Calibrator<'a> {
    run: &'a Run,
    settings: &'a Resign,
    /// The newest games that were looked at, and how many files of their model there were.
    seen: Option<(FileRef, usize)>,
}

impl Calibrator<'_> {
    pub(crate) fn new<'a>(run: &'a Run, settings: &'a Resign) -> Calibrator<'a> {
        Calibrator { run, settings, seen: None }
    }

    /// Publishes the threshold of the games that are there now, if it is another than before. Games that cannot be read
    /// leave it as it is, and are complained of once.
    ///
    /// # Errors
    /// A store that cannot be reached or written.
    pub(crate) fn look(&mut self) -> Result<(), StoreError> {
        let files = self.run.games().newest_files()?;
        let newest = files.last().map(|newest| (newest.clone(), files.len()));
        if newest == self.seen {
            return Ok(());
        }
        monitor::note_games(self.run)?;
        match self.update() {
            Err(error @ StoreError::Damaged { .. }) => {
                tracing::error!(%error, "the resign threshold stays as it is");
            }
            other => other?,
        }
        self.seen = newest;
        Ok(())
    }

    fn update(&self) -> Result<(), StoreError> {
        let before = self.run.resign().newest()?;
        let found = self.run.update_resign(self.settings)?;
        monitor::note_threshold(found.as_ref());
        let found = found.filter(|found| before.as_ref() != Some(found));
        if let Some(found) = found {
            let (threshold, games) = (found.threshold, found.games);
            tracing::info!(threshold, games, false_positive_rate = found.false_positive_rate, "resign threshold");
        }
        Ok(())
    }
}
