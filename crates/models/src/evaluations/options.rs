//! How evaluations are kept, and where.

use std::path::PathBuf;

use evalcache::{Steps, Symmetries};
use runtime::EvalcacheArgs;
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
    /// As [`EvaluationCacheOptions::parse`].
    pub fn of(args: &EvalcacheArgs) -> Result<Option<EvaluationCacheOptions>, EvaluationCacheError> {
        let EvalcacheArgs { evalcache, evalcache_steps, evalcache_symmetry, evalcache_copies } = args;
        let Some(store) = evalcache else { return Ok(None) };
        Self::parse(store, evalcache_steps, evalcache_symmetry, evalcache_copies.clone()).map(Some)
    }

    /// Options as typed: a store, steps, a symmetry, and a folder for copies.
    ///
    /// # Errors
    /// A store that cannot be opened, or words that are none of these.
    pub fn parse(
        store: &str,
        steps: &str,
        symmetries: &str,
        copies: Option<PathBuf>,
    ) -> Result<EvaluationCacheOptions, EvaluationCacheError> {
        let steps = steps.parse().map_err(EvaluationCacheError::Option)?;
        let symmetries = symmetries.parse().map_err(EvaluationCacheError::Option)?;
        Ok(EvaluationCacheOptions { store: Store::open(store)?, steps, symmetries, copies })
    }
}
