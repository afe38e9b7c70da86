//! The same model, configuration and seed play the same games.

use std::fs;
use std::process::Command;

use record::GameRecord;
use store::{Run, Stem};
use tests::{TestStore, games_of, repository, succeed};

/// Self-play of a file of games, or more, on CPUs, with `place`: what must not change them.
fn selfplay(store: &TestStore, model: &str, place: &[&str], games: &str) -> Command {
    let mut command = store.program("selfplay");
    command.args(["--run", "tiny", "--model", model, "--games", games, "--times", "false", "--device", "cpu"]);
    command.args(place).arg("--config").arg(repository().join("configs/tiny.toml"));
    command
}

/// Plays one file of games and returns its bytes.
fn games(store: &TestStore, model: &str, place: &[&str]) -> Vec<u8> {
    succeed(&mut selfplay(store, model, place, "10"));
    only_file(store, model)
}

/// The bytes of the only file of a model's games.
fn only_file(store: &TestStore, model: &str) -> Vec<u8> {
    let folder = if model == "random" { "tiny/games/000000/" } else { "tiny/games/000001/" };
    let files: Vec<String> = store.files().into_iter().filter(|file| file.starts_with(folder)).collect();
    assert_eq!(files.len(), 1, "{files:?}");
    fs::read(store.path().join(&files[0])).unwrap()
}

#[test]
fn random_model_plays_the_same_games_twice_whatever_the_threads() {
    let [one, three] = ["1", "3"].map(|threads| games(&TestStore::new(), "random", &["--threads", threads]));
    assert!(one == three);
}

#[test]
fn games_say_when_they_were_played_but_in_a_run_on_one_machine() {
    let timed = |run: &Run| {
        let matches: Vec<Stem> = run.matches().files().unwrap();
        let matches = matches.iter().flat_map(|stem| run.matches().read(stem).unwrap());
        let games: Vec<GameRecord> = games_of(run, 0).into_iter().chain(matches).collect();
        assert!(games.iter().all(|game| game.started_at.is_some() == game.ended_at.is_some()));
        let timed = games.iter().filter(|game| game.started_at.is_some()).count();
        (timed, games.len())
    };
    let config = repository().join("configs/tiny.toml");
    let stages = TestStore::new();
    stages.selfplay("tiny", "random", 10);
    succeed(stages.program("evaluator").args(["--run", "tiny", "--pair", "uniform", "random", "--games", "2"]));
    assert_eq!(timed(&stages.run("tiny")), (12, 12));
    let run_loop = TestStore::new();
    succeed(run_loop.program("tengen").arg("run").arg(config).args(["--set", "loop.models=1"]));
    let (timed, games) = timed(&run_loop.run("tiny"));
    assert!(timed == 0 && games > 40, "{timed} of {games}");
}

#[test]
fn selfplay_is_independent_of_threads_cache_and_instruction_set() {
    let first = TestStore::new();
    first.advance("tiny");
    let [second, portable, avx2] = [(); 3].map(|()| TestStore::with_model_of(&first));
    let remembering = games(&first, "tiny-1", &["--threads", "1", "--cache-mib", "8"]);
    assert!(remembering == games(&second, "tiny-1", &["--threads", "2", "--cache-mib", "0"]));
    // The portable path, and a smaller instruction set than most processors have; one without AVX2 is portable again.
    for (store, bound) in [(portable, "SSE41"), (avx2, "AVX2")] {
        let mut command = selfplay(&store, "tiny-1", &[], "10");
        succeed(command.env("ONEDNN_MAX_CPU_ISA", bound));
        assert!(remembering == only_file(&store, "tiny-1"), "{bound}");
    }
}
