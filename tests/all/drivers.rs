//! The stages have one implementation each: as processes, under `tengen run`, and as drivers of one process.

use std::collections::BTreeMap;
use std::fs;
use std::process::Command;
use std::time::Duration;

use config::{ModelRef, Preset};
use net::{Device, Precision, TrainDevice};
use record::GameRecord;
use runtime::{Driver, Silent, Step, Stop};
use selfplay::{Games, OnShutdown, Options};
use store::{ResignThreshold, Run};
use tests::{TestStore, repository, succeed, whole_games};
use trainer::References;

const MODELS: u32 = 3;

/// 5x5 with three models, and a resign threshold that is in force for the games of the last but one.
const SETTINGS: [&str; 12] = [
    "loop.models=3",
    "loop.final_games=2",
    "loop.final_pairs=2",
    "loop.final_margin=0",
    "evaluate.pairing=informed",
    "evaluate.pairs_per_model=2",
    "evaluate.games_per_pair=2",
    "selfplay.first_games=30",
    "selfplay.games=20",
    "resign.calibration_fraction=0.5",
    "resign.min_games=2",
    "window.games=60",
];

fn settings() -> impl Iterator<Item = &'static str> {
    SETTINGS.into_iter().flat_map(|setting| ["--set", setting])
}

/// A program with one thread. With several, the order in which their games finish decides which games share a file, and
/// so which of the oldest games the window leaves out.
fn program(store: &TestStore, name: &str) -> Command {
    let mut program = store.program(name);
    program.env("TENGEN_THREADS", "1");
    program
}

fn model(number: u32) -> String {
    if number == 0 { "random".to_owned() } else { format!("tiny-{number}") }
}

/// A run made by the four programs, one at a time, with a bound for each: `--games` of one model, `--once`. Side by
/// side, which threshold a game sees would depend on how fast each process is.
fn by_stages() -> TestStore {
    let store = TestStore::new();
    let config = repository().join("configs/tiny.toml");
    for number in 0..MODELS {
        let mut selfplay = program(&store, "selfplay");
        let games = if number == 0 { "30" } else { "20" };
        selfplay.args(["--run", "tiny", "--model", &model(number), "--games", games, "--times", "false"]);
        succeed(selfplay.arg("--config").arg(&config).args(settings()));
        succeed(program(&store, "shuffler").args(["--run", "tiny", "--once"]));
        succeed(program(&store, "trainer").args(["--run", "tiny", "--once"]));
        succeed(program(&store, "evaluator").args(["--run", "tiny", "--schedule", "--times", "false"]));
    }
    store
}

fn by_tengen_run() -> TestStore {
    let store = TestStore::new();
    succeed(program(&store, "tengen").arg("run").arg(repository().join("configs/tiny.toml")).args(settings()));
    store
}

/// The games of all models and the matches, by their names, in the order of their numbers.
fn games(run: &Run) -> BTreeMap<(String, u64), GameRecord> {
    let files = (0..=MODELS).flat_map(|number| run.games().files(number).unwrap());
    let matches = run.matches().files().unwrap();
    let matches = matches.iter().flat_map(|stem| run.matches().read(stem).unwrap());
    let games = files.flat_map(|file| whole_games(run, &file)).chain(matches);
    games.map(|game| ((format!("{} {} {}", game.black, game.white, game.worker), game.index), game)).collect()
}

/// The bytes of all files in a folder of the run, by name.
fn files(store: &TestStore, folder: &str) -> BTreeMap<String, Vec<u8>> {
    let names = store.files().into_iter().filter(|name| name.starts_with(&format!("tiny/{folder}/")));
    names.map(|name| (name.clone(), fs::read(store.path().join(name)).unwrap())).collect()
}

fn thresholds(run: &Run) -> Vec<ResignThreshold> {
    run.resign().list().unwrap().iter().map(|name| run.resign().get(name).unwrap().1).collect()
}

#[test]
fn stages_and_tengen_run_make_the_same_games_shards_and_weights() {
    let (stages, run_loop) = (by_stages(), by_tengen_run());
    let [one, other] = [&stages, &run_loop].map(|store| store.run("tiny"));
    let (of_stages, of_loop) = (games(&one), games(&other));
    let matches = of_stages.values().filter(|game| game.black != game.white).count();
    assert!(matches >= 5 * 2 && of_stages.len() == 30 + 2 * 20 + matches, "{matches}");
    assert_eq!(of_stages.keys().collect::<Vec<_>>(), of_loop.keys().collect::<Vec<_>>());
    for (key, game) in &of_stages {
        assert!(game == &of_loop[key], "{key:?}");
    }
    let last = of_stages.values().filter(|game| game.black == "tiny-2" && game.white == "tiny-2");
    assert!(last.clone().count() == 20 && last.clone().any(|game| game.resign_threshold.is_some()));
    assert!(!thresholds(&one).is_empty());
    assert_eq!(thresholds(&one), thresholds(&other));
    for (folder, least) in [("shards", 4), ("models", 6)] {
        let (of_stages, of_loop) = (files(&stages, folder), files(&run_loop, folder));
        assert!(of_stages.len() >= least, "{:?}", of_stages.keys());
        assert_eq!(of_stages.keys().collect::<Vec<_>>(), of_loop.keys().collect::<Vec<_>>());
        let differ: Vec<_> = of_stages.iter().filter(|(name, bytes)| of_loop[*name] != **bytes).collect();
        assert!(differ.is_empty(), "{:?}", differ.iter().map(|(name, _)| name).collect::<Vec<_>>());
    }
}

/// Steps until the driver has finished or is to stop. The stages of one machine do not wait for seconds.
fn work<D: Driver>(driver: &mut D, stop: &Stop) -> Result<(), D::Error> {
    while !stop.requested() {
        match driver.step()? {
            Step::Worked => {}
            Step::Waiting(_) => drop(stop.wait(Duration::from_millis(5))),
            Step::Finished => break,
        }
    }
    driver.shut_down()
}

#[test]
fn drivers_of_three_stages_work_side_by_side_in_one_process() {
    let store = TestStore::new();
    let config = Preset::Tiny.with(&["loop.models=2", "selfplay.first_games=20", "selfplay.games=20"]).unwrap();
    store.run("tiny").create(&config).unwrap();
    let (stop, name) = (Stop::never(), "tiny".parse().unwrap());
    let train_device = TrainDevice { device: Device::Cpu, precision: Precision::F32, threads: 1 };
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let run = store.run("tiny");
            let references = References::default();
            let mut driver = trainer::Driver::new(&run, &config, train_device, &references, &stop, Silent);
            work(&mut driver, &stop).unwrap();
        });
        let shuffler = scope.spawn(|| {
            let mut driver = shuffler::Driver::new(&store.run("tiny"), Silent).unwrap();
            work(&mut driver, &stop).unwrap();
        });
        let options = Options {
            model: ModelRef::Newest(name),
            worker: "0".to_owned(),
            games: Games::Share { own: Some(20), all: Some(0) },
            on_shutdown: OnShutdown::Discard,
            place: Device::Cpu.into(),
            threads: 1,
            cache: 0,
            evaluations: None,
            times: false,
            live: None,
        };
        work(&mut selfplay::Driver::new(&store.run("tiny"), &config, options, &stop, Silent), &stop).unwrap();
        shuffler.join().unwrap();
        // The trainer would train more models if there were shards.
        stop.request();
    });
    let run = store.run("tiny");
    assert_eq!(run.models().list().unwrap(), [1, 2]);
    assert_eq!(run.shards().generations().unwrap(), [1, 2]);
    assert_eq!([0, 1].map(|model| run.games().indices(model, "0").unwrap().len()), [20, 20]);
}
