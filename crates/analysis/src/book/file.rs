//! The file of a book: a header, then a line for each position that was searched.

use std::collections::BTreeMap;
use std::fs::{self, File, TryLockError};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use serde::Serialize;

use super::{BookHeader, BookKey, Entry, FORMAT, VERSION};
use crate::FileError;
use crate::file::{is_cut_header, open_to_extend, version_of};

/// A book that grows. Its file is locked: another process that opens it would cut off what this one adds meanwhile.
#[derive(Debug)]
pub struct BookFile {
    path: PathBuf,
    file: File,
}

impl BookFile {
    /// Opens a book, or begins one. Half a line at the end, of a process that was killed, is dropped; it may be the
    /// header.
    ///
    /// # Errors
    /// The file cannot be used, is open in another process, or is of another model, other weights, another board or
    /// komi, other scoring or search settings, or evaluations that are rounded otherwise.
    pub fn open(path: &Path, header: &BookHeader) -> Result<(BookFile, BTreeMap<BookKey, Entry>), FileError> {
        let io = |source| FileError::Io { path: path.to_owned(), source };
        let mut file = open_to_extend(path).map_err(io)?;
        // Before it is read, so that nothing is added after that.
        lock(path, &file)?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).map_err(io)?;
        let mut book = BookFile { path: path.to_owned(), file };
        if !bytes.contains(&b'\n') && is_cut_header(&bytes, FORMAT) {
            book.file.set_len(0).map_err(io)?;
            book.write(header)?;
            return Ok((book, BTreeMap::new()));
        }
        let (found, entries) = parsed(path, &bytes)?;
        if let Some((found, asked)) = found.difference(header) {
            return Err(FileError::OtherBook { path: path.to_owned(), found, asked });
        }
        let whole = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
        if whole < bytes.len() {
            book.file.set_len(whole as u64).map_err(io)?;
        }
        Ok((book, entries))
    }

    /// Reads a book.
    ///
    /// # Errors
    /// The file cannot be read, or is no book.
    pub fn read(path: &Path) -> Result<(BookHeader, BTreeMap<BookKey, Entry>), FileError> {
        let bytes = fs::read(path).map_err(|source| FileError::Io { path: path.to_owned(), source })?;
        parsed(path, &bytes)
    }

    /// Adds a position, or replaces it.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn add(&mut self, entry: &Entry) -> Result<(), FileError> {
        self.write(entry)
    }

    fn write(&mut self, what: &impl Serialize) -> Result<(), FileError> {
        let line = serde_json::to_string(what).expect("plain fields are JSON") + "\n";
        self.file.write_all(line.as_bytes()).map_err(|source| FileError::Io { path: self.path.clone(), source })
    }
}

impl Drop for BookFile {
    /// Processes that other threads start have the file for a moment, and would keep its lock.
    fn drop(&mut self) {
        // Where it could not be locked, there is nothing to release.
        let _ = self.file.unlock();
    }
}

/// Locks a book against other processes that would write it. Those that only read it need no lock.
fn lock(path: &Path, file: &File) -> Result<(), FileError> {
    match file.try_lock() {
        Ok(()) => Ok(()),
        Err(TryLockError::WouldBlock) => Err(FileError::Locked { path: path.to_owned() }),
        // File systems without locks do not all say so with the same error.
        Err(TryLockError::Error(error)) => {
            tracing::warn!(file = %path.display(), %error, "book cannot be locked; let no other process write it");
            Ok(())
        }
    }
}

/// The book that a file has, up to half a line at its end.
fn parsed(path: &Path, bytes: &[u8]) -> Result<(BookHeader, BTreeMap<BookKey, Entry>), FileError> {
    let text = String::from_utf8_lossy(bytes);
    let whole = &text[..text.rfind('\n').map_or(0, |end| end + 1)];
    let damaged = |line: usize, reason: String| FileError::Damaged { path: path.to_owned(), line, reason };
    let mut lines = whole.lines();
    let first = lines.next().unwrap_or_default();
    let no_book = |differs| FileError::NoBook { path: path.to_owned(), differs };
    match version_of(first.as_bytes(), FORMAT) {
        Some(VERSION) => {}
        Some(other) => return Err(no_book(format!(": its version is {other}, not {VERSION}"))),
        None => return Err(no_book(String::new())),
    }
    let header: BookHeader = serde_json::from_str(first).map_err(|error| no_book(format!(": {error}")))?;
    let mut entries = BTreeMap::new();
    for (number, line) in lines.enumerate() {
        let entry: Entry = serde_json::from_str(line).map_err(|error| damaged(number + 2, error.to_string()))?;
        entries.insert(entry.key, entry);
    }
    Ok((header, entries))
}
