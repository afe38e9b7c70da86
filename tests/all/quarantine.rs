//! Damaged files of games are moved out of the way, and kept.

use std::fs;
use std::path::PathBuf;

use shuffler::Calibrator;
use tests::{TestStore, fail, flip_a_byte, games_of, repository, succeed, without_reader};

/// Plays games of `random` as worker 0, and returns what the worker logged.
fn play(store: &TestStore, games: &str) -> String {
    let mut command = store.program("selfplay");
    command.args(["--run", "tiny", "--model", "random", "--games", games]);
    let output = command.arg("--config").arg(repository().join("configs/tiny.toml")).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{said}");
    said
}

fn files(store: &TestStore, folder: &str) -> Vec<PathBuf> {
    let names = store.files().into_iter().filter(|name| name.starts_with(&format!("tiny/{folder}")));
    names.map(|name| store.path().join(name)).collect()
}

fn games(store: &TestStore) -> u64 {
    games_of(&store.run("tiny"), 0).len() as u64
}

#[test]
fn selfplay_with_a_damaged_file_of_its_own_moves_it_to_quarantine_and_plays_its_games_again() {
    let store = TestStore::new();
    play(&store, "20");
    let damaged = files(&store, "games/").remove(0);
    flip_a_byte(&damaged);
    let bytes = fs::read(&damaged).unwrap();
    let said = play(&store, "20");
    assert!(said.contains("quarantine"), "{said}");
    assert!(!damaged.exists());
    let kept = files(&store, "quarantine/games/");
    assert_eq!(kept.len(), 1);
    assert_eq!(fs::read(&kept[0]).unwrap(), bytes);
    assert_eq!(games(&store), 20, "the games of the damaged file are played again");
    let said = succeed(store.program("tengen").args(["audit", "tiny"]));
    assert!(said.contains("0 problems") && said.contains("read 20 games"), "{said}");
}

#[test]
fn audit_repair_moves_damaged_sets_to_quarantine_and_then_finds_none() {
    let store = TestStore::new();
    play(&store, "30");
    let (games, examples) = (files(&store, "games/"), files(&store, "examples/"));
    flip_a_byte(&games[0]);
    flip_a_byte(&examples[1]);
    // Whole, and of other games.
    fs::copy(&examples[0], &examples[2]).unwrap();
    let before = store.files();
    let (code, _) = fail(store.program("tengen").args(["audit", "tiny"]));
    assert_eq!((code, store.files()), (1, before), "without --repair nothing is moved");
    let said = succeed(store.program("tengen").args(["audit", "tiny", "--repair"]));
    assert_eq!(said.matches("to quarantine: ").count(), 3, "{said}");
    assert!(said.contains("0 problems"), "{said}");
    assert_eq!((files(&store, "games/").len(), files(&store, "quarantine/games/").len()), (0, 3));
    assert_eq!(files(&store, "quarantine/examples/").len(), 3);
    play(&store, "30");
    assert_eq!(self::games(&store), 30);
}

/// As behind `| head -1`.
#[test]
fn audit_without_a_reader_repairs_all_and_has_its_exit_code() {
    let store = TestStore::new();
    play(&store, "30");
    let damaged = files(&store, "games/");
    assert!(damaged.len() > 1, "{damaged:?}");
    damaged.iter().for_each(|file| flip_a_byte(file));
    let audit = |args: &[&str]| {
        let mut command = store.program("tengen");
        let output = command.args(["audit", "tiny"]).args(args).stdout(without_reader()).output().unwrap();
        (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    let (code, said) = audit(&[]);
    assert!(code == Some(1) && said.contains("problems"), "{code:?}: {said}");
    let (code, said) = audit(&["--repair"]);
    assert_eq!(code, Some(0), "{said}");
    assert_eq!((files(&store, "games/").len(), files(&store, "quarantine/games/").len()), (0, damaged.len()));
}

/// It is the newest games that the threshold comes from.
#[test]
fn resign_threshold_is_renewed_although_the_newest_games_are_damaged() {
    let store = TestStore::new();
    let config = repository().join("configs/tiny.toml");
    let settings =
        ["--set", "loop.models=1", "--set", "resign.calibration_fraction=0.5", "--set", "resign.min_games=1"];
    succeed(store.program("tengen").arg("run").arg(&config).args(settings));
    for worker in ["1", "2"] {
        let mut command = store.program("selfplay");
        succeed(command.args(["--run", "tiny", "--model", "tiny-1", "--games", "20", "--worker", worker]));
    }
    let run = store.run("tiny");
    let before = run.resign().newest().unwrap();
    let newest = run.games().files(1).unwrap().pop().unwrap();
    flip_a_byte(&store.path().join(format!("tiny/games/{newest}.parquet")));
    let found = Calibrator::new(&run, &run.config().unwrap().unwrap().resign).update().unwrap();
    assert!(found.is_some() && found != before, "{found:?}");
    assert_eq!(files(&store, "quarantine/games/000001/").len(), 1);
}
