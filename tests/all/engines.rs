//! Engines of other authors as the programs meet them.

use std::fs;

use config::Preset;
use record::{EndReason, GameRecord};
use testing::{Tool, require};
use tests::{TestStore, repository, succeed};

/// The declarations in `configs/engines/gnugo.toml` work.
#[test]
fn gnugo_plays_whole_games_without_forfeit() {
    let Some(gnugo) = require(Tool::GnuGo) else { return };
    let store = TestStore::new();
    let read = |path: &str| fs::read_to_string(repository().join(path)).unwrap();
    let engines = store.path().join("gnugo.toml");
    fs::write(&engines, read("configs/engines/gnugo.toml").replace("/usr/games/gnugo", gnugo.to_str().unwrap()))
        .unwrap();
    let run = store.run("tiny");
    run.create(&Preset::Tiny.with(&["evaluate.visits=4"]).unwrap()).unwrap();
    for (pair, games) in [(["GnuGo-0", "Captures"], "6"), (["GnuGo-0-random-50", "uniform"], "4")] {
        let mut evaluator = store.program("evaluator");
        evaluator.args(["--run", "tiny", "--engines"]).arg(&engines);
        succeed(evaluator.arg("--pair").args(pair).args(["--games", games]));
    }
    let files = run.matches().files().unwrap();
    let games: Vec<GameRecord> = files.iter().flat_map(|file| run.matches().read(file).unwrap()).collect();
    assert_eq!(games.len(), 10);
    assert!(games.iter().all(|game| game.end != EndReason::Forfeit));
}
