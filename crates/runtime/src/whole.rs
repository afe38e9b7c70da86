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
    fs::write(&aside, bytes)?;
    fs::rename(&aside, file)
}
