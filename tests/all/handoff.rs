//! A worker hands the games it is playing to a newer model.

use std::ops::ControlFlow;

use config::{ModelId, Preset, RunConfig};
use models::Model;
use net::Device;
use record::GameRecord;
use runtime::Stop;
use selfplay::{Extent, Follow, InProgressGames, Job, OnShutdown, Threshold};
use store::{Run, Store};
use tests::{TestStore, games_of};

const THREADS: usize = 2;

/// Plays with a model until it has `games` published, or wants to stop after the first.
fn play(run: &Run, config: &RunConfig, model: ModelId, in_progress: &mut InProgressGames, only_one: bool) -> u64 {
    let opened = Model::open(run, &model, &Device::Cpu.into(), config.selfplay.batch).unwrap();
    let job = Job {
        config: config.into(),
        model,
        worker: "0".to_owned(),
        extent: Extent::AtMost(40),
        threads: THREADS,
        cache: 0,
        evaluations: None,
        times: true,
        live: None,
        on_shutdown: OnShutdown::Discard,
        follow: Follow::Newest,
        threshold: Threshold::new(None),
    };
    let mut watch = |progress: selfplay::JobProgress| {
        if only_one && progress.finished > 0 { Ok(ControlFlow::Break(())) } else { Ok(ControlFlow::Continue(())) }
    };
    selfplay::play(run, &job, &opened, in_progress, &Stop::never(), &mut watch).unwrap().finished
}

fn run_of(store: &TestStore, follow: bool) -> (Run, RunConfig) {
    let overrides = ["game.komi=0.5".to_owned(), format!("selfplay.follow_within_games={follow}")];
    let config = Preset::Tiny.with(&overrides).unwrap();
    let run = Store::open(&store.place()).unwrap().run(&"run".parse().unwrap());
    run.create(&config).unwrap();
    (run, config)
}

#[test]
fn games_in_progress_are_handed_over_and_published_where_they_began() {
    let store = TestStore::new();
    let (run, config) = run_of(&store, true);
    let mut in_progress = InProgressGames::default();
    let before = play(&run, &config, ModelId::Random, &mut in_progress, true);
    assert_eq!(games_of(&run, 0).len() as u64, before);
    assert!(games_of(&run, 0).iter().all(|game| game.handoffs.is_empty()));
    let after = play(&run, &config, ModelId::Uniform, &mut in_progress, false);
    let games = games_of(&run, 0);
    assert_eq!(games.len() as u64, before + after);
    let begun_by = |model: &str| games.iter().filter(|game| game.black == model).count() as u64;
    assert_eq!(begun_by("uniform"), 40);
    let (handed, alone): (Vec<&GameRecord>, Vec<_>) = games.iter().partition(|game| !game.handoffs.is_empty());
    assert_eq!((handed.len() as u64, begun_by("random")), (after - 40, before + after - 40));
    assert!(!handed.is_empty() && handed.iter().all(|game| game.black == "random" && game.worker == "0"));
    assert!(handed.iter().all(|game| game.handoffs.len() == 1 && game.handoffs[0].model == "uniform"));
    assert!(alone.iter().all(|game| game.turns.len() > 1));
    let findings = tengen::audit::audit(&run, &config, &Stop::never()).unwrap();
    assert_eq!(findings.problems, [] as [String; 0]);
}

#[test]
fn otherwise_they_are_finished_first() {
    let store = TestStore::new();
    let (run, config) = run_of(&store, false);
    let mut in_progress = InProgressGames::default();
    let before = play(&run, &config, ModelId::Random, &mut in_progress, true);
    let after = play(&run, &config, ModelId::Uniform, &mut in_progress, false);
    assert_eq!((games_of(&run, 0).len() as u64, after), (before + after, 40));
    assert!(games_of(&run, 0).iter().all(|game| game.handoffs.is_empty()));
}

/// A worker of a run that leaves its games to others when it is to stop, and what it is told when it asks whether to.
struct Worker<'a> {
    run: &'a Run,
    config: &'a RunConfig,
    name: &'static str,
    threads: usize,
}

impl Worker<'_> {
    /// Plays with a model until `games` are published, or is stopped after so many rounds of reports.
    fn play(&self, model: ModelId, games: u64, stop_after: Option<u64>) -> selfplay::JobProgress {
        let opened = Model::open(self.run, &model, &Device::Cpu.into(), self.config.selfplay.batch).unwrap();
        let job = Job {
            config: self.config.into(),
            model,
            worker: self.name.to_owned(),
            extent: Extent::AtMost(games),
            threads: self.threads,
            cache: 0,
            evaluations: None,
            times: false,
            live: None,
            on_shutdown: OnShutdown::Handoff,
            follow: Follow::Newest,
            threshold: Threshold::new(None),
        };
        let stop = Stop::never();
        let mut watch = |progress: selfplay::JobProgress| {
            if stop_after.is_some_and(|finished| progress.finished >= finished) {
                stop.request();
            }
            Ok(ControlFlow::Continue(()))
        };
        selfplay::play(self.run, &job, &opened, &mut InProgressGames::default(), &stop, &mut watch).unwrap()
    }
}

fn unfinished(run: &Run) -> usize {
    let files = run.unfinished().files().unwrap();
    files.iter().map(|(file, _)| run.unfinished().read(file).unwrap().len()).sum()
}

#[test]
fn handed_off_games_finish_once() {
    let store = TestStore::new();
    let (run, config) = run_of(&store, false);
    let worker = |name, threads| Worker { run: &run, config: &config, name, threads };
    let left = worker("a", 3).play(ModelId::Random, 60, Some(1));
    assert!(left.handed_off > 0 && left.discarded == 0 && left.finished < 60, "{left:?}");
    assert_eq!(unfinished(&run) as u64, left.handed_off);

    // Fewer threads than the workers that handed them off, and stopped before all of them are finished.
    let others = worker("b", 1).play(ModelId::Uniform, 5, Some(1));
    assert!(others.handed_off > 0, "{others:?}");
    let findings = tengen::audit::audit(&run, &config, &Stop::never()).unwrap();
    assert_eq!((findings.problems, findings.left), (vec![], unfinished(&run)));

    // Its own come first, and those that are elsewhere are not begun again.
    worker("a", 2).play(ModelId::Random, 60, None);
    worker("b", 2).play(ModelId::Uniform, 5, None);
    worker("c", 1).play(ModelId::Random, 0, None);
    worker("c", 1).play(ModelId::Random, 0, None);
    assert_eq!(run.unfinished().files().unwrap(), [], "all are finished");
    let games = games_of(&run, 0);
    let of = |worker: &str, model: &str| {
        let mut of: Vec<u64> =
            games.iter().filter(|game| game.worker == worker && game.black == model).map(|game| game.index).collect();
        of.sort_unstable();
        of
    };
    assert_eq!(of("a", "random"), (0..60).collect::<Vec<u64>>());
    assert_eq!(of("b-uniform", "uniform"), (0..5).collect::<Vec<u64>>());
    assert_eq!(games.len(), 65);
    let handed: Vec<&GameRecord> = games.iter().filter(|game| !game.handoffs.is_empty()).collect();
    assert!(handed.len() as u64 >= left.handed_off, "{} of {}", handed.len(), left.handed_off);
    assert!(handed.iter().any(|game| game.black == "random" && game.handoffs[0].model == "uniform"));
    assert_eq!(tengen::audit::audit(&run, &config, &Stop::never()).unwrap().problems, [] as [String; 0]);
}

/// A damaged file of unfinished games is moved to quarantine, and blocks no worker, its own included.
#[test]
fn damaged_unfinished_games_do_not_block_others() {
    let store = TestStore::new();
    let (run, config) = run_of(&store, false);
    let worker = |name| Worker { run: &run, config: &config, name, threads: 1 };
    worker("a").play(ModelId::Random, 40, Some(1));
    let (file, _) = run.unfinished().files().unwrap().remove(0);
    let path = run.unfinished().name(&file);
    let whole = std::fs::read(&path).unwrap();
    std::fs::write(&path, &whole[..whole.len() / 2]).unwrap();
    assert_eq!(worker("b").play(ModelId::Random, 3, None).games, 3);
    let findings = tengen::audit::audit(&run, &config, &Stop::never()).unwrap();
    assert_eq!((findings.problems, findings.quarantined), (vec![], 1));
    let moved = run.quarantine().files().unwrap().remove(0);
    assert!(moved.ends_with(&format!("run/quarantine/unfinished/{file}.parquet")), "{moved}");
    assert_eq!(std::fs::read(moved).unwrap(), &whole[..whole.len() / 2]);
    assert_eq!(worker("a").play(ModelId::Random, 3, None).games, 3);
}
