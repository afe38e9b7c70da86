//! Marks: which old games were deleted on request, for those who count or list them.

use std::sync::{Arc, Mutex, PoisonError};

use object_store::path::Path;
use serde::{Deserialize, Serialize};

use crate::error::StoreError;
use crate::folder::RunFolder;
use crate::names::number_name;
use crate::numbers;

const PRUNED: &str = "pruned";

/// What may be deleted, or was.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pruned {
    /// Games of models before this one are gone, or going.
    pub games_before: u32,
    /// Those games without the validation set, where the size of the window depends on all games ever played.
    pub games: u64,
    /// Positions in them.
    pub positions: u64,
    /// The first archive that is kept.
    pub first_archive: u32,
    /// Archives before this one have no SGF.
    pub sgf_from_archive: u32,
}

/// The marks of a run.
#[derive(Clone, Debug)]
pub(crate) struct Marks {
    at: RunFolder,
    newest: Arc<Mutex<(u32, Pruned)>>,
}

impl Marks {
    pub(crate) fn new(at: RunFolder) -> Marks {
        Marks { at, newest: Arc::default() }
    }

    /// The newest mark. Polling costs one small request while there is no newer one.
    pub(crate) fn newest(&self) -> Result<Pruned, StoreError> {
        let (known, pruned) = *self.newest.lock().unwrap_or_else(PoisonError::into_inner);
        let newest = numbers::last(known, |number| self.at.store.exists(&self.path(number)))?;
        if newest == known {
            return Ok(pruned);
        }
        let path = self.path(newest);
        let found: Option<Pruned> = self.at.store.find_toml(&path)?;
        let found = found.ok_or_else(|| StoreError::NotFound { path: self.at.store.name(&path) })?;
        *self.newest.lock().unwrap_or_else(PoisonError::into_inner) = (newest, found);
        Ok(found)
    }

    /// Raises the mark.
    pub(crate) fn raise(&self, goal: &Pruned) -> Result<Pruned, StoreError> {
        loop {
            let before = self.newest()?;
            let raised = before.raised(goal);
            if raised == before {
                return Ok(before);
            }
            let number = self.newest.lock().unwrap_or_else(PoisonError::into_inner).0 + 1;
            match self.at.store.publish_toml(&self.path(number), &raised) {
                // Another process has raised it meanwhile.
                Err(StoreError::AlreadyExists { .. }) => {}
                done => done?,
            }
        }
    }

    fn path(&self, number: u32) -> Path {
        self.at.path([PRUNED]).join(format!("{}.toml", number_name(number)))
    }
}

impl Pruned {
    fn raised(self, goal: &Pruned) -> Pruned {
        // The sums belong to their bound.
        let of = if goal.games_before > self.games_before { goal } else { &self };
        Pruned {
            first_archive: self.first_archive.max(goal.first_archive),
            sgf_from_archive: self.sgf_from_archive.max(goal.sgf_from_archive),
            ..*of
        }
    }
}
