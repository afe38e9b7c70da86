//! What processes ask of a bucket: the numbers of docs/operations/sizing.md.

use std::collections::BTreeMap;
use std::fmt::Debug;

use config::{ModelRef, Preset};
use go::Size;
use net::{Device, Precision, TrainDevice};
use record::{GameRecord, synthetic};
use runtime::{Driver, Silent, Step, Stop};
use selfplay::{Games, OnShutdown, Options};
use tests::{Stage, TestStore, repository};
use trainer::References;

fn stage(store: &TestStore, program: &str, args: &[&str]) -> Stage {
    let config = repository().join("configs/tiny.toml");
    let mut command = store.program(program);
    command.args(args).env("TENGEN_THREADS", "1");
    if program != "shuffler" {
        command.arg("--config").arg(config);
    }
    Stage::start(&mut command)
}

/// Requests so far, by operation.
fn requests(stage: &Stage) -> BTreeMap<String, u64> {
    let (_, page) = stage.page("/metrics").unwrap();
    let lines = page.lines().filter(|line| line.starts_with("tengen_store_requests_total"));
    let operation = |line: &str| line.split("operation=\"").nth(1).unwrap().split('"').next().unwrap().to_owned();
    lines.map(|line| (operation(line), line.rsplit(' ').next().unwrap().parse().unwrap())).collect()
}

fn sum(requests: &BTreeMap<String, u64>) -> u64 {
    requests.values().sum()
}

/// All that a worker of ten games leaves in the store, one of them in the validation set.
fn publish(store: &TestStore, worker: &str) {
    let size = Size::new(5).unwrap();
    let game = |index: u64| GameRecord { holdout: index == 0, ..synthetic::game("random", worker, index, size, 16) };
    store.run("tiny").games().publish(0, worker, &(0..10).map(game).collect::<Vec<_>>()).unwrap();
}

/// Whether a worker has played its games.
fn has_played(stage: &Stage) -> Option<()> {
    stage.log().iter().any(|line| line.contains("a newer model than")).then_some(())
}

#[test]
fn starting_workers_make_few_requests() {
    let store = TestStore::on_server();
    let mut first = stage(&store, "selfplay", &["--model", "tiny", "--games", "20"]);
    first.wait_for("games", has_played);
    // Two files of ten games, four objects each where some game is held out; the configuration and its copy; the lease.
    let played = requests(&first);
    assert!(played["put"] <= 11 && sum(&played) - played["put"] <= 14, "20 games: {played:?}");
    println!("selfplay, start and 20 games in two files: {played:?}");
    drop(first);
    let many = 30;
    (1..=many).for_each(|worker| publish(&store, &worker.to_string()));
    // The hundredth worker that starts asks what the first one asked.
    let mut last = stage(&store, "selfplay", &["--model", "tiny", "--games", "20", "--worker", "last"]);
    last.wait_for("games", has_played);
    let asked = requests(&last);
    println!("the same with {} files of others: {asked:?}", many + 2);
    // On a busy machine it polls while it plays, and again while it waits.
    assert!(sum(&asked) <= sum(&played) + 3 + 4, "{played:?}, {asked:?}");
}

/// The requests of each of three polls of a driver, once it waits.
fn polls<D: Driver<Error: Debug>>(store: &TestStore, driver: &mut D) -> [Vec<String>; 3] {
    while driver.step().unwrap() == Step::Worked {}
    let server = store.server().expect("the store is on a server");
    server.asked();
    [(); 3].map(|()| {
        assert!(matches!(driver.step().unwrap(), Step::Waiting(_)));
        server.asked()
    })
}

/// How often a driver polls is up to `runtime::drive`.
#[test]
fn polls_of_waiting_drivers_make_few_requests() {
    let store = TestStore::on_server();
    let config = Preset::Tiny.config();
    store.run("tiny").create(&config).unwrap();
    let (run, stop) = (store.run("tiny"), Stop::never());
    let options = Options {
        model: ModelRef::Newest("tiny".parse().unwrap()),
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
    let train_device = TrainDevice { device: Device::Cpu, precision: Precision::F32, threads: 1 };
    let mut selfplay = selfplay::Driver::new(&run, &config, options, &stop, Silent);
    let mut shuffler = shuffler::Driver::new(&run, Silent).unwrap();
    let references = References::default();
    let mut trainer = trainer::Driver::new(&run, &config, train_device, &references, &stop, Silent);
    // Of all who wait workers are the many: each poll is one small object.
    for poll in polls(&store, &mut selfplay) {
        assert_eq!(poll, ["HEAD stores/tiny/models/000001/model.toml"]);
    }
    for poll in polls(&store, &mut trainer) {
        assert_eq!(poll, ["GET stores/tiny/shards/000001/manifest.toml"]);
    }
    for poll in polls(&store, &mut shuffler) {
        assert!(poll.len() <= 11, "{poll:#?}");
    }
}
