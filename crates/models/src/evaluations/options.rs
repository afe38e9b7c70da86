//! How evaluations are kept, and where.

use std::path::PathBuf;

use evalcache::{Steps, Symmetries};
use runtime::{EvalcacheArgs, EvalcacheStoreArgs};
use store::Store;

use super::error::EvaluationCacheError;

/// How evaluations are kept, and where.
#[derive(Clone, Debug)]
pub struct EvaluationCacheOptions {
    /// The store.
    pub store: Store,
    /// How exactly.
    pub steps: Steps,
    /// In which symmetry positions are evaluated.
    pub symmetries: Symmetries,
    /// Folder for copies of segments from a bucket.
    pub copies: Option<PathBuf>,
}

impl EvaluationCacheOptions {
    /// The options of a command line; `None` without a store.
    ///
    /// # Errors
    /// A store that cannot be opened, or words that are no steps and no symmetry.
    pub fn of(args: &EvalcacheArgs) -> Result<Option<EvaluationCacheOptions>, EvaluationCacheError> {
        let steps = args.evalcache_steps.parse().map_err(EvaluationCacheError::Option)?;
        let symmetries = args.evalcache_symmetry.parse().map_err(EvaluationCacheError::Option)?;
        Self::open(&args.store, steps, symmetries)
    }

    /// The options with which a cache changes no game on CPUs: every bit of an evaluation, in the symmetry that is
    /// requested. Games of networks with planes of ladders may change: see [`evalcache::Key`]. `None` without a store.
    ///
    /// # Errors
    /// A store that cannot be opened.
    pub fn exact(args: &EvalcacheStoreArgs) -> Result<Option<EvaluationCacheOptions>, EvaluationCacheError> {
        Self::open(args, Steps::Exact, Symmetries::Requested)
    }

    fn open(
        EvalcacheStoreArgs { evalcache, evalcache_copies: copies }: &EvalcacheStoreArgs,
        steps: Steps,
        symmetries: Symmetries,
    ) -> Result<Option<EvaluationCacheOptions>, EvaluationCacheError> {
        let Some(store) = evalcache else { return Ok(None) };
        Ok(Some(EvaluationCacheOptions { store: Store::open(store)?, steps, symmetries, copies: copies.clone() }))
    }
}
