//! Copies on this machine of parts of segments of a bucket, so that each part is read from there once.
//!
//! ```text
//! <copies>/<digest of the store's URL>/<set>/000001-<digest of the object's version>/<number of the part>
//! ```

use std::fs::{self, File};
use std::io;
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use crate::error::StoreError;
use crate::names::{number_name, parse_number};

/// Bytes of a part.
const CHUNK: u64 = 128 << 10;
/// How the name of a copy ends while it is written.
const PARTIAL: &str = "part";

/// The copies of a set of evaluations.
#[derive(Clone, Debug)]
pub(crate) struct Copies {
    folder: PathBuf,
}

/// The copies of a segment.
#[derive(Debug)]
pub(crate) struct SegmentCopies {
    folder: PathBuf,
}

impl Copies {
    pub(crate) fn new(folder: PathBuf) -> Copies {
        Copies { folder }
    }

    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// The copies of a segment with this version. Those of other versions are deleted.
    pub(crate) fn of_segment(&self, number: u32, version: &str) -> SegmentCopies {
        let name = format!("{}-{version}", number_name(number));
        self.retain(|other, folder| other != number || folder == name);
        SegmentCopies { folder: self.folder.join(name) }
    }

    /// Deletes the copies of segments but for those with such a number and such a folder.
    pub(crate) fn retain(&self, keep: impl Fn(u32, &str) -> bool) {
        let Ok(folders) = fs::read_dir(&self.folder) else { return };
        for folder in folders.filter_map(Result::ok) {
            let name = folder.file_name();
            let name = name.to_string_lossy();
            let number = name.split_once('-').and_then(|(number, _)| parse_number(number));
            if number.is_some_and(|number| !keep(number, &name))
                && let Err(error) = fs::remove_dir_all(folder.path())
            {
                // Another process may delete them, too. Those that stay are deleted another time.
                tracing::debug!(%error, "copies not deleted");
            }
        }
    }
}

impl SegmentCopies {
    /// Deletes the copies of these bytes of a segment of that size. Returns whether there were any.
    pub(crate) fn invalidate(&self, bytes: Range<u64>, size: u64) -> bool {
        let parts = bytes.start / CHUNK..bytes.end.min(size).div_ceil(CHUNK);
        parts.filter(|part| fs::remove_file(self.folder.join(part.to_string())).is_ok()).count() > 0
    }

    /// Reads bytes of a segment of that size from `at` on, which is before its end, up to the end of their part. They
    /// come from its copy if there is one of the right length, else from `fetch`, which reads from the begin of the
    /// part on. Returns how many.
    pub(crate) fn read_or_fetch(
        &self,
        size: u64,
        at: u64,
        into: &mut [u8],
        fetch: impl FnOnce(u64, &mut [u8]) -> Result<(), StoreError>,
    ) -> Result<usize, StoreError> {
        let (number, from) = (at / CHUNK, at % CHUNK);
        let len = (size - (at - from)).min(CHUNK);
        let count = into.len().min((len - from) as usize);
        let into = &mut into[..count];
        let copy = self.folder.join(number.to_string());
        let mut copied = || {
            let file = File::open(&copy)?;
            let whole = file.metadata()?.len() == len;
            if whole { file.read_exact_at(into, from) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
        };
        if copied().is_ok() {
            return Ok(count);
        }
        let mut bytes = vec![0; len as usize];
        fetch(at - from, &mut bytes)?;
        // Without its copy the part is read again another time.
        if let Err(error) = self.write(&copy, &bytes) {
            tracing::debug!(%error, "copy not kept");
        }
        into.copy_from_slice(&bytes[from as usize..][..count]);
        Ok(count)
    }

    /// Writes a copy aside and renames it, so that it is whole where it is.
    fn write(&self, copy: &Path, bytes: &[u8]) -> io::Result<()> {
        fs::create_dir_all(&self.folder)?;
        let aside = copy.with_extension(format!("{}.{PARTIAL}", std::process::id()));
        fs::write(&aside, bytes)?;
        fs::rename(&aside, copy)
    }
}

/// Whether a copy has such a name while it is written: the number of its part, and that of the process.
pub(crate) fn is_partial_copy(name: &str) -> bool {
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let numbers = name.strip_suffix(PARTIAL).and_then(|name| name.strip_suffix('.')?.split_once('.'));
    numbers.is_some_and(|(part, process)| is_number(part) && is_number(process))
}
