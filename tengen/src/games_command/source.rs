//! Where games come from: self-play, or matches.

use arrow_array::RecordBatch;
use facts::search::GamesFile;
use record::GameRecord;
use store::{Run, StoreError};

/// The files of the games of self-play, or of those of matches, oldest first.
pub(super) fn files(run: &Run, matches: bool) -> Result<Vec<GamesFile>, StoreError> {
    Ok(match matches {
        true => run.matches().files()?.into_iter().map(GamesFile::Match).collect(),
        false => run.games().files_since(0)?.into_iter().map(GamesFile::SelfPlay).collect(),
    })
}

/// Some columns of the games of a file; `None` when it is gone.
pub(super) fn columns(run: &Run, file: &GamesFile, columns: &[&str]) -> Result<Option<RecordBatch>, StoreError> {
    let read = match file {
        GamesFile::SelfPlay(file) => run.games().columns(file, columns),
        GamesFile::Match(stem) => run.matches().columns(stem, columns),
    };
    match read {
        // It was damaged or pruned, and another process has just moved or deleted it.
        Err(StoreError::NotFound { .. }) => Ok(None),
        read => read.map(Some),
    }
}

/// The folder of a game in an archive: its model, or `matches`, where players may have any name.
pub(super) fn folder(file: &GamesFile, game: &GameRecord) -> String {
    match file {
        GamesFile::SelfPlay(_) => game.folder(),
        GamesFile::Match(_) => "matches".to_owned(),
    }
}

/// The number of the model that played; `None` for a match.
pub(super) fn model(file: &GamesFile) -> Option<u32> {
    match file {
        GamesFile::SelfPlay(file) => Some(file.model),
        GamesFile::Match(_) => None,
    }
}
