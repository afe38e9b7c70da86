//! Positions of studies, from games that a model plays against itself as in self-play.

use std::ops::ControlFlow;

use config::RunConfig;
use go::Game;
use mcts::Evaluator;
use play::{Selfplay, SelfplaySpec, game_seed, generator};
use rand::RngExt;
use record::GameRecord;
use runtime::Stop;

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
    play::run(
        &mut [model],
        &mut Vec::new(),
        slots,
        &mut || started.next(),
        &mut |record| records.push(record),
        &mut |_| {
            if stop.requested() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        },
    )
    .map_err(|error| anyhow::anyhow!(error))?;
    records.sort_by_key(|record| record.index);
    records.iter().map(|record| Ok(some_position(record)?)).collect()
}

/// The position before some move, each as likely as any other.
fn some_position(record: &GameRecord) -> Result<Game, record::RecordError> {
    let mut rng = generator(game_seed(record.seed, "", "turn", record.index));
    let turns = record.turns[..rng.random_range(0..record.turns.len().max(1))].to_vec();
    GameRecord { turns, ..record.clone() }.replay()
}
