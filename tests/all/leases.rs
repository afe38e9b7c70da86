//! One process at a time works under a name, and a worker that follows a run does not play without bound.

use std::fs;
use std::path::Path;

use config::Preset;
use net::{Shape, Weights};
use tests::{Stage, TestStore, fail, repository, succeed};

fn worker(store: &TestStore, args: &[&str]) -> Stage {
    let mut command = store.program("selfplay");
    command.args(["--run", "tiny", "--model", "random"]).args(args);
    Stage::start(command.arg("--config").arg(repository().join("configs/tiny.toml")))
}

fn playing(stage: &mut Stage) {
    stage.wait_for("playing", |stage| stage.log().iter().any(|line| line.contains("playing")).then_some(()));
}

#[test]
fn second_worker_of_a_name_is_refused_with_a_remedy() {
    for store in [TestStore::new(), TestStore::on_server()] {
        let mut first = worker(&store, &[]);
        playing(&mut first);
        let args = ["--run", "tiny", "--model", "random", "--games", "1"];
        let (code, said) = fail(store.program("selfplay").args(args));
        assert_eq!(code, 2, "{said}");
        assert!(
            said.contains("selfplay \"0\" of run tiny is running already") && said.contains("--worker NAME"),
            "{said}"
        );
        succeed(store.program("selfplay").args(args).args(["--worker", "1"]));
        let config = repository().join("configs/tiny.toml");
        let (code, said) = fail(store.program("tengen").arg("run").arg(config));
        assert_eq!(code, 2, "tengen run is worker 0, too: {said}");
        assert!(said.contains("begin another run with --run NAME") && !said.contains("--worker"), "{said}");
        first.signal("KILL");
        first.wait();
        let output = store.program("selfplay").args(args).output().expect("the program starts");
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success() && said.contains("is dead; taking over"), "{said}");
        assert!(!said.contains("waiting whether it is alive"), "a killed worker is followed at once: {said}");
        let run = store.run("tiny");
        let games =
            run.games().files(0).unwrap().iter().map(|file| run.games().summaries(file).unwrap()).collect::<Vec<_>>();
        let mut ids: Vec<String> = games.iter().flatten().map(|game| game.id.to_string()).collect();
        let all = ids.len();
        ids.sort();
        ids.dedup();
        assert_eq!(ids.len(), all, "no game is published twice");
    }
}

#[test]
fn second_trainer_of_a_run_is_refused() {
    let store = TestStore::new();
    store.selfplay("tiny", "random", 10);
    let trainer = || {
        let mut command = store.program("trainer");
        command.args(["--run", "tiny"]);
        command
    };
    let mut first = Stage::start(&mut trainer());
    first.wait_for("trainer", |stage| {
        stage.log().iter().any(|line| line.contains("the shards of generation 1")).then_some(())
    });
    let (code, said) = fail(&mut trainer());
    assert_eq!(code, 2, "{said}");
    let is_refused =
        |said: &str| ["trainer", "is running already", "one trainer"].iter().all(|words| said.contains(words));
    assert!(is_refused(&said), "{said}");
    // Nor does the run begin with another model meanwhile.
    let config = Preset::Tiny.config();
    let (shape, file) = (Shape::new(&config.game, &config.network), store.path().join("net.safetensors"));
    fs::write(&file, Weights::synthetic(shape, 1).to_bytes()).unwrap();
    let (code, said) = fail(trainer().arg("import").arg(&file));
    assert_eq!(code, 2, "{said}");
    assert!(is_refused(&said), "{said}");
    assert_eq!(store.run("tiny").models().newest().unwrap(), None);
}

fn change(path: &Path, from: &str, to: &str) {
    let text = fs::read_to_string(path).unwrap();
    assert!(text.contains(from), "{text}");
    fs::write(path, text.replacen(from, to, 1)).unwrap();
}

#[test]
fn run_toml_that_was_edited_is_refused_by_every_stage_with_the_key() {
    let store = TestStore::new();
    store.selfplay("tiny", "random", 10);
    let path = store.path().join("tiny/run.toml");
    change(&path, "\nvisits = 16", "\nvisits = 50");
    let stages: [(&str, &[&str]); 5] = [
        ("selfplay", &["--run", "tiny", "--model", "random", "--games", "20"]),
        ("shuffler", &["--run", "tiny", "--once"]),
        ("trainer", &["--run", "tiny"]),
        ("evaluator", &["ratings", "--run", "tiny"]),
        ("tengen", &["audit", "tiny"]),
    ];
    for (program, args) in stages {
        let (code, said) = fail(store.program(program).args(args));
        assert_eq!(code, 2, "{program}: {said}");
        let words = ["tiny/run.toml was changed after the run began", "search.visits is 50 and was 16"];
        assert!(words.iter().all(|words| said.contains(words)), "{program}: {said}");
    }
    // A whole other file, without the line that has the digest.
    let text: String = fs::read_to_string(&path)
        .unwrap()
        .lines()
        .filter(|line| !line.starts_with('#'))
        .map(|line| format!("{line}\n"))
        .collect();
    fs::write(&path, text).unwrap();
    let (_, said) = fail(store.program("selfplay").args(stages[0].1));
    assert!(said.contains("search.visits is 50 and was 16"), "{said}");
    change(&path, "\nvisits = 50", "\nvisits = 16");
    succeed(store.program("selfplay").args(stages[0].1));
}

#[test]
fn configuration_of_another_run_is_refused_with_the_key() {
    let store = TestStore::new();
    store.selfplay("tiny", "random", 10);
    let mut command = store.program("selfplay");
    command.args(["--run", "tiny", "--model", "random", "--games", "20", "--set", "search.visits=50", "--config"]);
    let (code, said) = fail(command.arg(repository().join("configs/tiny.toml")));
    assert_eq!(code, 2);
    assert!(said.contains("search.visits is 16 there and 50 here"), "{said}");
}

fn published(store: &TestStore) -> usize {
    let run = store.run("tiny");
    run.games().files(0).unwrap().iter().map(|file| run.games().summaries(file).unwrap().len()).sum()
}

#[test]
fn worker_that_follows_a_run_stops_at_the_window_of_the_next_model() {
    let store = TestStore::new();
    let config = repository().join("configs/tiny.toml");
    let start = |args: &[&str]| {
        let mut command = store.program("selfplay");
        command.args(["--model", "tiny"]).args(args).arg("--config").arg(&config);
        Stage::start(&mut command)
    };
    let waits = |stage: &mut Stage| {
        stage.wait_for("enough", |stage| stage.log().iter().any(|line| line.contains("enough games")).then_some(()));
    };
    let mut stage = start(&["--max-games-per-model", "60"]);
    waits(&mut stage);
    let few = published(&store);
    // 16 games are in progress on each of two threads when there are enough.
    assert!((60..=60 + 40).contains(&few), "{few}");
    stage.terminate();
    let mut stage = start(&[]);
    waits(&mut stage);
    let all = published(&store);
    assert!((200..=200 + 40).contains(&all), "the window has 200 games: {all}");
    stage.terminate();
    let mut stage = start(&["--max-games-per-model", "0"]);
    stage.wait_for("more games", |_| (published(&store) > all + 60).then_some(()));
    stage.terminate();
}
