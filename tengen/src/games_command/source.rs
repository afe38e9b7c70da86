//! Where games come from: self-play, or matches.

use arrow_array::RecordBatch;
use record::GameRecord;
use store::{FileRef, Run, Stem, StoreError};

/// The games of self-play, or those of matches, of a run.
pub(super) struct Source {
    run: Run,
    files: Vec<File>,
}

/// A file of games.
pub(super) enum File {
    Selfplay(FileRef),
    Match(Stem),
}

impl Source {
    pub(super) fn open(run: &Run, matches: bool) -> Result<Source, StoreError> {
        let files = match matches {
            true => run.matches().files()?.into_iter().map(File::Match).collect(),
            false => run.games().files_since(0)?.into_iter().map(File::Selfplay).collect(),
        };
        Ok(Source { run: run.clone(), files })
    }

    /// The files, oldest first.
    pub(super) fn files(&self) -> &[File] {
        &self.files
    }

    /// Some columns of the games of a file; `None` when it is gone.
    pub(super) fn columns(&self, file: &File, columns: &[&str]) -> Result<Option<RecordBatch>, StoreError> {
        let read = match file {
            File::Selfplay(file) => self.run.games().columns(file, columns),
            File::Match(stem) => self.run.matches().columns(stem, columns),
        };
        match read {
            // It was damaged or pruned, and another process has just moved or deleted it.
            Err(StoreError::NotFound { .. }) => Ok(None),
            read => read.map(Some),
        }
    }

    pub(super) fn games(&self, file: &File) -> Result<Vec<GameRecord>, StoreError> {
        match file {
            File::Selfplay(file) => self.run.games().read(file),
            File::Match(stem) => self.run.matches().read(stem),
        }
    }

    pub(super) fn name(&self, file: &File) -> String {
        match file {
            File::Selfplay(file) => self.run.games().name(file),
            File::Match(stem) => self.run.matches().name(stem),
        }
    }

    /// The folder of a game in an archive: its model, or `matches`, where players may have any name.
    pub(super) fn folder<'a>(&self, game: &'a GameRecord) -> &'a str {
        match self.files.first() {
            Some(File::Match(_)) => "matches",
            _ => &game.black,
        }
    }
}

impl File {
    /// The number of the model that played; `None` for a match.
    pub(super) fn model(&self) -> Option<u32> {
        match self {
            File::Selfplay(file) => Some(file.model),
            File::Match(_) => None,
        }
    }
}
