//! What is known of players for ever: small files that are written once.

use std::collections::{BTreeMap, BTreeSet};

use config::{EngineName, PlayerId};
use object_store::path::Path;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::names::{number_name, parse_number};
use crate::{Run, StoreError};

const ENGINES: &str = "engines";
const RETIRED: &str = "retired";
const CHAMPIONS: &str = "champions";
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

impl Run {
    /// Keeps what is known of a program that plays matches under this name, unless something is known already; returns what
    /// is known now.
    ///
    /// # Errors
    /// A store that cannot be used, or [`StoreError::Damaged`].
    pub fn remember_engine<T: Serialize + DeserializeOwned>(
        &self,
        name: &EngineName,
        found: &T,
    ) -> Result<T, StoreError> {
        self.remember(&self.path([ENGINES]).join(format!("{name}.toml")), found)
    }

    /// The pair that was chosen at this turn after this model was published; `None` before it is chosen.
    ///
    /// # Errors
    /// A store that cannot be reached, or [`StoreError::Damaged`].
    pub fn pairing(&self, model: u32, turn: usize) -> Result<Option<Pairing>, StoreError> {
        self.store().find_toml(&self.pairing_path(model, turn))
    }

    /// Keeps the pair that is chosen at this turn, unless another was chosen already; returns the one that is kept. A
    /// schedule that is interrupted then continues with the same pairs.
    ///
    /// # Errors
    /// A store that cannot be used, or [`StoreError::Damaged`].
    pub fn remember_pairing(&self, model: u32, turn: usize, pairing: &Pairing) -> Result<Pairing, StoreError> {
        self.remember(&self.pairing_path(model, turn), pairing)
    }

    fn pairing_path(&self, model: u32, turn: usize) -> Path {
        self.path([PAIRINGS]).join(format!("{}-{turn:03}.toml", number_name(model)))
    }

    /// The retired models: those with an odd number of marks. The first mark retires a model, the second brings it back, and
    /// so on.
    ///
    /// # Errors
    /// A store that cannot be reached.
    pub fn retired_models(&self) -> Result<BTreeSet<u32>, StoreError> {
        Ok(self.retirements()?.into_iter().filter(|&(_, marks)| marks % 2 == 1).map(|(number, _)| number).collect())
    }

    /// The models that were retired once and brought back.
    ///
    /// # Errors
    /// A store that cannot be reached.
    pub fn unretired_models(&self) -> Result<BTreeSet<u32>, StoreError> {
        Ok(self.retirements()?.into_iter().filter(|&(_, marks)| marks % 2 == 0).map(|(number, _)| number).collect())
    }

    /// Retires a model, and keeps why.
    ///
    /// # Errors
    /// A store that cannot be used. A model that is retired already is no error.
    pub fn retire_model(&self, number: u32, why: &impl Serialize) -> Result<(), StoreError> {
        self.turn_retirement(number, 0, why)
    }

    /// Brings a retired model back, and keeps why.
    ///
    /// # Errors
    /// A store that cannot be used. A model that is not retired is no error.
    pub fn unretire_model(&self, number: u32, why: &impl Serialize) -> Result<(), StoreError> {
        self.turn_retirement(number, 1, why)
    }

    /// Adds the next mark of a model whose number of marks has this parity.
    fn turn_retirement(&self, number: u32, parity: u32, why: &impl Serialize) -> Result<(), StoreError> {
        let marks = self.retirements()?.get(&number).copied().unwrap_or_default();
        if marks % 2 == parity { self.mark(&self.retirement_path(number, marks), why) } else { Ok(()) }
    }

    /// By model: how often it was retired and brought back.
    fn retirements(&self) -> Result<BTreeMap<u32, u32>, StoreError> {
        let mut marks = BTreeMap::new();
        for name in self.store().files(&self.path([RETIRED]))? {
            let Some(stem) = name.strip_suffix(".toml") else { continue };
            let (number, mark) = stem.split_once('-').unwrap_or((stem, "0"));
            if let (Some(number), Ok(mark)) = (parse_number(number), mark.parse::<u32>()) {
                let marks = marks.entry(number).or_insert(0);
                *marks = (*marks).max(mark + 1);
            }
        }
        Ok(marks)
    }

    /// `000007.toml`, then `000007-1.toml` and so on.
    fn retirement_path(&self, number: u32, marks: u32) -> Path {
        let name = number_name(number);
        self.path([RETIRED]).join(if marks == 0 { format!("{name}.toml") } else { format!("{name}-{marks}.toml") })
    }

    /// The model that passed the last promotion test; `None` before there is one. Only newer models follow it.
    ///
    /// # Errors
    /// A store that cannot be reached.
    pub fn champion(&self) -> Result<Option<u32>, StoreError> {
        Ok(self.champions()?.last().copied())
    }

    /// Keeps that a model has passed a promotion test, and how.
    ///
    /// # Errors
    /// A store that cannot be written. A model that has passed one before is no error.
    pub fn crown(&self, number: u32, how: &impl Serialize) -> Result<(), StoreError> {
        self.mark(&self.model_mark(CHAMPIONS, number), how)
    }

    /// The models that passed a promotion test.
    ///
    /// # Errors
    /// A store that cannot be reached.
    pub fn champions(&self) -> Result<BTreeSet<u32>, StoreError> {
        self.marked_models(CHAMPIONS)
    }

    /// Publishes something unless there is something already; returns what is there.
    fn remember<T: Serialize + DeserializeOwned>(&self, path: &Path, found: &T) -> Result<T, StoreError> {
        if let Some(known) = self.store().find_toml(path)? {
            return Ok(known);
        }
        // Somebody else may be quicker, perhaps with something else.
        self.mark(path, found)?;
        let missing = || StoreError::NotFound { path: self.store().name(path) };
        self.store().find_toml(path)?.ok_or_else(missing)
    }

    /// Publishes a mark unless it is there.
    pub(crate) fn mark(&self, path: &Path, what: &impl Serialize) -> Result<(), StoreError> {
        match self.store().publish_toml(path, what) {
            Ok(()) | Err(StoreError::AlreadyExists { .. }) => Ok(()),
            Err(error) => Err(error),
        }
    }

    fn marked_models(&self, folder: &str) -> Result<BTreeSet<u32>, StoreError> {
        let files = self.store().files(&self.path([folder]))?;
        Ok(files.iter().filter_map(|name| parse_number(name.strip_suffix(".toml")?)).collect())
    }

    fn model_mark(&self, folder: &str, number: u32) -> Path {
        self.path([folder]).join(format!("{}.toml", number_name(number)))
    }
}
