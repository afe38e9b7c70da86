//! How an engine searches.

use mcts::{LARGEST_TREE, Settings};
use play::Budget;

/// Positions that an evaluator of an engine takes at a time.
pub const BATCH: usize = 32;

/// How an engine searches.
#[derive(Clone, Copy, Debug)]
pub struct AnalysisOptions {
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

impl AnalysisOptions {
    /// Options with as many positions a thread as fill batches of [`BATCH`] with their leaves. Each task has its own
    /// visits. A pass is considered at any turn: games of others may be over early.
    pub fn new(settings: Settings, budget: Budget, threads: usize, seed: u64) -> AnalysisOptions {
        let Budget { leaves, .. } = budget;
        let settings = Settings { pass_from: 0, ..settings };
        let positions = (BATCH / leaves).max(1);
        AnalysisOptions { settings, leaves, threads, positions, tree: LARGEST_TREE, seed }
    }
}

#[cfg(test)]
mod tests {
    use config::Preset;

    use super::*;

    #[test]
    fn leaves_of_all_positions_of_a_thread_fill_a_batch() {
        let config = Preset::Minigo.config();
        let settings = Settings::new(&config.search, &config.game);
        let positions = |leaves| AnalysisOptions::new(settings, Budget { visits: 1, leaves }, 3, 1).positions;
        assert_eq!([1, 5, 8, 32, 33].map(positions), [32, 6, 4, 1, 1]);
    }

    #[test]
    fn pass_is_considered_at_any_turn() {
        let config = Preset::NineByNine.config();
        let settings = Settings::new(&config.search, &config.game);
        let options = AnalysisOptions::new(settings, Budget { visits: 1, leaves: 1 }, 1, 1);
        assert_eq!((settings.pass_from > 0, options.settings.pass_from), (true, 0));
    }
}
