//! What a reader has found and not read yet.

use std::collections::{BTreeMap, BTreeSet};

use store::{FileRef, Stem};

/// Files that were found and not read yet.
#[derive(Clone, Debug, Default)]
pub(crate) struct Unread {
    pub(crate) logs: BTreeSet<String>,
    pub(crate) thresholds: BTreeSet<String>,
    pub(crate) models: BTreeSet<u32>,
    pub(crate) matches: BTreeSet<Stem>,
    /// By model, so that the games of one are read together.
    pub(crate) games: BTreeMap<u32, BTreeSet<FileRef>>,
}

impl Unread {
    /// How many there are.
    pub(crate) fn files(&self) -> usize {
        let games: usize = self.games.values().map(BTreeSet::len).sum();
        self.logs.len() + self.thresholds.len() + self.models.len() + self.matches.len() + games
    }

    /// Whether everything was read.
    pub(crate) fn is_empty(&self) -> bool {
        self.files() == 0
    }
}
