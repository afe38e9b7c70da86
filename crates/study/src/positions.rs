//! Positions of studies, from games that a model plays against itself as in self-play, and games of files.

use std::fs;
use std::ops::ControlFlow;
use std::path::PathBuf;

use anyhow::{Context, anyhow};
use config::RunConfig;
use go::{Game, Size, sgf};
use mcts::Evaluator;
use play::{Selfplay, SelfplaySpec, game_seed, generator};
use rand::RngExt;
use record::{GameRecord, unpacked_sgf};
use runtime::{Classify, Progress, Stop};

use crate::batched_search::BATCH;

/// One position from each of `count` games, at some move of its game; fewer when the program is to stop. `worker` names the
/// series of games: another name, other games. Below `threshold` the mover resigns, and without one neither side resigns.
///
/// # Errors
/// The model fails.
pub(crate) fn positions(
    config: &RunConfig,
    id: &str,
    worker: &str,
    count: u32,
    threshold: Option<f32>,
    model: &mut dyn Evaluator,
    stop: &Stop,
) -> anyhow::Result<Vec<Game>> {
    let config = config.at(0);
    let mut started =
        (0..u64::from(count)).map(|i| Selfplay::new(SelfplaySpec::new(&config, id, worker, i, threshold)));
    let mut records: Vec<GameRecord> = Vec::new();
    let slots = (BATCH / config.search.leaves).max(1);
    let progress = Progress::new("games", Some(count.into()));
    play::run(
        &mut [model],
        &mut Vec::new(),
        slots,
        &mut || started.next(),
        &mut |record| {
            records.push(record);
            progress.set(records.len() as u64);
        },
        &mut |_| {
            if stop.requested() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        },
    )
    .map_err(|error| anyhow::anyhow!(error))?;
    records.sort_by_key(|record| record.index);
    records.iter().map(|record| Ok(some_position(record)?)).collect()
}

/// The games on boards of this size in files of SGF, packed or not.
///
/// # Errors
/// A file that cannot be read or unpacked.
pub(crate) fn recorded(paths: &[PathBuf], size: Size) -> anyhow::Result<Vec<Game>> {
    let mut games = Vec::new();
    for path in paths {
        let file = fs::read(path).with_context(|| path.display().to_string()).misconfigured()?;
        let text = unpacked_sgf(&file).map_err(|reason| anyhow!("{}: {reason}", path.display())).misconfigured()?;
        games.extend(sgf::games(&text, size).flatten().map(|(game, _)| game));
    }
    Ok(games)
}

/// The position before some move, each as likely as any other.
fn some_position(record: &GameRecord) -> Result<Game, record::RecordError> {
    let mut rng = generator(game_seed(record.seed, "", "turn", record.index));
    let turns = record.turns[..rng.random_range(0..record.turns.len().max(1))].to_vec();
    GameRecord { turns, ..record.clone() }.replay()
}
