//! Quarantine: damaged files, kept outside of the folders that are read.
//!
//! A damaged file is moved to `quarantine/` under its own path: `games/000330/w0-1700000000000.parquet` becomes
//! `quarantine/games/000330/w0-1700000000000.parquet`. What was published with it (games, examples, validation set,
//! readable games) moves with it, since a set counts as a whole. The copies are published first and the games are
//! deleted before the rest, so a kill in between leaves a set that counts or one that does not.
//!
//! Only bytes that were read and are wrong are moved: a file that cannot be reached, or one that a newer version wrote,
//! stays where it is. Sources of an archive stay too, since the rest of the archive is in use.

use object_store::path::Path;

use crate::error::StoreError;
use crate::folder::RunFolder;
use crate::parts::sha256;
use crate::traffic;

pub(crate) const QUARANTINE: &str = "quarantine";

/// The quarantine of a run.
#[derive(Clone, Debug)]
pub struct Quarantine {
    pub(crate) at: RunFolder,
}

impl Quarantine {
    /// The full names of all files in quarantine, for messages.
    ///
    /// # Errors
    /// A store that cannot be reached.
    pub fn files(&self) -> Result<Vec<String>, StoreError> {
        let files = self.at.store.files_below(&self.at.path([QUARANTINE]))?;
        Ok(files.iter().map(|found| self.at.store.name(&found.path)).collect())
    }

    /// Whether a second read of a table finds bytes that differ from the published ones.
    pub(crate) fn is_altered(&self, path: &Path) -> Result<bool, StoreError> {
        match self.at.store.read_table(path, None) {
            Err(StoreError::Damaged { .. }) => Ok(true),
            Ok(_) | Err(StoreError::NotFound { .. }) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// What was read of a file, at once or `again` where its bytes turn out to be whole; `None` when it is gone, or its
    /// bytes are damaged and it was moved. A process that may not move it passes over it.
    pub(crate) fn read_or_move<T>(
        &self,
        read: Result<T, StoreError>,
        again: impl FnOnce() -> Result<T, StoreError>,
        path: &Path,
        quarantine: impl FnOnce() -> Result<usize, StoreError>,
    ) -> Result<Option<T>, StoreError> {
        let error = match read {
            Err(error @ StoreError::Damaged { .. }) => error,
            // Moved to quarantine by another process.
            Err(StoreError::NotFound { .. }) => return Ok(None),
            read => return read.map(Some),
        };
        match self.at.store.read_table(path, None) {
            Err(StoreError::Damaged { .. }) => {}
            // Moved by another process meanwhile.
            Err(StoreError::NotFound { .. }) => return Ok(None),
            Err(error) => return Err(error),
            // Either the fault has passed, or invalid records were published and `again` fails, too.
            Ok(_) => {
                return match again() {
                    Err(StoreError::NotFound { .. }) => Ok(None),
                    read => read.map(Some),
                };
            }
        }
        match quarantine() {
            Ok(moved) => {
                let folder = self.at.store.name(&self.at.path([QUARANTINE]));
                tracing::warn!(%error, moved, folder, "moved a damaged file and its companions to quarantine");
            }
            Err(refused) if refused.is_refused() => {
                tracing::warn!(%error, %refused, "skipped a damaged file; quarantine failed");
            }
            Err(failed) => return Err(failed),
        }
        Ok(None)
    }

    /// Copies all of them, and then deletes them in order.
    pub(crate) fn put(&self, paths: impl AsRef<[Path]>) -> Result<usize, StoreError> {
        let mut there = Vec::new();
        for path in paths.as_ref() {
            let Some(bytes) = self.at.store.find(path)? else { continue };
            let target: Path = self.at.path([QUARANTINE]).parts().chain(path.parts().skip(1)).collect();
            match self.at.store.publish(&target, bytes.clone()) {
                // A file of this name was damaged before.
                Err(StoreError::AlreadyExists { .. }) => {
                    let hashed = format!("{target}-{}", &sha256(&bytes)[..12]);
                    self.at.store.publish(&Path::from(hashed), bytes)?;
                }
                published => published?,
            }
            there.push(path);
        }
        there.iter().try_for_each(|path| self.at.store.delete(path))?;
        traffic::quarantined(there.len());
        Ok(there.len())
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use go::Size;
    use record::{games, synthetic};

    use super::*;

    fn damaged() -> Result<u32, StoreError> {
        Err(StoreError::Damaged { path: "w.parquet".to_owned(), reason: "it is cut short".to_owned() })
    }

    /// A file whose first read finds it damaged.
    fn read(
        quarantine: &Quarantine,
        path: &Path,
        again: impl FnOnce() -> Result<u32, StoreError>,
    ) -> Result<Option<u32>, StoreError> {
        quarantine.read_or_move(damaged(), again, path, || quarantine.put([path.clone()]))
    }

    #[test]
    fn second_read_decides_whether_a_damaged_file_moves() {
        let quarantine = Quarantine { at: RunFolder::in_memory() };
        let store = &quarantine.at.store;
        let path = quarantine.at.path(["games", "000001", "w-0000000000001.parquet"]);
        assert_eq!(read(&quarantine, &path, damaged).unwrap(), None, "another process has moved it");
        let game = synthetic::game("run-1", "w", 0, Size::new(5).unwrap(), 8);
        store.publish_table(&path, &games::to_batch(&[game])).unwrap();
        assert_eq!(read(&quarantine, &path, || Ok(7)).unwrap(), Some(7), "its bytes are whole");
        assert!(matches!(read(&quarantine, &path, damaged), Err(StoreError::Damaged { .. })));
        let gone = || Err(StoreError::NotFound { path: "w.parquet".to_owned() });
        assert_eq!(read(&quarantine, &path, gone).unwrap(), None, "another process moves it meanwhile");
        store.delete(&path).unwrap();
        store.publish(&path, Bytes::from_static(b"PAR1")).unwrap();
        assert_eq!(read(&quarantine, &path, || Ok(7)).unwrap(), None);
        assert!(!store.exists(&path).unwrap());
        assert_eq!(quarantine.files().unwrap().len(), 1);
    }
}
