//! What processes ask of a bucket: the numbers of docs/operations/sizing.md.

use std::collections::BTreeMap;
use std::thread;
use std::time::Duration;

use tests::{Stage, TestStore, repository, succeed};

/// How long a process that waits is watched.
const WATCHED: Duration = Duration::from_secs(30);

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

#[test]
fn starting_and_waiting_processes_make_few_requests() {
    let store = TestStore::on_server();
    let mut stages = [
        stage(&store, "selfplay", &["--model", "tiny", "--games", "20"]),
        stage(&store, "shuffler", &["--run", "tiny"]),
        stage(&store, "trainer", &["--run", "tiny"]),
    ];
    stages[0]
        .wait_for("games", |stage| stage.log().iter().any(|line| line.contains("a newer model than")).then_some(()));
    // Two files of ten games, four objects each where some game is held out; the configuration and its copy; the lease.
    let played = requests(&stages[0]);
    assert!(played["put"] <= 11 && sum(&played) - played["put"] <= 14, "20 games: {played:?}");
    println!("selfplay, start and 20 games in two files: {played:?}");
    for stage in &mut stages {
        let waits = |line: &String| line.contains("\"waiting\"");
        stage.wait_for("its first wait", |stage| stage.log().iter().any(waits).then_some(()));
    }
    let before: Vec<_> = stages.iter().map(requests).collect();
    thread::sleep(WATCHED);
    // A first wait is followed by polls at shorter intervals, and by the games that the shuffler reads.
    for ((stage, before), most) in stages.iter().zip(&before).zip(&[6, 90, 60]) {
        let asked = sum(&requests(stage)) - sum(before);
        let memory = stage.metrics()["process_resident_memory_bytes"] / 1e6;
        // Of all who wait workers are the many: each poll is one small object.
        let lists = |requests: &BTreeMap<String, u64>| requests.get("list").copied().unwrap_or_default();
        if *most == 6 {
            assert_eq!(lists(&requests(stage)), lists(before), "a worker that waits lists nothing");
        }
        println!("{}: {asked} requests in {WATCHED:?} of waiting, {memory:.0} MB", stage.log()[0]);
        assert!(asked <= *most, "{asked} requests, {before:?} before");
    }
    drop(stages);
    let many = 30;
    for worker in 1..=many {
        let mut command = store.program("selfplay");
        command.args(["--run", "tiny", "--model", "random", "--games", "10", "--worker", &worker.to_string()]);
        succeed(&mut command);
    }
    // The hundredth worker that starts asks what the first one asked.
    let last = stage(&store, "selfplay", &["--model", "tiny", "--games", "20", "--worker", "last"]);
    let mut last = last;
    last.wait_for("games", |stage| stage.log().iter().any(|line| line.contains("a newer model than")).then_some(()));
    println!("the same with {} files of others: {:?}", many + 2, requests(&last));
    assert!(sum(&requests(&last)) <= sum(&played) + 3, "{played:?}, {:?}", requests(&last));
}
