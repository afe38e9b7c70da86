//! Files that appear whole.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;

/// Writes a temporary file to the disk and renames it: a reader sees either the old contents or the new ones, and never
/// half of it, after a loss of power too.
///
/// # Errors
/// The place cannot be written.
pub fn write_whole(file: &Path, bytes: &[u8]) -> io::Result<()> {
    let aside = file.with_added_extension("partial");
    let written = write_through(&aside, bytes).and_then(|()| fs::rename(&aside, file));
    if written.is_err() {
        // There may be none; the first error is the one to tell.
        drop(fs::remove_file(&aside));
    }
    written
}

/// A new name may reach the disk before the contents do, so these are waited for.
fn write_through(file: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = File::create(file)?;
    file.write_all(bytes)?;
    file.sync_all()
}
