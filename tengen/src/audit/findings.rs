//! The report of an audit.

use std::collections::BTreeMap;
use std::fmt;

use store::{FileRef, Stem};

/// Counts of everything that was read, and the findings.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Findings {
    /// What is wrong, and where.
    pub problems: Vec<String>,
    /// Files of games.
    pub files: usize,
    /// Archives that such files have gone into.
    pub archives: usize,
    /// Games in them, each counted once.
    pub games: usize,
    /// Examples of these games.
    pub examples: usize,
    /// Examples of the validation set.
    pub holdout: usize,
    /// Generations that have shards.
    pub generations: usize,
    /// Examples in these shards.
    pub shard_rows: usize,
    /// Models.
    pub models: usize,
    /// Checkpoints of training.
    pub checkpoints: usize,
    /// Resignation thresholds.
    pub thresholds: usize,
    /// Games of matches.
    pub results: usize,
    /// Unfinished games that were handed off.
    pub left: usize,
    /// Files in quarantine, which readers do not see.
    pub quarantined: usize,
    /// Files of games that are damaged, or whose examples are not theirs, and why.
    pub damaged: BTreeMap<FileRef, String>,
    /// Files of unfinished games that are damaged, and why.
    pub damaged_unfinished: BTreeMap<FileRef, String>,
    /// Files of results that are damaged, and why.
    pub damaged_results: BTreeMap<Stem, String>,
    /// Whether the audit was stopped before it was through.
    pub stopped: bool,
}

impl Findings {
    /// Whether some of the problems go when files are moved to quarantine.
    pub fn can_be_repaired(&self) -> bool {
        !self.damaged.is_empty() || !self.damaged_unfinished.is_empty() || !self.damaged_results.is_empty()
    }
}

impl fmt::Display for Findings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let so_far = if self.stopped { "stopped before the end; so far " } else { "" };
        write!(
            f,
            "{so_far}read {} games in {} files, {} archives, {} examples, {} in the validation set, {} in the shards of {} generations; \
             {} models, {} checkpoints, {} thresholds, {} games of matches, {} unfinished games, {} files in quarantine: {} problems",
            self.games,
            self.files,
            self.archives,
            self.examples,
            self.holdout,
            self.shard_rows,
            self.generations,
            self.models,
            self.checkpoints,
            self.thresholds,
            self.results,
            self.left,
            self.quarantined,
            self.problems.len()
        )
    }
}
