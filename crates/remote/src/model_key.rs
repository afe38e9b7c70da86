//! Which model a batch is for.

use std::fmt;

use bytes::Bytes;
use config::{ModelIdError, RunName};
use sha2::{Digest as _, Sha256};

use crate::proto::v1;

/// More characters than the name of a run has.
const MOST_CHARS: usize = 80;

/// SHA-256 of a weights file: what a model is, wherever it is stored.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Digest([u8; 32]);

/// A model of a run. Two servers with equal digests compute the same.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ModelKey {
    /// The run.
    pub run: RunName,
    /// Its number in the run, from 1.
    pub number: u32,
    /// The digest of its weights; `None` for whatever the server's store has under that name.
    pub digest: Option<Digest>,
}

/// A message that names no model.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ModelKeyError {
    /// There is none.
    #[error("the batch names no model")]
    Missing,
    /// No run can have this name.
    #[error(transparent)]
    Run(#[from] ModelIdError),
    /// Models are numbered from 1.
    #[error("model 0 of run {run} has no weights; models are numbered from 1")]
    Number {
        /// The run.
        run: RunName,
    },
    /// SHA-256 has 32 bytes.
    #[error("the digest of a model has {found} bytes, expected 32 or none")]
    Digest {
        /// Bytes in the message.
        found: usize,
    },
}

impl Digest {
    /// The digest of a weights file.
    pub fn of(weights: &[u8]) -> Digest {
        Digest(Sha256::digest(weights).into())
    }

    /// A digest as hexadecimal digits; `None` unless there are 64 of them.
    pub fn from_hex(text: &str) -> Option<Digest> {
        let digits: Vec<u8> = text.chars().map(|c| c.to_digit(16).map(|digit| digit as u8)).collect::<Option<_>>()?;
        let bytes: Vec<u8> =
            digits.chunks(2).map(|pair| pair.iter().fold(0, |byte, digit| byte << 4 | digit)).collect();
        (digits.len() == 64).then(|| bytes.try_into().ok().map(Digest)).flatten()
    }

    /// The 32 bytes.
    pub fn bytes(&self) -> [u8; 32] {
        self.0
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for ModelKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.run.model(self.number).fmt(f)
    }
}

impl From<&ModelKey> for v1::Model {
    fn from(ModelKey { run, number, digest }: &ModelKey) -> v1::Model {
        let digest = digest.map_or_else(Bytes::new, |digest| Bytes::copy_from_slice(&digest.0));
        v1::Model { run: run.to_string(), number: *number, digest }
    }
}

impl TryFrom<v1::Model> for ModelKey {
    type Error = ModelKeyError;

    fn try_from(v1::Model { run: name, number, digest }: v1::Model) -> Result<ModelKey, ModelKeyError> {
        // The beginning of a name that is too long is too long as well, and short enough for a message.
        let run: RunName = name.chars().take(MOST_CHARS).collect::<String>().parse()?;
        if number == 0 {
            return Err(ModelKeyError::Number { run });
        }
        let bytes = |found| digest.as_ref().try_into().map_err(|_| ModelKeyError::Digest { found });
        let digest = match digest.len() {
            0 => None,
            found => Some(Digest(bytes(found)?)),
        };
        Ok(ModelKey { run, number, digest })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(digest: Option<Digest>) -> ModelKey {
        ModelKey { run: "v15".parse().unwrap(), number: 330, digest }
    }

    #[test]
    fn model_key_survives_its_message() {
        for digest in [None, Some(Digest::of(b"weights"))] {
            let key = key(digest);
            assert_eq!(ModelKey::try_from(v1::Model::from(&key)), Ok(key));
        }
        assert_eq!(key(None).to_string(), "v15-330");
    }

    #[test]
    fn model_key_refuses_names_numbers_and_digests_of_no_model() {
        let good = v1::Model::from(&key(None));
        let refused = |model: v1::Model| ModelKey::try_from(model).unwrap_err().to_string();
        let name = v1::Model { run: "../v15".to_owned(), ..good.clone() };
        assert!(refused(name).contains("\"../v15\" is not a run"));
        let long = v1::Model { run: "/".repeat(1 << 20), ..good.clone() };
        assert!(refused(long).len() < 300);
        assert!(refused(v1::Model { number: 0, ..good.clone() }).contains("numbered from 1"));
        assert!(refused(v1::Model { digest: Bytes::from_static(&[1; 31]), ..good }).contains("31 bytes"));
    }

    #[test]
    fn digest_is_read_from_its_digits() {
        let digest = Digest::of(b"weights");
        assert_eq!(Digest::from_hex(&digest.to_string()), Some(digest));
        for text in ["", "00", &digest.to_string()[1..], &format!("{digest}0"), &"ü".repeat(64)] {
            assert_eq!(Digest::from_hex(text), None, "{text}");
        }
    }
}
