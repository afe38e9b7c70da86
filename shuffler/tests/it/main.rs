//! The shuffler, on a folder and in memory, with made-up games.

#![allow(clippy::unwrap_used, reason = "a test stops at what it did not expect, in its helpers too")]

mod calibration;
mod failures;
mod mixing;
mod program;
mod sampling;
mod windows;

use std::collections::BTreeMap;

use config::{Preset, RunConfig};
use go::Size;
use record::{Example, GameId, GameRecord, synthetic};
use shuffler::{Shuffler, ShufflerError};
use store::{FileRef, Manifest, Run, Stem, Store};
use tempfile::TempDir;

/// A run in memory.
fn a_run() -> Run {
    Store::in_memory().unwrap().run(&"r".parse().unwrap())
}

/// A run in a folder that goes when it does.
fn in_folder() -> (TempDir, Run) {
    let folder = TempDir::new().unwrap();
    let run = Store::open(folder.path().to_str().unwrap()).unwrap().run(&"r".parse().unwrap());
    (folder, run)
}

/// 40 first games, 20 of each later model, a window of 60 games and one step of 100 examples, unless overridden.
fn config(overrides: &[&str]) -> RunConfig {
    let basis = [
        "selfplay.first_games=40",
        "selfplay.games=20",
        "window.games=60",
        "window.reuse_limit=4",
        "train.batch=100",
        "train.steps=1",
    ];
    Preset::Minigo.with(&[&basis[..], overrides].concat()).unwrap()
}

/// Games number `from` to `to` of a model, one in ten of them in the validation set.
fn games(model: u32, from: u64, to: u64) -> Vec<GameRecord> {
    let name = if model == 0 { "random".to_owned() } else { format!("r-{model}") };
    let game = |index| synthetic::game(&name, "w", index, Size::new(5).unwrap(), 20);
    let hold_out = |game: GameRecord| GameRecord { holdout: game.id.share() < 0.1, ..game };
    (from..to).map(game).map(hold_out).collect()
}

fn file(model: u32, time: u64) -> FileRef {
    FileRef { model, stem: Stem::new("w", time).unwrap() }
}

/// Publishes games number `from` to `to` of a model, ten to a file, named by the first.
fn play(run: &Run, model: u32, from: u64, to: u64) {
    for first in (from..to).step_by(10) {
        run.games().publish_as(&file(model, first), &games(model, first, (first + 10).min(to))).unwrap();
    }
}

/// Makes the shards of a generation, as a process that has just started.
fn publish(run: &Run, config: &RunConfig, generation: u32) -> Result<Manifest, ShufflerError> {
    Shuffler::new(run, config).publish(generation)
}

/// All examples of a generation in order.
fn read(run: &Run, manifest: &Manifest) -> Vec<Example> {
    manifest.parts.iter().flat_map(|part| run.shards().read(manifest.generation, part).unwrap().to_examples()).collect()
}

/// How often each position was sampled.
fn counts(examples: &[Example]) -> BTreeMap<(GameId, u16), usize> {
    let mut counts = BTreeMap::new();
    for example in examples {
        *counts.entry((example.game, example.turn)).or_default() += 1;
    }
    counts
}
