//! The same model, configuration and seed play the same games.

use std::fs;

use tests::{TestStore, repository, succeed};

/// Plays a file of games, or more, with `threads` threads.
fn play(store: &TestStore, model: &str, threads: &str, games: &str) {
    let mut command = store.program("selfplay");
    command.args(["--run", "tiny", "--model", model, "--threads", threads, "--games", games]);
    succeed(command.arg("--config").arg(repository().join("configs/tiny.toml")));
}

/// Plays one file of games and returns its bytes.
fn games(store: &TestStore, model: &str, threads: &str) -> Vec<u8> {
    play(store, model, threads, "10");
    let folder = if model == "random" { "tiny/games/000000/" } else { "tiny/games/000001/" };
    let files: Vec<String> = store.files().into_iter().filter(|file| file.starts_with(folder)).collect();
    assert_eq!(files.len(), 1, "{files:?}");
    fs::read(store.path().join(&files[0])).unwrap()
}

#[test]
fn the_random_model_plays_the_same_games_twice_whatever_the_threads() {
    assert!(games(&TestStore::new(), "random", "1") == games(&TestStore::new(), "random", "3"));
}

#[test]
fn a_network_plays_the_same_games_twice_whatever_the_threads() {
    let first = TestStore::new();
    play(&first, "random", "2", "40");
    succeed(first.program("shuffler").args(["--run", "tiny", "--once"]));
    succeed(first.program("trainer").args(["--run", "tiny", "--once"]));
    let second = TestStore::new();
    let copied = ["run.toml", "models/000001/model.toml", "models/000001/weights.safetensors"];
    for name in copied {
        let (from, to) = (first.path().join("tiny").join(name), second.path().join("tiny").join(name));
        fs::create_dir_all(to.parent().unwrap()).unwrap();
        fs::copy(from, to).unwrap();
    }
    assert!(games(&first, "tiny-1", "1") == games(&second, "tiny-1", "2"));
}
