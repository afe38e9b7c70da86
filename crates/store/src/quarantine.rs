//! Quarantine: damaged files, out of the way of readers and kept for people.
//!
//! A damaged file is moved to `quarantine/` under its own path: `games/000330/w0-1700000000000.parquet` becomes
//! `quarantine/games/000330/w0-1700000000000.parquet`. What was published with it (games, examples, positions set aside,
//! readable games) moves with it, since a set counts as a whole. The copies are published first and the games are deleted
//! before the rest, so a kill in between leaves a set that counts or one that does not.
//!
//! Only bytes that were read and are wrong are moved: a file that cannot be reached, or one that a newer version wrote, stays
//! where it is. Sources of an archive stay too, since the rest of the archive is in use.

use object_store::path::Path;
use record::{GameRecord, GameSummary};

use crate::games::{EXAMPLES, GAMES, HOLDOUT, PARQUET, SGF};
use crate::parts::sha256;
use crate::unfinished::{TAKEN, UNFINISHED};
use crate::{FileRef, Run, StoreError, traffic};

const QUARANTINE: &str = "quarantine";

impl Run {
    /// Moves a set of files of games to quarantine; answers how many files moved. Those of an archive stay where they are.
    ///
    /// # Errors
    /// A store that cannot be reached, or that refuses writes.
    pub fn quarantine_games(&self, file: &FileRef) -> Result<usize, StoreError> {
        self.quarantine(
            [(GAMES, PARQUET), (EXAMPLES, PARQUET), (HOLDOUT, PARQUET), (SGF, SGF)]
                .map(|(folder, extension)| self.file(folder, file, extension)),
        )
    }

    /// Moves a file of unfinished games to quarantine; answers how many files moved.
    ///
    /// # Errors
    /// As [`Run::quarantine_games`].
    pub fn quarantine_unfinished(&self, file: &FileRef) -> Result<usize, StoreError> {
        let moved = self.quarantine([self.file(UNFINISHED, file, PARQUET)])?;
        self.store().delete(&self.file(UNFINISHED, file, TAKEN))?;
        Ok(moved)
    }

    /// Whether bytes of a set of files of games are not those that were published. Files of another version are not altered.
    ///
    /// # Errors
    /// A store that cannot be reached.
    pub fn has_altered_games(&self, file: &FileRef) -> Result<bool, StoreError> {
        for folder in [GAMES, EXAMPLES, HOLDOUT] {
            if self.is_altered(&self.file(folder, file, PARQUET))? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// As [`Run::has_altered_games`], for unfinished games.
    ///
    /// # Errors
    /// A store that cannot be reached.
    pub fn has_altered_unfinished(&self, file: &FileRef) -> Result<bool, StoreError> {
        self.is_altered(&self.file(UNFINISHED, file, PARQUET))
    }

    /// The full names of all files in quarantine, for people.
    ///
    /// # Errors
    /// A store that cannot be reached.
    pub fn quarantined(&self) -> Result<Vec<String>, StoreError> {
        self.store().names_below(&self.path([QUARANTINE]))
    }

    /// The games of a file without their turns. A file whose bytes are damaged is moved to quarantine, and a damaged source of
    /// an archive is passed over: `None`.
    pub(crate) fn summaries_or_quarantine(&self, file: &FileRef) -> Result<Option<Vec<GameSummary>>, StoreError> {
        let error = match self.read_summaries(file) {
            Err(error @ StoreError::Damaged { .. }) => error,
            // Moved to quarantine by another process.
            Err(StoreError::NotFound { .. }) => return Ok(None),
            read => return read.map(Some),
        };
        if self.known_archive_of(file).is_some() {
            tracing::warn!(%error, "passed over a damaged source of an archive");
            return Ok(None);
        }
        match self.is_altered(&self.file(GAMES, file, PARQUET))? {
            true => self
                .quarantine_games(file)
                .map(|moved| self.note(&error, moved))
                .or_else(|refused| pass(refused, &error))?,
            false => return Err(error),
        }
        Ok(None)
    }

    /// The games of a file of unfinished games; `None` when there are none any more. A file whose bytes are damaged is moved to
    /// quarantine.
    pub(crate) fn unfinished_or_quarantine(&self, file: &FileRef) -> Result<Option<Vec<GameRecord>>, StoreError> {
        let error = match self.read_unfinished(file) {
            Err(error @ StoreError::Damaged { .. }) => error,
            Err(StoreError::NotFound { .. }) => return Ok(None),
            read => return read.map(Some),
        };
        if !self.is_altered(&self.file(UNFINISHED, file, PARQUET))? {
            return Err(error);
        }
        self.quarantine_unfinished(file)
            .map(|moved| self.note(&error, moved))
            .or_else(|refused| pass(refused, &error))?;
        Ok(None)
    }

    /// Whether the bytes of a table, read once more, are not what was published.
    fn is_altered(&self, path: &Path) -> Result<bool, StoreError> {
        match self.store().read_table(path, None) {
            Err(StoreError::Damaged { .. }) => Ok(true),
            Ok(_) | Err(StoreError::NotFound { .. }) => Ok(false),
            Err(error) => Err(error),
        }
    }

    fn note(&self, error: &StoreError, moved: usize) {
        let folder = self.store().name(&self.path([QUARANTINE]));
        tracing::warn!(%error, moved, folder, "moved a damaged file and its companions to quarantine");
    }

    /// Copies all of them, and then deletes them in order.
    fn quarantine(&self, paths: impl AsRef<[Path]>) -> Result<usize, StoreError> {
        let mut there = Vec::new();
        for path in paths.as_ref() {
            let Some(bytes) = self.store().find(path)? else { continue };
            let target: Path = self.path([QUARANTINE]).parts().chain(path.parts().skip(1)).collect();
            match self.store().publish(&target, bytes.clone()) {
                // A file of this name was damaged before.
                Err(StoreError::AlreadyExists { .. }) => {
                    let hashed = format!("{target}-{}", &sha256(&bytes)[..12]);
                    self.store().publish(&Path::from(hashed), bytes)?;
                }
                published => published?,
            }
            there.push(path);
        }
        there.iter().try_for_each(|path| self.store().delete(path))?;
        traffic::quarantined(there.len());
        Ok(there.len())
    }
}

/// A process that may not write there passes over the damaged file.
fn pass(refused: StoreError, error: &StoreError) -> Result<(), StoreError> {
    if !refused.is_refused() {
        return Err(refused);
    }
    tracing::warn!(%error, %refused, "passed over a damaged file, which cannot be moved to quarantine");
    Ok(())
}
