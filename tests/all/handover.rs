//! A worker hands the games it is playing to a newer model.

use std::ops::ControlFlow;

use cli::Stop;
use config::{ModelId, RunConfig};
use net::Device;
use record::GameRecord;
use selfplay::{Job, Model, Threshold, Unfinished};
use store::{Run, Store};
use tests::TestStore;

const THREADS: usize = 2;

/// Plays with a model until it has `games` published, or wants to stop after the first.
fn play(run: &Run, config: &RunConfig, model: ModelId, unfinished: &mut Unfinished, only_one: bool) -> u64 {
    let opened = Model::open(run, &model, Device::Cpu, config.selfplay.batch).unwrap();
    let job = Job {
        config: config.clone(),
        model,
        worker: "0".to_owned(),
        games: 40,
        threads: THREADS,
        cache: 0,
        times: true,
        threshold: Threshold::new(None),
    };
    let mut watch = |progress: selfplay::Progress| {
        if only_one && progress.finished > 0 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    selfplay::play(run, &job, &opened, unfinished, &Stop::never(), &mut watch).unwrap().finished
}

fn published(run: &Run) -> Vec<GameRecord> {
    let files = run.game_files(0).unwrap();
    files.iter().flat_map(|file| run.read_games(file).unwrap()).collect()
}

fn run_of(store: &TestStore, follow: bool) -> (Run, RunConfig) {
    let text = include_str!("../../configs/tiny.toml");
    let overrides = ["game.komi=0.5".to_owned(), format!("selfplay.follow_within_games={follow}")];
    let config = RunConfig::from_toml_with(text, &overrides).unwrap();
    let run = Store::open(&store.place()).unwrap().run(&"run".parse().unwrap());
    run.create(&config).unwrap();
    (run, config)
}

#[test]
fn games_in_progress_are_handed_over_and_published_where_they_began() {
    let store = TestStore::new();
    let (run, config) = run_of(&store, true);
    let mut unfinished = Unfinished::default();
    let before = play(&run, &config, ModelId::Random, &mut unfinished, true);
    assert_eq!(published(&run).len() as u64, before);
    assert!(published(&run).iter().all(|game| game.takeovers.is_empty()));
    let after = play(&run, &config, ModelId::Uniform, &mut unfinished, false);
    let games = published(&run);
    assert_eq!(games.len() as u64, before + after);
    let begun_by = |model: &str| games.iter().filter(|game| game.black == model).count() as u64;
    assert_eq!(begun_by("uniform"), 40);
    let (handed, alone): (Vec<&GameRecord>, Vec<_>) = games.iter().partition(|game| !game.takeovers.is_empty());
    assert_eq!((handed.len() as u64, begun_by("random")), (after - 40, before + after - 40));
    assert!(!handed.is_empty() && handed.iter().all(|game| game.black == "random" && game.worker == "0"));
    assert!(handed.iter().all(|game| game.takeovers.len() == 1 && game.takeovers[0].model == "uniform"));
    assert!(alone.iter().all(|game| game.turns.len() > 1));
    let findings = tengen::audit::audit(&run, &config, &Stop::never()).unwrap();
    assert_eq!(findings.problems, []);
}

#[test]
fn otherwise_they_are_finished_first() {
    let store = TestStore::new();
    let (run, config) = run_of(&store, false);
    let mut unfinished = Unfinished::default();
    let before = play(&run, &config, ModelId::Random, &mut unfinished, true);
    let after = play(&run, &config, ModelId::Uniform, &mut unfinished, false);
    assert_eq!((published(&run).len() as u64, after), (before + after, 40));
    assert!(published(&run).iter().all(|game| game.takeovers.is_empty()));
}
