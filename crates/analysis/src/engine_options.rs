//! How an engine searches.

use mcts::Settings;

/// Bytes of a tree above which a search stops.
pub const LARGEST_TREE: usize = 1 << 30;

/// How an engine searches.
#[derive(Clone, Copy, Debug)]
pub struct EngineOptions {
    /// The search; each task has its own komi.
    pub settings: Settings,
    /// Leaves of one search that are evaluated together.
    pub leaves: usize,
    /// Threads, each with an evaluator of its own.
    pub threads: usize,
    /// Positions that each thread searches at the same time, so that their leaves share batches.
    pub positions: usize,
    /// Bytes of a tree above which its search stops: [`LARGEST_TREE`], or less in a test.
    pub tree: usize,
    /// Seed of the draws of evaluations, which networks do not depend on.
    pub seed: u64,
}
