//! `tengen run` is killed at random moments and goes on, as if nothing had been.

use std::collections::{BTreeMap, BTreeSet};
use std::process::Stdio;
use std::time::Duration;

use record::GameRecord;
use store::{FileRef, Run, StoreError};
use tests::{TestStore, repository, succeed};

const KILLS: u64 = 20;

fn files(run: &Run) -> Vec<FileRef> {
    run.game_models().unwrap().into_iter().flat_map(|model| run.game_files(model).unwrap()).collect()
}

/// All published games of a run, by model and index.
fn games(store: &TestStore) -> BTreeMap<(u32, u64), GameRecord> {
    let run = store.run("tiny");
    let mut games = BTreeMap::new();
    let mut ids = BTreeSet::new();
    for file in files(&run) {
        for game in run.read_games(&file).unwrap() {
            assert!(ids.insert(game.id), "game {} is published twice", game.id);
            games.insert((file.model, game.index), game);
        }
    }
    games
}

/// The examples of every published game, by game.
fn examples(store: &TestStore) -> BTreeMap<String, usize> {
    let run = store.run("tiny");
    let mut examples = BTreeMap::new();
    for file in files(&run) {
        let read = match run.read_examples(&file) {
            // Every game of the file is set aside; a small file can be so.
            Err(StoreError::NotFound { .. }) => continue,
            read => read.unwrap(),
        };
        for example in read.to_examples() {
            *examples.entry(example.game.to_string()).or_default() += 1;
        }
    }
    examples
}

fn weights(store: &TestStore) -> BTreeMap<u32, Vec<u8>> {
    let run = store.run("tiny");
    run.models().unwrap().into_iter().map(|number| (number, run.model(number).unwrap().1.to_vec())).collect()
}

#[test]
fn a_run_that_is_killed_twenty_times_is_the_same_run() {
    let config = repository().join("configs/tiny.toml");
    let undisturbed = TestStore::new();
    let table = succeed(undisturbed.program("tengen").arg("run").arg(&config));
    assert!(table.contains("tiny-3"), "the ratings table names the newest model:\n{table}");

    let killed = TestStore::new();
    // A linear congruential generator (Knuth, MMIX) is random enough for moments.
    let mut moment = 1u64;
    let mut hits = 0;
    for _ in 0..KILLS {
        moment = moment.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let mut command = killed.program("tengen");
        command.arg("run").arg(&config).stdout(Stdio::null()).stderr(Stdio::null());
        let mut process = command.spawn().unwrap();
        std::thread::sleep(Duration::from_millis(50 + (moment >> 33) % 600));
        hits += u64::from(process.try_wait().unwrap().is_none());
        process.kill().unwrap();
        process.wait().unwrap();
        games(&killed);
    }
    assert!(hits > KILLS / 2, "only {hits} kills came before the run was finished; give it more to do");
    succeed(killed.program("tengen").arg("run").arg(&config));

    let (expected, found) = (games(&undisturbed), games(&killed));
    assert_eq!(found.keys().collect::<Vec<_>>(), expected.keys().collect::<Vec<_>>(), "no game is lost");
    for (place, game) in &expected {
        assert_eq!(&found[place], game, "and every game is the same: model {}, index {}", place.0, place.1);
    }
    assert_eq!(examples(&killed), examples(&undisturbed));
    assert!(weights(&killed) == weights(&undisturbed), "training went on to the bit");
}
