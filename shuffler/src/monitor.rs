//! What a monitor is told of games, thresholds and shards.

use cli::metrics;
use config::RunConfig;
use store::{Manifest, ResignThreshold, Run, StoreError};

use crate::follow::Waiting;

/// How many models back positions that were set aside are looked for.
const BACK: u32 = 3;

/// Notes when games and positions for validation were last published.
///
/// # Errors
/// A store that cannot be reached.
pub fn note_games(run: &Run) -> Result<(), StoreError> {
    let Some(games) = run.games().newest()? else { return Ok(()) };
    metrics::NEWEST_GAMES.set_to_time(games.stem.time());
    for model in (games.model.saturating_sub(BACK)..=games.model).rev() {
        if let Some(holdout) = run.games().holdout_files(model)?.last() {
            metrics::NEWEST_HOLDOUT.set_to_time(holdout.stem.time());
            return Ok(());
        }
    }
    // That there is none at all is what an operator must see; what there was once stays as it was noted.
    metrics::NEWEST_HOLDOUT.show();
    Ok(())
}

/// Notes a threshold that was computed from the games that are there now; `None` while they are too few.
pub fn note_threshold(found: Option<&ResignThreshold>) {
    metrics::RESIGN_TIME.set_to_now();
    let Some(found) = found else { return };
    metrics::RESIGN_THRESHOLD.set(found.threshold);
    metrics::RESIGN_FALSE_POSITIVES.set(found.false_positive_rate);
    metrics::RESIGN_GAMES.set(found.games as f64);
    metrics::RESIGN_MODEL.set(found.to_model);
}

/// Notes shards that were just published.
pub(crate) fn note_shards(manifest: &Manifest) {
    cli::alive();
    metrics::SHARDS.set(manifest.generation);
    metrics::SHARDS_TIME.set_to_now();
    metrics::SHARDS_EXAMPLES.set(manifest.drawn.examples as f64);
    metrics::WINDOW_GAMES.set(manifest.window.games as f64);
    metrics::WINDOW_POSITIONS.set(manifest.window.positions as f64);
    metrics::SAMPLES_PER_NEW_POSITION.set(manifest.drawn.mean_per_new_position);
    metrics::SHARDS_REJECTED.set(manifest.rejected.len() as f64);
}

/// Notes what is waited for.
pub(crate) fn note_waiting(waiting: &Waiting, config: &RunConfig) {
    match waiting {
        Waiting::Run => {}
        Waiting::Games { model, games, wanted, .. } => {
            metrics::NEWEST_MODEL.set(*model);
            metrics::GAMES_WANTED.set(*wanted as f64);
            metrics::GAMES_THERE.set(*games as f64);
        }
        Waiting::Model(generation) => {
            let wanted = if *generation == 1 { config.selfplay.first_games } else { config.selfplay.games };
            metrics::GAMES_WANTED.set(wanted as f64);
            metrics::GAMES_THERE.set(wanted as f64);
            // The trainer says so too, as long as there is one.
            metrics::NEWEST_MODEL.set(generation - 1);
            metrics::SHARDS.set(*generation);
        }
    }
}
