//! Whole games, played with models that need no weights.

mod external_players;
mod matches;
mod scheduler;
mod selfplay;

use std::cell::RefCell;
use std::ops::ControlFlow;

use config::RunConfig;
use mcts::{Evaluator, Request, Value};
use play::{BatchedGame, RandomModel, Selfplay, SelfplaySpec, run};
use record::GameRecord;
use testing::{FlushedBy, Stub};

fn config(overrides: &[&str]) -> RunConfig {
    config::Preset::Tiny.with(overrides).expect("the overrides are good")
}

fn play<G: BatchedGame>(
    models: &mut [&mut dyn Evaluator],
    slots: usize,
    games: impl Iterator<Item = G>,
) -> Vec<G::Finished> {
    let mut games = games;
    let mut records = Vec::new();
    let finish = &mut |record| records.push(record);
    let watch = &mut |_: &[G]| ControlFlow::Continue(());
    run(models, &mut Vec::new(), slots, &mut || games.next(), finish, watch).expect("these models work");
    records
}

fn sorted(mut records: Vec<GameRecord>) -> Vec<GameRecord> {
    records.sort_by_key(|record| record.index);
    records
}

fn selfplay(config: &RunConfig, slots: usize, games: std::ops::Range<u64>, threshold: Option<f32>) -> Vec<GameRecord> {
    let start = |index| Selfplay::new(SelfplaySpec::new(&config.at(0), "random", "0", index, threshold));
    sorted(play(&mut [&mut RandomModel::new()], slots, games.map(start)))
}

/// Gives every position the same value, and the same policy to every move.
fn opinion(black: f32) -> Stub<impl FnMut(&Request<'_>) -> (Vec<f32>, Value)> {
    Stub::new(move |request| (vec![1.0; request.game.size().moves()], Value::for_black(black)))
}

/// The same in batches of so many positions. Records how full they are.
fn batched(size: usize, batches: &RefCell<Vec<usize>>) -> impl Evaluator {
    FlushedBy::new(opinion(0.1).in_batches_of(size), move |opinion, _| {
        batches.borrow_mut().push(opinion.pending());
        opinion.flush()
    })
}
