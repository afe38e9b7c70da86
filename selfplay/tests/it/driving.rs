//! The driver: one job after the other.

use std::fs;

use clap::Parser as _;
use config::{ModelRef, RunConfig};
use evalcache::{Steps, Symmetries};
use models::{EvaluationCacheOptions, Place, Priority};
use net::Device;
use runtime::{Driver as _, EvalcacheStoreArgs, InferenceArgs, ResourceArgs, Silent, Step, Stop, drive};
use selfplay::{Driver, Event, Games, OnShutdown, Options, SelfplayError};
use store::Run;
use tempfile::TempDir;

use crate::handoff::{in_progress, trained};
use crate::{a_run, config, games_of, indices};

/// Six games of `random`, four of every later model, and two models.
fn short() -> RunConfig {
    config(&["selfplay.first_games=6", "selfplay.games=4", "loop.models=2"])
}

fn options(model: &str, games: Games) -> Options {
    let model: ModelRef = model.parse().unwrap();
    let worker = "w".to_owned();
    Options {
        model,
        worker,
        games,
        on_shutdown: OnShutdown::Discard,
        place: Device::Cpu.into(),
        threads: 2,
        cache: 0,
        evaluations: None,
        times: false,
        live: None,
    }
}

fn published(run: &Run, model: u32) -> usize {
    run.games().indices(model, "w").unwrap().len()
}

fn waits(step: Step) -> bool {
    matches!(step, Step::Waiting(waiting) if waiting.what.starts_with("a newer model"))
}

#[test]
fn driver_plays_the_wanted_games_of_each_model_and_waits_in_between() {
    let (_folder, run) = a_run();
    let mut jobs = Vec::new();
    let reporter = |event| {
        if let Event::Playing { model, games } = event {
            jobs.push((model.to_string(), games));
        }
    };
    let mut driver = Driver::new(&run, &short(), options("tiny", Games::Wanted), &Stop::never(), reporter);
    assert_eq!(driver.step().unwrap(), Step::Worked);
    assert_eq!(published(&run, 0), 6);
    assert!(waits(driver.step().unwrap()));
    trained(&run, 1);
    assert_eq!(driver.step().unwrap(), Step::Worked);
    assert_eq!(published(&run, 1), 4);
    assert!(waits(driver.step().unwrap()));
    trained(&run, 2);
    assert_eq!(driver.step().unwrap(), Step::Finished);
    drop(driver);
    assert_eq!(jobs, [("random".to_owned(), Some(6)), ("tiny-1".to_owned(), Some(4))]);
}

#[test]
fn driver_replays_games_that_are_missing_when_no_shards_come_of_them() {
    let (_folder, run) = a_run();
    let mut driver = Driver::new(&run, &short(), options("tiny", Games::Wanted), &Stop::never(), Silent);
    assert_eq!(driver.step().unwrap(), Step::Worked);
    assert!(waits(driver.step().unwrap()));
    let file = run.games().files(0).unwrap().remove(0);
    run.games().quarantine(&file).unwrap();
    assert!(published(&run, 0) < 6);
    assert_eq!(driver.step().unwrap(), Step::Worked);
    assert_eq!(published(&run, 0), 6);
}

#[test]
fn workers_that_follow_a_run_play_their_share_of_calibration_games() {
    // Each worker plays about 50 games, in a run of its own: a slow one would see those of the others and play fewer.
    let config = config(&["selfplay.first_games=40", "selfplay.games=400", "resign.calibration_fraction=0.2"]);
    let mut games = Vec::new();
    for worker in ["a", "b", "c"] {
        let (_folder, run) = a_run();
        let options =
            Options { worker: worker.to_owned(), ..options("tiny", Games::Share { own: None, all: Some(40) }) };
        let mut driver = Driver::new(&run, &config, options, &Stop::never(), Silent);
        assert_eq!(driver.step().unwrap(), Step::Worked);
        games.extend(crate::published(&run));
    }
    let share = games.iter().filter(|game| game.calibration).count() as f64 / games.len() as f64;
    // Each of six threads has two more or less at most.
    assert!(games.len() >= 120 && (share - 0.2).abs() < 0.1, "{share} of {}", games.len());
}

#[test]
fn driver_of_one_model_finishes_with_its_games() {
    let (_folder, run) = a_run();
    let games = Games::Share { own: Some(5), all: None };
    let mut driver = Driver::new(&run, &short(), options("random", games), &Stop::never(), Silent);
    assert_eq!(driver.step().unwrap(), Step::Finished);
    assert_eq!(published(&run, 0), 5);
}

#[test]
fn games_that_a_stop_discards_are_reported_once() {
    let (_folder, run) = a_run();
    let (stop, mut discarded) = (Stop::never(), Vec::new());
    let reporter = |event| match event {
        Event::Progress(progress) if progress.finished >= 8 => stop.request(),
        Event::Played(done) => discarded.push(done.discarded),
        Event::GamesStopped { discarded: more, .. } => discarded.push(more),
        _ => {}
    };
    let endless = options("tiny", Games::Share { own: None, all: Some(0) });
    let mut driver = Driver::new(&run, &short(), endless, &stop, reporter);
    drive(&mut driver, &stop).unwrap();
    drop(driver);
    assert!(matches!(discarded[..], [games] if games > 0), "{discarded:?}");
}

/// Where networks run.
#[derive(clap::Parser)]
struct PlaceArgs {
    #[command(flatten)]
    resources: ResourceArgs,
    #[command(flatten)]
    inference: InferenceArgs,
}

/// The error of a worker's first step, after which all games in progress are there for another one.
fn error_after_hand_off(run: &Run, options: Options) -> SelfplayError {
    let mut stopped = Vec::new();
    let reporter = |event| {
        if let Event::GamesStopped { handed_off, discarded } = event {
            stopped.push((handed_off, discarded));
        }
    };
    let options = Options { on_shutdown: OnShutdown::Handoff, ..options };
    let mut driver = Driver::new(run, &short(), options, &Stop::never(), reporter);
    let error = driver.step().unwrap_err();
    drop(driver);
    let files = run.unfinished().files().unwrap();
    let there: usize = files.iter().map(|(file, _)| run.unfinished().read(file).unwrap().len()).sum();
    assert!(there > 0, "games are in progress");
    assert_eq!(stopped, [(there as u64, 0)]);
    error
}

#[test]
fn games_in_progress_are_handed_off_when_the_evaluator_fails() {
    let (folder, run) = a_run();
    trained(&run, 1);
    // Weights are read when the first position is evaluated here, since there is no server.
    fs::write(folder.path().join("tiny/models/000001/weights.safetensors"), "x").unwrap();
    let args = PlaceArgs::parse_from(["selfplay", "--device", "cpu", "--inference", "http://127.0.0.1:9;local"]);
    let place = Place::open(&args.resources, &args.inference, "w", Priority::Selfplay, &Stop::never()).unwrap();
    let games = Games::Share { own: Some(1000), all: None };
    let error = error_after_hand_off(&run, Options { place, ..options("tiny-1", games) });
    assert!(matches!(error, SelfplayError::Evaluate { .. }), "{error:?}");
}

#[test]
fn games_in_progress_are_handed_off_when_finished_ones_cannot_be_published() {
    let (folder, run) = a_run();
    // A file where the folder of examples is to be.
    fs::create_dir(folder.path().join("tiny")).unwrap();
    fs::write(folder.path().join("tiny/examples"), "").unwrap();
    let error = error_after_hand_off(&run, options("tiny", Games::Share { own: None, all: Some(0) }));
    assert!(matches!(error, SelfplayError::Store(_)), "{error:?}");
}

/// All of them are finished, so that none is in progress any more.
#[test]
fn resumed_games_that_cannot_be_published_are_left_for_other_workers() {
    let (folder, run) = a_run();
    let games = in_progress(&run, "v")[..3].to_vec();
    let file = run.unfinished().hand_off(0, "v", &games).unwrap();
    // A file where the folder of readable games was.
    let readable = folder.path().join("tiny/sgf");
    fs::remove_dir_all(&readable).unwrap();
    fs::write(&readable, "").unwrap();
    let none = options("tiny", Games::Share { own: Some(0), all: Some(0) });
    let options = Options { on_shutdown: OnShutdown::Handoff, ..none };
    let error = Driver::new(&run, &config(&[]), options, &Stop::never(), Silent).step().unwrap_err();
    assert!(matches!(error, SelfplayError::Store(_)), "{error:?}");
    assert_eq!(indices(&run.unfinished().read(&file).unwrap()), indices(&games));
    assert_eq!(run.unfinished().files().unwrap(), [(file, None)], "it is not taken");
}

#[test]
fn evaluations_that_outlive_the_process_change_no_game() {
    let folder = TempDir::new().unwrap();
    let place = folder.path().to_str().unwrap().to_owned();
    let args = EvalcacheStoreArgs { evalcache: Some(place), evalcache_copies: None };
    let kept = EvaluationCacheOptions::exact(&args).unwrap().expect("there is a store");
    assert_eq!((kept.steps, kept.symmetries), (Steps::Exact, Symmetries::Requested));
    let games = |evaluations| {
        let (_folder, run) = a_run();
        trained(&run, 1);
        let options = Options { evaluations, ..options("tiny-1", Games::Share { own: Some(4), all: None }) };
        let mut evaluated = 0;
        let reporter = |event| {
            if let Event::Played(done) = event {
                evaluated = done.evaluator.evaluations;
            }
        };
        let mut driver = Driver::new(&run, &short(), options, &Stop::never(), reporter);
        assert_eq!(driver.step().unwrap(), Step::Finished);
        drop(driver);
        (games_of(&run, 1), evaluated)
    };
    let ((plain, _), (first, computed)) = (games(None), games(Some(kept.clone())));
    assert!(plain.len() == 4 && plain == first && computed > 100, "{computed}");
    assert_eq!(games(Some(kept)), (plain, 0), "a worker that plays the same games again evaluates nothing");
}
