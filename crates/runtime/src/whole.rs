//! Files that appear whole.

use std::fs;
use std::io;
use std::path::Path;

/// Writes a temporary file and renames it: a reader sees either the old contents or the new ones, and never half of
/// it.
///
/// # Errors
/// The place cannot be written.
pub fn write_whole(file: &Path, bytes: &[u8]) -> io::Result<()> {
    let aside = file.with_added_extension("partial");
    let written = fs::write(&aside, bytes).and_then(|()| fs::rename(&aside, file));
    if written.is_err() {
        // There may be none; the first error is the one to tell.
        drop(fs::remove_file(&aside));
    }
    written
}
