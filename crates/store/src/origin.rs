//! Where the weights come from that a run begins with.

use serde::{Deserialize, Serialize};

use crate::parts::sha256;

/// Something that a run's first model was made of, other than the run's own games.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Source {
    /// What it is.
    pub kind: SourceKind,
    /// Its name: the id of a model, or the name of a file without its folder.
    pub name: String,
    /// SHA-256 of the file, as hexadecimal digits.
    pub sha256: String,
}

/// Possible origins of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SourceKind {
    /// The weights of a model of another run.
    Model,
    /// A file of weights.
    Weights,
    /// A collection of human games.
    Games,
}

impl Source {
    /// The source that is a file of these bytes.
    pub fn new(kind: SourceKind, name: impl Into<String>, bytes: &[u8]) -> Source {
        Source { kind, name: name.into(), sha256: sha256(bytes) }
    }
}
