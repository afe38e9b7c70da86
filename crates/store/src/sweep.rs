//! What killed writers leave behind in a folder.

use std::fs::{self, File};
use std::io;
use std::path::Path;
use std::time::{Duration, SystemTime};

use crate::copies::is_partial_copy;
use crate::error::{Doing, StoreError};
use crate::evaluations::{Evaluations, is_set};
use crate::pruning::Pruning;
use crate::store::Store;

/// Segments are at most 1 GiB or so: neither one of them nor a copy of a part is written for as long as this.
const ABANDONED_SEGMENT: Duration = Duration::from_secs(24 * 3600);
/// Copies of a set that no process has opened for as long as this are those of a model that is hardly used any more.
const UNUSED_COPIES: Duration = Duration::from_secs(30 * 24 * 3600);

impl Pruning {
    /// Deletes what writers that were killed abandoned in a local folder, where it is older than `age`, and returns
    /// how many files that were. Nothing ever reads such files; they only take space. A bucket has none.
    ///
    /// # Errors
    /// A folder that cannot be listed, or a file that cannot be deleted.
    pub fn sweep(&self, age: Duration) -> Result<usize, StoreError> {
        sweep_in(&self.at.store, self.at.name.as_str(), age)
    }
}

impl Evaluations {
    /// Deletes the segments that killed writers abandoned a day ago or earlier while they wrote them, and returns how
    /// many files that were, as [`Pruning::sweep`] does for a run.
    ///
    /// # Errors
    /// A folder that cannot be listed, or a file that cannot be deleted.
    pub fn sweep(&self) -> Result<usize, StoreError> {
        let swept = sweep_in(self.store(), self.folder().as_ref(), ABANDONED_SEGMENT)?;
        if swept > 0 {
            tracing::info!(set = self.set(), files = swept, "deleted segments of killed writers");
        }
        Ok(swept)
    }

    /// Deletes the copies that killed processes abandoned a day ago or earlier while they wrote them, and returns how
    /// many files that were.
    ///
    /// # Errors
    /// A folder that cannot be listed, or a file that cannot be deleted.
    pub fn sweep_copies(&self) -> Result<usize, StoreError> {
        self.copies().map_or(Ok(0), |copies| sweep_folder(copies, ABANDONED_SEGMENT, is_partial_copy))
    }

    /// Notes that this set is used, deletes the copies of other sets of its store that no process has opened for 30
    /// days, and returns how many sets that were. A process that has one of them open reads its parts from the bucket
    /// again.
    ///
    /// # Errors
    /// A folder that cannot be listed or deleted.
    pub fn sweep_unused_copies(&self) -> Result<usize, StoreError> {
        let Some((copies, all)) = self.copies().and_then(|copies| Some((copies, copies.parent()?))) else {
            return Ok(0);
        };
        // Without copies there is no folder, and the owner of one may be another user.
        if let Err(error) = File::open(copies).and_then(|folder| folder.set_modified(SystemTime::now())) {
            tracing::debug!(%error, set = self.set(), "copies not marked as used");
        }
        sweep_unused(all, copies).map_err(|e| StoreError::of_file_system(Doing::Sweep, all, &e))
    }
}

/// Sweeps a folder of a store, if the store is on this machine.
fn sweep_in(store: &Store, folder: &str, age: Duration) -> Result<usize, StoreError> {
    store.folder().map_or(Ok(0), |root| sweep_folder(&root.join(folder), age, is_staged))
}

/// Sweeps a folder of files that are `partial` by their names.
fn sweep_folder(folder: &Path, age: Duration, partial: fn(&str) -> bool) -> Result<usize, StoreError> {
    sweep(folder, age, partial).map_err(|e| StoreError::of_file_system(Doing::Sweep, folder, &e))
}

/// Sweeps a folder, as far as that is possible, and returns the first error.
fn sweep(folder: &Path, age: Duration, partial: fn(&str) -> bool) -> io::Result<usize> {
    sweep_each(folder, |entry| sweep_entry(entry, age, partial))
}

/// Deletes the copies of sets that are not used, but for those in the folder `used`.
fn sweep_unused(folder: &Path, used: &Path) -> io::Result<usize> {
    sweep_each(folder, |entry| {
        let swept = || -> io::Result<usize> {
            let is_of_a_set = is_set(&entry.file_name().to_string_lossy()) && entry.file_type()?.is_dir();
            let is_unused = is_of_a_set && entry.path() != used && is_older(entry, UNUSED_COPIES)?;
            if is_unused {
                fs::remove_dir_all(entry.path())?;
            }
            Ok(usize::from(is_unused))
        };
        unless_gone(swept())
    })
}

/// Sweeps what is in a folder, as far as that is possible, and returns the first error.
fn sweep_each(folder: &Path, of_one: impl Fn(&fs::DirEntry) -> io::Result<usize>) -> io::Result<usize> {
    let entries = match fs::read_dir(folder) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(0),
        entries => entries?,
    };
    let (mut swept, mut failed) = (0, None);
    for entry in entries {
        match entry.and_then(|entry| of_one(&entry)) {
            Ok(count) => swept += count,
            // One that cannot be deleted keeps no other.
            Err(error) => failed = failed.or(Some(error)),
        }
    }
    failed.map_or(Ok(swept), Err)
}

/// Sweeps a folder, or deletes a file that was abandoned. A file that is gone since it was listed is no error: its
/// writer has finished, or another process sweeps, too.
fn sweep_entry(entry: &fs::DirEntry, age: Duration, partial: fn(&str) -> bool) -> io::Result<usize> {
    let swept = || -> io::Result<usize> {
        if entry.file_type()?.is_dir() {
            return sweep(&entry.path(), age, partial);
        }
        let is_abandoned = partial(&entry.file_name().to_string_lossy()) && is_older(entry, age)?;
        if is_abandoned {
            fs::remove_file(entry.path())?;
        }
        Ok(usize::from(is_abandoned))
    };
    unless_gone(swept())
}

fn unless_gone(swept: io::Result<usize>) -> io::Result<usize> {
    match swept {
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(0),
        swept => swept,
    }
}

/// Whether `object_store` names files so while it writes them: a final name, `#`, and a number.
fn is_staged(name: &str) -> bool {
    name.rsplit_once('#').is_some_and(|(_, digits)| !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit()))
}

fn is_older(entry: &fs::DirEntry, age: Duration) -> io::Result<bool> {
    let written = entry.metadata()?.modified()?;
    // A file from the future is not older than anything.
    Ok(SystemTime::now().duration_since(written).is_ok_and(|since| since >= age))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn staged_file_that_its_writer_deletes_meanwhile_is_no_error() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["a.toml#1", "b.toml#2"] {
            fs::write(folder.path().join(name), "").unwrap();
        }
        let entries: Vec<fs::DirEntry> = fs::read_dir(folder.path()).unwrap().map(Result::unwrap).collect();
        fs::remove_file(folder.path().join("a.toml#1")).unwrap();
        let swept = entries.iter().map(|entry| sweep_entry(entry, Duration::ZERO, is_staged).unwrap()).sum::<usize>();
        assert_eq!(swept, 1);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    /// As one of another user.
    #[test]
    fn file_that_cannot_be_deleted_keeps_no_others() {
        let folder = tempfile::tempdir().unwrap();
        let file = |name: &str| folder.path().join(name).join("x.toml#1");
        let names = ["a", "b", "c", "d", "e"];
        for name in names {
            fs::create_dir(folder.path().join(name)).unwrap();
            fs::write(file(name), "").unwrap();
        }
        let denied = folder.path().join("a");
        fs::set_permissions(&denied, fs::Permissions::from_mode(0o555)).unwrap();
        let swept = sweep(folder.path(), Duration::ZERO, is_staged);
        fs::set_permissions(&denied, fs::Permissions::from_mode(0o755)).unwrap();
        if !file("a").exists() {
            return testing::unsupported("a folder that its user may not write");
        }
        assert_eq!(swept.unwrap_err().kind(), io::ErrorKind::PermissionDenied);
        assert_eq!(names.map(|name| file(name).exists()), [true, false, false, false, false]);
    }
}
