//! What an audit found, for people.

use std::fmt;

/// Something that is wrong, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The file, and the game in it; `None` when `what` names it.
    pub place: Option<String>,
    /// What is wrong.
    pub what: String,
}

/// Everything that was read, counted, and what is wrong with it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Findings {
    /// What is wrong.
    pub problems: Vec<Problem>,
    /// Files of games.
    pub files: usize,
    /// Archives that such files have gone into.
    pub archives: usize,
    /// Games in them, each counted once.
    pub games: usize,
    /// Examples of these games.
    pub examples: usize,
    /// Examples of games set aside.
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
    /// Games that workers have left before their end and nobody has finished.
    pub left: usize,
    /// Whether the audit was stopped before it was through.
    pub stopped: bool,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.place {
            Some(place) => write!(f, "{place}: {}", self.what),
            None => f.write_str(&self.what),
        }
    }
}

impl fmt::Display for Findings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let so_far = if self.stopped { "stopped before the end; so far " } else { "" };
        write!(
            f,
            "{so_far}read {} games in {} files, {} archives, {} examples, {} set aside, {} in the shards of {} generations, {} \
             models, {} checkpoints, {} thresholds, {} games of matches, {} unfinished games: {} problems",
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
            self.problems.len()
        )
    }
}
