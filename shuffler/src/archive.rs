//! Putting many small files of games into few large ones, when there are enough.

use config::RunConfig;
use store::{Compaction, Run, StoreError};

/// Games in an archive, at most. Five files of 100,000 games are nothing to list, and a worker on 9x9 plays as many in a
/// day.
const MOST: usize = 100_000;

/// Makes archives of the games of a run, each of at least `least` games, and deletes what they replace.
///
/// # Errors
/// As [`Run::compact`].
pub fn compact(run: &Run, least: usize) -> Result<Compaction, StoreError> {
    let done = run.compact(least, MOST.max(least))?;
    for (file, why) in &done.left {
        tracing::error!(%file, why, "left a file where it is");
    }
    Ok(done)
}

/// Makes archives when there are files enough for a full one, which only a listing is needed to see.
///
/// # Errors
/// As [`Run::compact`].
pub fn compact_when_due(run: &Run, config: &RunConfig) -> Result<(), StoreError> {
    let games = run.loose_files()?.len().saturating_mul(config.selfplay.games_per_file);
    if games >= MOST {
        let done = compact(run, MOST)?;
        tracing::info!(archives = done.archives, games = done.games, files = done.files, "put games into archives");
    }
    Ok(())
}
