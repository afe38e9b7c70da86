//! Several files that count together: parts first, and then the one file that names them.

use bytes::Bytes;
use object_store::path::Path;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::error::StoreError;
use crate::store::Store;

/// A published file, as the file that commits it names it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Part {
    /// Its name in the folder.
    pub file: String,
    /// Its length.
    pub bytes: u64,
    /// SHA-256 of its contents, in hexadecimal digits.
    pub sha256: String,
}

impl Store {
    /// Publishes a part of something that another file will commit.
    ///
    /// Its name is `stem.extension`. A writer that was killed before it could commit may have left another file there,
    /// and a second writer may be at work: their file is not touched, and this one gets a hash in its name.
    pub(crate) fn publish_part(
        &self,
        folder: &Path,
        stem: &str,
        extension: &str,
        bytes: Bytes,
    ) -> Result<Part, StoreError> {
        let sha256 = sha256(&bytes);
        let length = bytes.len() as u64;
        let plain = format!("{stem}.{extension}");
        let file = match self.publish(&folder.clone().join(plain.as_str()), bytes.clone()) {
            Ok(()) => plain,
            Err(StoreError::AlreadyExists { .. }) => {
                let hashed = format!("{stem}-{}.{extension}", &sha256[..12]);
                self.publish(&folder.clone().join(hashed.as_str()), bytes)?;
                hashed
            }
            Err(error) => return Err(error),
        };
        Ok(Part { file, bytes: length, sha256 })
    }

    /// Reads a part and checks that it is the one that was published.
    pub(crate) fn read_part(&self, folder: &Path, part: &Part) -> Result<Bytes, StoreError> {
        let path = folder.clone().join(part.file.as_str());
        let bytes = self.get(&path)?;
        let damaged = |reason| Err(StoreError::Damaged { path: self.name(&path), reason });
        if bytes.len() as u64 != part.bytes {
            return damaged(format!("it has {} bytes, not {}", bytes.len(), part.bytes));
        }
        if sha256(&bytes) != part.sha256 {
            return damaged("its SHA-256 is not the one it was published with".to_owned());
        }
        Ok(bytes)
    }
}

/// SHA-256 in hexadecimal digits.
pub(crate) fn sha256(bytes: &[u8]) -> String {
    format!("{:x}", Sha256::digest(bytes))
}
