//! Whether a store does what publishing needs, found out by trying.

use bytes::Bytes;
use object_store::path::Path;

use crate::error::StoreError;
use crate::store::Store;

/// No run has this name.
const FOLDER: &str = "-";

/// Results of a probe of the store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Probe {
    /// Whether a second put under the same name was refused, as publishing needs.
    pub conditional_put: bool,
    /// By how much the clock of this machine is ahead of the store's, in milliseconds, to about a second; `None` where
    /// the file was gone.
    pub clock_ahead: Option<i64>,
}

impl Probe {
    /// Requests of a probe of a store that refuses the second put: two puts, a read of what is there, a question about
    /// the file, a list, a read, a deletion.
    pub const REQUESTS: u32 = 7;
}

impl Store {
    /// Writes a small file outside all runs, writes another under its name, lists and reads it, asks when it was
    /// written, and deletes it: every right that programs need.
    ///
    /// # Errors
    /// A bucket that does not exist, or a store that cannot be reached, written, listed, read or deleted from.
    pub fn probe(&self) -> Result<Probe, StoreError> {
        let path = Path::from(FOLDER).join(format!("probe-{}-{}", std::process::id(), self.now()));
        let before = self.now();
        self.publish(&path, Bytes::from_static(b"first"))?;
        let after = self.now();
        let conditional_put = match self.publish(&path, Bytes::from_static(b"second")) {
            Err(StoreError::AlreadyExists { .. }) => true,
            Ok(()) => false,
            Err(error) => return Err(error),
        };
        let written = self.written_at(&path)?;
        let listed = self.files(&Path::from(FOLDER))?.contains(path.filename().unwrap_or_default());
        let read = self.get(&path)?;
        self.delete(&path)?;
        self.delete_empty_folder(&Path::from(FOLDER));
        if !listed || read.is_empty() {
            let reason = "a file that was just written is not listed, or is empty".to_owned();
            return Err(StoreError::BadUrl { url: self.root().to_owned(), reason });
        }
        let own = before.midpoint(after) as i64;
        Ok(Probe { conditional_put, clock_ahead: written.map(|written| own - written) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::names;

    /// Longer than a probe takes, however slow the machine is; in milliseconds.
    const DAY: i64 = 86_400_000;

    #[test]
    fn folder_and_memory_do_what_publishing_needs() {
        let folder = tempfile::tempdir().unwrap();
        let local = Store::open(folder.path().to_str().unwrap()).unwrap();
        for store in [local, Store::in_memory().unwrap()] {
            let found = store.probe().unwrap();
            assert!(found.conditional_put && found.clock_ahead.unwrap().abs() < DAY, "{found:?}");
            let ahead = store.with_clock(|| names::now() + 3 * DAY as u64).probe().unwrap().clock_ahead.unwrap();
            assert!((ahead - 3 * DAY).abs() < DAY, "{ahead}");
            assert!(store.files(&Path::from(FOLDER)).unwrap().is_empty(), "nothing is left");
        }
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "no folder, either");
    }
}
