//! Models that were retired: small files that are written once. The evaluator decides who is retired.

use std::collections::{BTreeMap, BTreeSet};

use object_store::path::Path;
use serde::Serialize;

use crate::error::StoreError;
use crate::folder::RunFolder;
use crate::names::{number_name, parse_number};

const RETIRED: &str = "retired";

/// The models of a run that were retired.
#[derive(Debug)]
pub struct Retirements {
    pub(crate) at: RunFolder,
}

impl Retirements {
    /// The retired models: those with an odd number of marks. The first mark retires a model, the second brings it
    /// back, and so on.
    ///
    /// # Errors
    /// A store that cannot be reached.
    pub fn retired(&self) -> Result<BTreeSet<u32>, StoreError> {
        Ok(self.marks()?.into_iter().filter(|&(_, marks)| marks % 2 == 1).map(|(number, _)| number).collect())
    }

    /// The models that were retired once and brought back.
    ///
    /// # Errors
    /// A store that cannot be reached.
    pub fn reinstated(&self) -> Result<BTreeSet<u32>, StoreError> {
        Ok(self.marks()?.into_iter().filter(|&(_, marks)| marks % 2 == 0).map(|(number, _)| number).collect())
    }

    /// Retires a model, and keeps why.
    ///
    /// # Errors
    /// A store that cannot be used. A model that is retired already is no error.
    pub fn retire(&self, number: u32, why: &impl Serialize) -> Result<(), StoreError> {
        self.put(number, 0, why)
    }

    /// Brings a retired model back, and keeps why.
    ///
    /// # Errors
    /// A store that cannot be used. A model that is not retired is no error.
    pub fn reinstate(&self, number: u32, why: &impl Serialize) -> Result<(), StoreError> {
        self.put(number, 1, why)
    }

    /// Adds the next mark of a model whose number of marks has this parity.
    fn put(&self, number: u32, parity: u32, why: &impl Serialize) -> Result<(), StoreError> {
        let marks = self.marks()?.get(&number).copied().unwrap_or_default();
        if marks % 2 == parity { self.at.store.publish_mark(&self.file(number, marks), why) } else { Ok(()) }
    }

    /// By model: how often it was retired and brought back.
    fn marks(&self) -> Result<BTreeMap<u32, u32>, StoreError> {
        let mut marks = BTreeMap::new();
        for name in self.at.store.files(&self.at.path([RETIRED]))? {
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
    fn file(&self, number: u32, marks: u32) -> Path {
        let name = number_name(number);
        self.at.path([RETIRED]).join(if marks == 0 { format!("{name}.toml") } else { format!("{name}-{marks}.toml") })
    }
}
