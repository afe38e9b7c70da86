//! Putting many small files of games into few large ones, when there are enough.

use exit_class::{Classified, ExitClass};
use store::{Compaction, Run, StoreError};

/// Games in an archive, at most. Five files of 100,000 games are nothing to list, and a worker on 9x9 plays as many in
/// a day.
const MOST: usize = 100_000;

/// Makes archives of the games of a run, each of at least `least` games, and deletes what they replace.
///
/// # Errors
/// As [`store::Archives::compact`].
pub fn compact(run: &Run, least: usize) -> Result<Compaction, StoreError> {
    let done = run.archives().compact(least, MOST.max(least))?;
    for (file, why) in &done.left {
        tracing::error!(%file, why, "omitted an unreadable file from the archive");
    }
    Ok(done)
}

/// Files of games that lie in their folders before they are put into archives. What a process that has just started
/// pays for is the number of files; and a worker whose games are long publishes files with few games in them
/// (`experiments/0010-polling-cost-by-run-age`).
const FILES: usize = 500;

/// Makes archives of all files when there are many, which only a listing is needed to see. So a run never has more than
/// these and those of a generation outside of archives, unless compaction fails.
///
/// # Errors
/// As [`store::Archives::compact`].
pub fn compact_when_due(run: &Run) -> Result<(), StoreError> {
    if run.archives().loose_files()?.len() >= FILES {
        let done = compact(run, 1)?;
        tracing::info!(
            archives = done.archives,
            games = done.games,
            files = done.files,
            "compacted games into archives"
        );
    }
    Ok(())
}

/// As [`compact_when_due`], except that a store which is unreachable or refuses writes is no error: the run needs no
/// archives, and the next call continues. Where the stage cannot do without the store, its other requests fail, too.
///
/// # Errors
/// Damaged data: an archive that is not what its sources are.
pub(crate) fn compact_if_possible(run: &Run) -> Result<(), StoreError> {
    match compact_when_due(run) {
        Err(error) if matches!(error.class(), ExitClass::StoreUnreachable | ExitClass::StoreRefuses) => {
            tracing::warn!(
                %error,
                "compaction failed; retrying after the next shards, or run `shuffler --compact=1` near the store"
            );
            Ok(())
        }
        done => done,
    }
}
