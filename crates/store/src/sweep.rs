//! What killed writers leave behind in a folder.

use std::fs;
use std::io;
use std::time::{Duration, SystemTime};

use crate::error::StoreError;
use crate::pruning::Pruning;

impl Pruning {
    /// Deletes what writers that were killed abandoned in a local folder, where it is older than `age`, and returns
    /// how many files that were. Nothing ever reads such files; they only take space. A bucket has none.
    ///
    /// # Errors
    /// A folder that cannot be listed, or a file that cannot be deleted.
    pub fn sweep(&self, age: Duration) -> Result<usize, StoreError> {
        match self.at.store.folder() {
            Some(root) => {
                let folder = root.join(self.at.name.as_str());
                sweep(&folder, age).map_err(|e| StoreError::of_file_system("sweep", &folder, &e))
            }
            None => Ok(0),
        }
    }
}

fn sweep(folder: &std::path::Path, age: Duration) -> io::Result<usize> {
    let mut swept = 0;
    let entries = match fs::read_dir(folder) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(0),
        entries => entries?,
    };
    for entry in entries {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            swept += sweep(&entry.path(), age)?;
        } else if is_staged(&entry.file_name().to_string_lossy()) && is_older(&entry, age)? {
            fs::remove_file(entry.path())?;
            swept += 1;
        }
    }
    Ok(swept)
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
