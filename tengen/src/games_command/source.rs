//! Where games come from: self-play, or matches.

use arrow_array::RecordBatch;
use facts::search::Place;
use record::GameRecord;
use store::{Run, StoreError};

/// The games of self-play, or those of matches, of a run.
pub(super) struct Source {
    run: Run,
    files: Vec<Place>,
}

impl Source {
    pub(super) fn open(run: &Run, matches: bool) -> Result<Source, StoreError> {
        let files = match matches {
            true => run.matches().files()?.into_iter().map(Place::Match).collect(),
            false => run.games().files_since(0)?.into_iter().map(Place::SelfPlay).collect(),
        };
        Ok(Source { run: run.clone(), files })
    }

    /// The files, oldest first.
    pub(super) fn files(&self) -> &[Place] {
        &self.files
    }

    /// Some columns of the games of a file; `None` when it is gone.
    pub(super) fn columns(&self, file: &Place, columns: &[&str]) -> Result<Option<RecordBatch>, StoreError> {
        let read = match file {
            Place::SelfPlay(file) => self.run.games().columns(file, columns),
            Place::Match(stem) => self.run.matches().columns(stem, columns),
        };
        match read {
            // It was damaged or pruned, and another process has just moved or deleted it.
            Err(StoreError::NotFound { .. }) => Ok(None),
            read => read.map(Some),
        }
    }

    pub(super) fn games(&self, file: &Place) -> Result<Vec<GameRecord>, StoreError> {
        file.games(&self.run)
    }

    /// The folder of a game in an archive: its model, or `matches`, where players may have any name.
    pub(super) fn folder(&self, game: &GameRecord) -> String {
        match self.files.first() {
            Some(Place::Match(_)) => "matches".to_owned(),
            _ => game.folder(),
        }
    }
}

/// The number of the model that played; `None` for a match.
pub(super) fn model(file: &Place) -> Option<u32> {
    match file {
        Place::SelfPlay(file) => Some(file.model),
        Place::Match(_) => None,
    }
}
