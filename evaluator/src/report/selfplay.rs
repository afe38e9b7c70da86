//! What self-play and matches were like.

use std::collections::HashSet;

use record::GameId;
use store::{Run, StoreError};

use super::facts::{Counter, Model, Pool};

/// Self-play by model, oldest first. A game that was published twice counts once.
pub(super) fn models(run: &Run) -> Result<Vec<Model>, StoreError> {
    let mut models = Vec::new();
    for number in run.games().models()? {
        let (mut counter, mut known) = (Counter::default(), HashSet::<GameId>::new());
        for file in run.games().files(number)? {
            let games = run.games().outlines(&file)?;
            games.iter().filter(|game| known.insert(game.summary.id)).for_each(|game| counter.add(game));
        }
        models.push(Model { number, games: counter.games(), counts: counter.finish() });
    }
    Ok(models)
}

/// When the first games of the run were published, in seconds since 1970.
pub(super) fn begun(run: &Run) -> Result<Option<f64>, StoreError> {
    let Some(first) = run.games().models()?.into_iter().min() else { return Ok(None) };
    let times = run.games().files(first)?.into_iter().map(|file| file.stem.time());
    Ok(times.min().map(|milliseconds| milliseconds as f64 / 1e3))
}

/// All matches together.
pub(super) fn pool(run: &Run) -> Result<Pool, StoreError> {
    let (mut counter, mut known) = (Counter::default(), HashSet::<GameId>::new());
    for stem in run.matches().files()? {
        let games = run.matches().outlines(&stem)?;
        games.iter().filter(|game| known.insert(game.summary.id)).for_each(|game| counter.add(game));
    }
    Ok(Pool { counts: counter.finish(), ..Pool::default() })
}
