//! Segments of evaluation caches: files that are published under the next free number, merged, and read in parts.
//!
//! ```text
//! <store>/evalcache/<set>/000001.segment     evaluations of one set: a model, a board, and how they are kept
//! ```
//!
//! Parts of segments of a bucket are copied to a folder of this machine, if one is given: see [`Copies`]. The format is
//! that of crate `evalcache`; this module knows numbers and bytes.

use std::fs::{File, Metadata};
use std::io;
use std::ops::Range;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path as FilePath, PathBuf};

use bytes::Bytes;
use object_store::ObjectMeta;
use object_store::path::Path;
use sha2::{Digest, Sha256};

use crate::copies::{Copies, SegmentCopies};
use crate::error::StoreError;
use crate::names::{number_name, parse_number};
use crate::store::Store;

const FOLDER: &str = "evalcache";
const SEGMENT: &str = "segment";

/// The segments of one set of evaluations.
#[derive(Clone, Debug)]
pub struct Evaluations {
    store: Store,
    set: String,
    /// The copies of this set of this store.
    copies: Option<Copies>,
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
    Bucket { store: Store, path: Path, version: String, copies: Option<SegmentCopies> },
}

impl Store {
    /// The segments of a set of evaluations. Parts read from a bucket are kept below `copies`, if there is such a
    /// folder.
    ///
    /// # Errors
    /// [`StoreError::BadSet`] for a set whose name cannot be that of a folder.
    pub fn evaluations(&self, set: &str, copies: Option<&FilePath>) -> Result<Evaluations, StoreError> {
        if !is_set(set) {
            return Err(StoreError::BadSet(set.to_owned()));
        }
        // Stores may have sets of the same name.
        let copies = copies.filter(|_| self.folder().is_none());
        let copies = copies.map(|copies| Copies::new(copies.join(digest(&[self.root()])).join(set)));
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

    /// The size of a segment, and when it was written by the clock of the place, in milliseconds since 1970; `None` for
    /// one that is gone.
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
        let copies = self.copies.as_ref().map(|copies| copies.of_segment(number, &version));
        Ok(SegmentFile { len: object.size, place: Place::Bucket { store: self.store.clone(), path, version, copies } })
    }

    /// Deletes the copies of segments with other numbers than these.
    pub fn retain_copies(&self, numbers: &[u32]) {
        if let Some(copies) = &self.copies {
            copies.retain(|number, _| numbers.contains(&number));
        }
    }

    /// Deletes a segment, which another one must stand for; one that is gone is no error.
    ///
    /// # Errors
    /// A store that cannot be reached.
    pub fn delete(&self, number: u32) -> Result<(), StoreError> {
        self.store.delete(&self.path(number))?;
        if let Some(copies) = &self.copies {
            copies.retain(|other, _| other != number);
        }
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
        self.copies.as_ref().map(Copies::folder)
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
                    if from >= self.len {
                        return Err(cut_short(store.name(path)));
                    }
                    done += copies.read_or_fetch(self.len, from, into, |at, part| fill(store, path, at, part))?;
                }
                Ok(())
            }
        }
    }

    /// Deletes the copies of these bytes, which proved wrong. Returns whether there were any: another read has the
    /// original.
    pub fn drop_copies(&self, bytes: Range<u64>) -> bool {
        let Place::Bucket { copies: Some(copies), .. } = &self.place else { return false };
        copies.invalidate(bytes, self.len)
    }
}

fn file_error(path: &FilePath, error: &io::Error) -> StoreError {
    let name = path.display().to_string();
    match error.kind() {
        io::ErrorKind::NotFound => StoreError::NotFound { path: name },
        io::ErrorKind::UnexpectedEof => cut_short(name),
        _ => StoreError::Unreachable { doing: "read", path: name, reason: error.to_string() },
    }
}

fn cut_short(path: String) -> StoreError {
    StoreError::Damaged { path, reason: "it is cut short".to_owned() }
}

/// Reads a range of a file in a bucket.
fn fill(store: &Store, path: &Path, at: u64, into: &mut [u8]) -> Result<(), StoreError> {
    let bytes = store.range(path, at..at + into.len() as u64)?;
    if bytes.len() != into.len() {
        return Err(cut_short(store.name(path)));
    }
    into.copy_from_slice(&bytes);
    Ok(())
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
