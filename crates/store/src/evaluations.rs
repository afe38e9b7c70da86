//! Segments of evaluation caches: files that are published under the next free number, merged, and read in parts.
//!
//! ```text
//! <store>/evalcache/<set>/000001.segment     evaluations of one set: a model, a board, and how they are kept
//! ```
//!
//! Parts of segments of a bucket are copied to a folder of this machine, if one is given:
//!
//! ```text
//! <copies>/<digest of the store's URL>/<set>/000001-<digest of the object's version>/<number of the part>
//! ```
//!
//! The format is that of crate `evalcache`; this module knows numbers and bytes.

use std::fs::{File, Metadata};
use std::io;
use std::ops::Range;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path as FilePath, PathBuf};

use bytes::Bytes;
use object_store::ObjectMeta;
use object_store::path::Path;
use sha2::{Digest, Sha256};

use crate::error::StoreError;
use crate::names::{number_name, parse_number};
use crate::store::Store;

const FOLDER: &str = "evalcache";
const SEGMENT: &str = "segment";
/// Bytes of a read from a bucket, where copies are kept.
const CHUNK: u64 = 128 << 10;
/// How the name of a copy ends while it is written.
const PARTIAL: &str = "part";

/// The segments of one set of evaluations.
#[derive(Clone, Debug)]
pub struct Evaluations {
    store: Store,
    set: String,
    /// The folder of the copies of this set of this store.
    copies: Option<PathBuf>,
}

/// An open segment: on a folder the file itself, in a bucket its ranges.
#[derive(Debug)]
pub struct SegmentFile {
    len: u64,
    place: Place,
}

#[derive(Debug)]
enum Place {
    File { file: File, path: PathBuf },
    Bucket { store: Store, path: Path, version: String, copies: Option<PathBuf> },
}

impl Store {
    /// The segments of a set of evaluations. Parts read from a bucket are kept below `copies`, if there is such a folder.
    ///
    /// # Errors
    /// [`StoreError::BadSet`] for a set whose name cannot be that of a folder.
    pub fn evaluations(&self, set: &str, copies: Option<&FilePath>) -> Result<Evaluations, StoreError> {
        if !is_set(set) {
            return Err(StoreError::BadSet(set.to_owned()));
        }
        // Stores may have sets of the same name.
        let copies = copies.filter(|_| self.folder().is_none());
        let copies = copies.map(|copies| copies.join(digest(&[self.root()])).join(set));
        Ok(Evaluations { store: self.clone(), set: set.to_owned(), copies })
    }

    /// The sets of evaluations that the store has, in order of name. Folders with other names are logged.
    ///
    /// # Errors
    /// A store that cannot be reached.
    pub fn evaluation_sets(&self) -> Result<Vec<String>, StoreError> {
        let (sets, others): (Vec<String>, Vec<String>) =
            self.folders(&Path::from(FOLDER))?.into_iter().partition(|name| is_set(name));
        for name in others {
            tracing::warn!(folder = self.name(&Path::from_iter([FOLDER, &name])), "not a set of evaluations");
        }
        Ok(sets)
    }
}

pub(crate) fn is_set(name: &str) -> bool {
    let allowed = |c: char| c.is_ascii_alphanumeric() || c == '-';
    !name.is_empty() && name.len() <= 128 && name.chars().all(allowed)
}

/// Sixteen digits that tell texts apart.
fn digest(parts: &[&str]) -> String {
    let mut hash = Sha256::new();
    parts.iter().for_each(|part| hash.update([part.as_bytes(), &[0]].concat()));
    format!("{:.16x}", hash.finalize())
}

/// The version of an object. A set that is deleted and begun anew has other objects under the same numbers.
fn version(object: &ObjectMeta) -> String {
    let (size, written) = (object.size.to_string(), object.last_modified.timestamp_millis().to_string());
    digest(&[&size, object.e_tag.as_deref().unwrap_or(&written)])
}

impl Evaluations {
    /// The numbers of the segments, ascending.
    ///
    /// # Errors
    /// A store that cannot be reached.
    pub fn numbers(&self) -> Result<Vec<u32>, StoreError> {
        let files = self.store.files(&self.folder())?;
        let number = |name: &String| parse_number(name.strip_suffix(SEGMENT)?.strip_suffix('.')?);
        let mut numbers: Vec<u32> = files.iter().filter_map(number).collect();
        // Names order so up to six digits.
        numbers.sort_unstable();
        Ok(numbers)
    }

    /// The size of a segment, and when it was written by the clock of the place, in milliseconds since 1970; `None` for one
    /// that is gone.
    ///
    /// # Errors
    /// A store that cannot be reached.
    pub fn dated(&self, number: u32) -> Result<Option<(u64, i64)>, StoreError> {
        match self.store.object(&self.path(number)) {
            Ok(object) => Ok(Some((object.size, object.last_modified.timestamp_millis()))),
            Err(StoreError::NotFound { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Publishes a segment under the first number after all others, and returns the number.
    ///
    /// # Errors
    /// A store that refuses it.
    pub fn publish(&self, bytes: &Bytes) -> Result<u32, StoreError> {
        let mut number = self.numbers()?.last().map_or(1, |last| last + 1);
        loop {
            match self.store.publish(&self.path(number), bytes.clone()) {
                // Another writer was faster.
                Err(StoreError::AlreadyExists { .. }) => number += 1,
                done => return done.map(|()| number),
            }
        }
    }

    /// Opens a segment.
    ///
    /// # Errors
    /// [`StoreError::NotFound`] when there is none of this number: a compaction may have replaced it.
    pub fn open(&self, number: u32) -> Result<SegmentFile, StoreError> {
        let path = self.path(number);
        if let Some(root) = self.store.folder() {
            let path = root.join(path.as_ref());
            let file = File::open(&path).map_err(|e| file_error(&path, &e))?;
            let len = file.metadata().map_err(|e| file_error(&path, &e))?.len();
            return Ok(SegmentFile { len, place: Place::File { file, path } });
        }
        let object = self.store.object(&path)?;
        let version = version(&object);
        let copies = self.copies.as_ref().map(|copies| {
            let name = format!("{}-{version}", number_name(number));
            self.drop_copies(|other, folder| other != number || folder == name);
            copies.join(name)
        });
        Ok(SegmentFile { len: object.size, place: Place::Bucket { store: self.store.clone(), path, version, copies } })
    }

    /// Deletes the copies of segments with other numbers than these.
    pub fn retain_copies(&self, numbers: &[u32]) {
        self.drop_copies(|number, _| numbers.contains(&number));
    }

    /// Deletes the copies of segments but for those with such a number and such a folder.
    fn drop_copies(&self, keep: impl Fn(u32, &str) -> bool) {
        let Some(folders) = self.copies.as_ref().and_then(|copies| std::fs::read_dir(copies).ok()) else { return };
        for folder in folders.filter_map(Result::ok) {
            let name = folder.file_name();
            let name = name.to_string_lossy();
            let number = name.split_once('-').and_then(|(number, _)| parse_number(number));
            if number.is_some_and(|number| !keep(number, &name))
                && let Err(error) = std::fs::remove_dir_all(folder.path())
            {
                // Another process may delete them, too. Those that stay are deleted another time.
                tracing::debug!(%error, "copies not deleted");
            }
        }
    }

    /// Deletes a segment, which another one must stand for; one that is gone is no error.
    ///
    /// # Errors
    /// A store that cannot be reached.
    pub fn delete(&self, number: u32) -> Result<(), StoreError> {
        self.store.delete(&self.path(number))?;
        self.drop_copies(|other, _| other != number);
        Ok(())
    }

    /// The full name of a segment, for messages.
    pub fn name(&self, number: u32) -> String {
        self.store.name(&self.path(number))
    }

    /// Whether the segments are in a bucket, and in no folder.
    pub fn are_in_a_bucket(&self) -> bool {
        self.store.folder().is_none()
    }

    /// Whether each read is a request: to a bucket of which no copies are kept.
    pub fn reads_are_requests(&self) -> bool {
        self.are_in_a_bucket() && self.copies.is_none()
    }

    /// The name of the set.
    pub fn set(&self) -> &str {
        &self.set
    }

    pub(crate) fn store(&self) -> &Store {
        &self.store
    }

    /// The folder of the copies, if there are any.
    pub(crate) fn copies(&self) -> Option<&FilePath> {
        self.copies.as_deref()
    }

    pub(crate) fn folder(&self) -> Path {
        Path::from_iter([FOLDER, self.set.as_str()])
    }

    fn path(&self, number: u32) -> Path {
        self.folder().join(format!("{}.{SEGMENT}", number_name(number)))
    }
}

impl SegmentFile {
    /// Bytes in it.
    pub fn size(&self) -> u64 {
        self.len
    }

    /// Whether the store still has it. Another segment may have its number since it was opened.
    ///
    /// # Errors
    /// A store that cannot be reached.
    pub fn is_current(&self) -> Result<bool, StoreError> {
        let current = match &self.place {
            Place::File { file, path } => {
                // While it is open no other file has its number of the file system.
                let identity = |of: &Metadata| (of.dev(), of.ino());
                let own = file.metadata().map_err(|e| file_error(path, &e))?;
                let is_own = |found: Metadata| identity(&found) == identity(&own) && found.len() == self.len;
                std::fs::metadata(path).map(is_own).map_err(|e| file_error(path, &e))
            }
            Place::Bucket { store, path, version: own, .. } => {
                store.object(path).map(|object| version(&object) == *own)
            }
        };
        match current {
            Err(StoreError::NotFound { .. }) => Ok(false),
            current => current,
        }
    }

    /// Fills `into` with the bytes from `at` on.
    ///
    /// # Errors
    /// The place cannot be read, or ends before.
    pub fn read(&self, at: u64, into: &mut [u8]) -> Result<(), StoreError> {
        match &self.place {
            Place::File { file, path } => file.read_exact_at(into, at).map_err(|e| file_error(path, &e)),
            Place::Bucket { store, path, copies: None, .. } => fill(store, path, at, into),
            Place::Bucket { store, path, copies: Some(copies), .. } => {
                let mut done = 0;
                while done < into.len() {
                    let (from, into) = (at + done as u64, &mut into[done..]);
                    done += self.read_copied(store, path, copies, from, into)?;
                }
                Ok(())
            }
        }
    }

    /// Deletes the copies of these bytes, which proved wrong. Returns whether there were any: another read has the original.
    pub fn drop_copies(&self, bytes: Range<u64>) -> bool {
        let Place::Bucket { copies: Some(copies), .. } = &self.place else { return false };
        let parts = bytes.start / CHUNK..bytes.end.min(self.len).div_ceil(CHUNK);
        parts.filter(|part| std::fs::remove_file(copies.join(part.to_string())).is_ok()).count() > 0
    }

    /// Reads bytes up to the end of their part, from its copy if there is one of the right length. Returns how many.
    fn read_copied(
        &self,
        store: &Store,
        path: &Path,
        copies: &FilePath,
        at: u64,
        into: &mut [u8],
    ) -> Result<usize, StoreError> {
        let (number, from) = (at / CHUNK, at % CHUNK);
        let len = self.len.saturating_sub(at - from).min(CHUNK);
        if from >= len {
            return Err(StoreError::Damaged { path: store.name(path), reason: "it is cut short".to_owned() });
        }
        let count = into.len().min((len - from) as usize);
        let into = &mut into[..count];
        let copy = copies.join(number.to_string());
        let mut copied = || {
            let file = File::open(&copy)?;
            let whole = file.metadata()?.len() == len;
            if whole { file.read_exact_at(into, from) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
        };
        if copied().is_ok() {
            return Ok(count);
        }
        let mut bytes = vec![0; len as usize];
        fill(store, path, at - from, &mut bytes)?;
        // Without its copy the part is read again another time.
        if let Err(error) = keep(copies, &copy, &bytes) {
            tracing::debug!(%error, "copy not kept");
        }
        into.copy_from_slice(&bytes[from as usize..][..count]);
        Ok(count)
    }
}

fn file_error(path: &FilePath, error: &io::Error) -> StoreError {
    let name = path.display().to_string();
    match error.kind() {
        io::ErrorKind::NotFound => StoreError::NotFound { path: name },
        io::ErrorKind::UnexpectedEof => StoreError::Damaged { path: name, reason: "it is cut short".to_owned() },
        _ => StoreError::Unreachable { doing: "read", path: name, reason: error.to_string() },
    }
}

/// Reads a range of a file in a bucket.
fn fill(store: &Store, path: &Path, at: u64, into: &mut [u8]) -> Result<(), StoreError> {
    let bytes = store.range(path, at..at + into.len() as u64)?;
    if bytes.len() != into.len() {
        return Err(StoreError::Damaged { path: store.name(path), reason: "it is cut short".to_owned() });
    }
    into.copy_from_slice(&bytes);
    Ok(())
}

/// Writes a copy aside and renames it, so that it is whole where it is.
fn keep(folder: &FilePath, copy: &FilePath, bytes: &[u8]) -> io::Result<()> {
    std::fs::create_dir_all(folder)?;
    let aside = copy.with_extension(format!("{}.{PARTIAL}", std::process::id()));
    std::fs::write(&aside, bytes)?;
    std::fs::rename(&aside, copy)
}

/// Whether a copy has such a name while it is written: the number of its part, and that of the process.
pub(crate) fn is_partial_copy(name: &str) -> bool {
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let numbers = name.strip_suffix(PARTIAL).and_then(|name| name.strip_suffix('.')?.split_once('.'));
    numbers.is_some_and(|(part, process)| is_number(part) && is_number(process))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn segment_that_may_not_be_read_is_no_refused_write() {
        let error = file_error(FilePath::new("/s/000001.segment"), &io::ErrorKind::PermissionDenied.into());
        assert!(matches!(error, StoreError::Unreachable { .. }), "{error}");
    }

    #[test]
    fn numbers_ascend_beyond_six_digits() {
        let segments = Store::in_memory().unwrap().evaluations("s", None).unwrap();
        for number in [1_000_000, 999_999, 2] {
            segments.store.publish(&segments.path(number), Bytes::from(vec![7])).unwrap();
        }
        assert_eq!(segments.numbers().unwrap(), [2, 999_999, 1_000_000]);
        assert_eq!(segments.publish(&Bytes::from(vec![8])).unwrap(), 1_000_001);
    }

    #[test]
    fn names_of_sets_cannot_leave_their_folder() {
        let store = Store::in_memory().unwrap();
        for name in ["", "..", "a/b", "a b", &"x".repeat(129)] {
            assert!(matches!(store.evaluations(name, None), Err(StoreError::BadSet(_))), "{name}");
        }
    }
}
