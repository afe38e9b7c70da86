//! Pairs that were chosen to play.

use config::PlayerId;
use object_store::path::Path;
use serde::{Deserialize, Serialize};

use crate::error::StoreError;
use crate::folder::RunFolder;
use crate::names::number_name;

const PAIRINGS: &str = "pairings";

/// A pair that was chosen to play, and how many games of their series, earlier ones included.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Pairing {
    /// One of them.
    #[serde(with = "as_text")]
    pub first: PlayerId,
    /// The other.
    #[serde(with = "as_text")]
    pub second: PlayerId,
    /// Games between them when this pairing is over.
    pub games: u64,
}

/// A player by its name.
mod as_text {
    use config::PlayerId;
    use serde::{Deserialize, Deserializer, Serializer, de};

    pub(super) fn serialize<S: Serializer>(id: &PlayerId, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(id)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<PlayerId, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(de::Error::custom)
    }
}

/// The pairs that were chosen in a run.
#[derive(Debug)]
pub struct Pairings {
    pub(crate) at: RunFolder,
}

impl Pairings {
    /// The pair that was chosen at this turn after this model was published; `None` before it is chosen.
    ///
    /// # Errors
    /// A store that cannot be reached, or [`StoreError::Damaged`].
    pub fn get(&self, model: u32, turn: usize) -> Result<Option<Pairing>, StoreError> {
        self.at.store.find_toml(&self.file(model, turn))
    }

    /// Keeps the pair that is chosen at this turn, unless another was chosen already; returns the one that is kept. A
    /// schedule that is interrupted then continues with the same pairs.
    ///
    /// # Errors
    /// A store that cannot be used, or [`StoreError::Damaged`].
    pub fn remember(&self, model: u32, turn: usize, pairing: &Pairing) -> Result<Pairing, StoreError> {
        self.at.store.remember(&self.file(model, turn), pairing)
    }

    fn file(&self, model: u32, turn: usize) -> Path {
        self.at.path([PAIRINGS]).join(format!("{}-{turn:03}.toml", number_name(model)))
    }
}
