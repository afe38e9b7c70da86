//! Every configuration that comes with Tengen is one, and begins.

use std::fs;
use std::path::{Path, PathBuf};

use config::{QInit, RunConfig};
use tests::{TestStore, fail, repository, succeed};

fn configurations(folder: &str) -> Vec<PathBuf> {
    let files = fs::read_dir(repository().join(folder)).expect("the folder is there");
    let mut files: Vec<PathBuf> = files.map(|file| file.expect("it can be listed").path()).collect();
    files.retain(|file| file.extension().is_some_and(|extension| extension == "toml"));
    files.sort();
    files
}

fn read(file: &Path) -> RunConfig {
    RunConfig::load(file, &[] as &[&str], |file| fs::read_to_string(file)).unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn all_are_complete_and_cut_no_games() {
    let files = [configurations("configs"), configurations("configs/minigo")].concat();
    assert_eq!(files.len(), 10 + 9, "{files:?}");
    for file in files {
        let config = read(&file);
        assert!(config.game.move_limit >= 2 * config.game.board().area(), "{} cuts games", file.display());
    }
}

#[test]
fn board_that_is_too_large_for_the_move_limit_is_warned_of() {
    let tiny = repository().join("configs/tiny.toml");
    for (size, is_warned_of) in [("5", false), ("6", true)] {
        let store = TestStore::new();
        let mut selfplay = store.program("selfplay");
        selfplay.args(["--run", "it", "--model", "random", "--games", "1", "--config"]).arg(&tiny);
        let output = selfplay.args(["--set", &format!("game.size={size}")]).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{said}");
        assert_eq!(said.contains("game.move_limit is below twice the points"), is_warned_of, "{size}: {said}");
    }
}

/// What Minigo's people say of their runs.
#[test]
fn minigos_runs_differ_where_they_did() {
    let run = |name: &str| read(&repository().join(format!("configs/minigo/{name}.toml")));
    let leaves = ["v7", "v9", "v10", "v11", "v12", "v13", "v14", "v15"].map(|name| run(name).search.leaves);
    assert_eq!(leaves, [8, 8, 8, 8, 2, 8, 8, 8], "virtual losses");
    let q_init = |name: &str| run(name).search.q_init;
    assert_eq!((q_init("v10"), q_init("v11"), q_init("v15")), (QInit::PARENT, QInit::Zero, QInit::LOSS));
    assert_eq!((run("v12").train.momentum, run("v14").train.momentum), (0.9, 0.95));
    assert_eq!(
        run("v15").train.learning_rate.iter().map(|point| point.from_step).collect::<Vec<_>>(),
        [0, 300_000, 600_000]
    );
    for name in ["v7", "v15"] {
        let config = run(name);
        assert_eq!((config.network.blocks, config.network.filters, config.search.visits), (19, 256, 800));
        assert_eq!((config.train.batch * config.train.steps, config.window.games), (1 << 21, 500_000));
    }
}

#[test]
fn minigos_runs_begin() {
    for file in configurations("configs/minigo") {
        let store = TestStore::new();
        let mut selfplay = store.program("selfplay");
        // 800 visits a move would show no more, and take half a minute of each run.
        selfplay.args(["--run", "it", "--model", "random", "--games", "1", "--set", "search.visits=16"]);
        succeed(selfplay.arg("--config").arg(&file));
        assert!(store.path().join("it/games").exists(), "{}", file.display());
    }
}

#[test]
fn config_show_prints_a_complete_configuration() {
    let store = TestStore::new();
    let mut show = store.program("tengen");
    show.args(["config", "show"]).arg(repository().join("configs/minigo/v15.toml")).args(["--set", "search.visits=50"]);
    let shown = RunConfig::from_toml(&succeed(&mut show)).unwrap();
    let expected = read(&repository().join("configs/minigo/v15.toml"));
    assert_eq!(shown.search.visits, 50);
    assert_eq!(RunConfig { search: expected.search.clone(), ..shown }, expected);
}

#[test]
fn config_diff_prints_keys_with_both_values() {
    let store = TestStore::new();
    let file = store.path().join("mine.toml");
    let tiny = repository().join("configs/tiny.toml");
    fs::write(&file, format!("extends = '{}'\n[search]\nvisits = 7\nq_init = 'zero'\n", tiny.display())).unwrap();
    let diff =
        |left: &Path, right: &Path| succeed(store.program("tengen").args(["config", "diff"]).args([left, right]));
    assert_eq!(diff(&tiny, &file), "search.visits\t16\t7\nsearch.q_init\t\"parent\"\t\"zero\"\n");
    assert_eq!(diff(&file, &file), "");
}

/// A run that `tengen run` creates stores every key, whatever its file extends.
#[test]
fn run_stores_the_resolved_configuration() {
    let store = TestStore::new();
    let mut selfplay = store.program("selfplay");
    let tiny = repository().join("configs/tiny.toml");
    selfplay.args(["--run", "it", "--model", "random", "--games", "1", "--set", "seed=5", "--config"]).arg(&tiny);
    succeed(&mut selfplay);
    let stored = fs::read_to_string(store.path().join("it/run.toml")).unwrap();
    assert!(stored.lines().any(|line| line == "schema = 2") && !stored.contains("extends"), "{stored}");
    assert_eq!(RunConfig::from_toml(&stored).unwrap(), RunConfig { seed: 5, ..read(&tiny) });
    // Another release wrote it.
    fs::write(store.path().join("it/run.toml"), stored.replace("schema = 2", "schema = 3")).unwrap();
    let (code, said) = fail(store.program("selfplay").args(["--run", "it", "--model", "random", "--games", "2"]));
    assert_eq!(code, 2, "{said}");
    assert!(said.contains("run.toml") && said.contains("schema is 3, and this program reads schema 2"), "{said}");
}
