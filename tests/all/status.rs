//! `tengen status`: the runs of a store, with what their stages do and wait for.

use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::process::Stdio;
use std::time::{Duration, SystemTime};

use config::Preset;
use record::RatingRow;
use testing::s3::Refusal;
use tests::{Stage, TestStore, copy, fail, repository, succeed};

use crate::inference::publish;

fn status(store: &TestStore, args: &[&str]) -> String {
    succeed(store.program("tengen").arg("status").args(args))
}

/// The line of a stage.
fn line<'a>(said: &'a str, stage: &str) -> &'a str {
    let found = said.lines().find(|line| line.trim_start().starts_with(stage));
    found.unwrap_or_else(|| panic!("no {stage} in {said}")).trim_start()
}

/// The page of a bucket, and of a copy of it in a folder.
fn pages(bucket: &TestStore, args: &[&str]) -> [String; 2] {
    let folder = TestStore::new();
    copy(&bucket.server().expect("a bucket is on a server").objects(), folder.path());
    [bucket, &folder].map(|store| status(store, args))
}

#[test]
fn status_follows_a_run_from_stage_to_stage_in_a_folder_and_a_bucket() {
    for store in [TestStore::new(), TestStore::on_server()] {
        assert_eq!(status(&store, &[]), format!("no runs in {}\n", store.open().root()));
    }
    let store = TestStore::on_server();
    store.selfplay("a", "random", 10);
    for said in pages(&store, &[]) {
        assert!(said.starts_with("a: model 0 of 3, "), "{said}");
        assert_eq!(line(&said, "selfplay"), "selfplay   10 of 40 games of random are published; no process");
        assert_eq!(line(&said, "shuffler"), "shuffler   waits for 30 more games of random");
        assert_eq!(line(&said, "trainer"), "trainer    waits for shards for a-1; no process");
        assert_eq!(line(&said, "evaluator"), "evaluator  waits for a newer model");
        assert!(!said.contains("ALARM"), "{said}");
    }
    store.selfplay("a", "random", 40);
    for said in pages(&store, &["a"]) {
        assert_eq!(line(&said, "shuffler"), "shuffler   shards for a-1");
    }
    succeed(store.program("shuffler").args(["--run", "a", "--once"]));
    for said in pages(&store, &["a"]) {
        assert_eq!(line(&said, "trainer"), "trainer    training of a-1; no process");
    }
    succeed(store.program("trainer").args(["--run", "a", "--once"]));
    for said in pages(&store, &["a"]) {
        assert!(said.starts_with("a: model 1 of 3, ") && said.contains(" steps/s"), "{said}");
        assert_eq!(line(&said, "evaluator"), "evaluator  a-1 has no rating");
    }
    succeed(store.program("evaluator").args(["--pair", "a-1", "random", "--games", "2"]));
    succeed(store.program("evaluator").args(["ratings", "--run", "a"]));
    for said in pages(&store, &[]) {
        assert!(said.contains("a-1 ") && said.contains(" Elo"), "{said}");
    }
    let config = repository().join("configs/tiny.toml");
    succeed(store.program("tengen").arg("run").arg(config).args(["--run", "b", "--set", "loop.models=1"]));
    for said in pages(&store, &[]) {
        let runs: Vec<&str> =
            said.lines().filter(|line| !line.starts_with(' ')).filter(|line| !line.is_empty()).collect();
        assert!(runs.len() == 2 && runs[0].starts_with("a: ") && runs[1].starts_with("b: model 1 of 1, "), "{said}");
        assert_eq!(said.matches("finished").count(), 4, "{said}");
    }
    for said in pages(&store, &["b", "--json"]) {
        let json: serde_json::Value = serde_json::from_str(&said).unwrap();
        let run = &json[0];
        assert_eq!((run["run"].as_str(), run["models"].as_u64()), (Some("b"), Some(1)), "{run}");
        assert_eq!(run["stages"][3]["state"], "finished", "{run}");
    }
}

#[test]
fn processes_and_alarms_are_shown() {
    let store = TestStore::new();
    store.selfplay("a", "random", 10);
    let config = repository().join("configs/tiny.toml");
    let mut command = store.program("selfplay");
    command.args(["--run", "a", "--model", "random", "--games", "1000000", "--worker", "w7", "--config"]).arg(config);
    let mut worker = Stage::start(&mut command);
    worker.wait_for("its lease", |_| store.run("a").leases().observe().unwrap().pop());
    let said = status(&store, &[]);
    assert!(line(&said, "selfplay").contains("; by w7 (process "), "{said}");
    worker.signal("KILL");
    worker.wait();
    let said = status(&store, &[]);
    assert!(said.contains("ALARM: selfplay w7 was killed (process ") && said.contains("no process"), "{said}");

    // What programs of another version hold is no reason to hide the run.
    fs::create_dir_all(store.path().join("a/claims")).unwrap();
    for file in ["leases/selfplay/w7/000002.toml", "claims/x.toml"] {
        fs::write(store.path().join("a").join(file), "format = 2\n").unwrap();
    }
    let said = status(&store, &[]);
    assert!(line(&said, "selfplay").ends_with("; by w7") && !said.contains("was killed"), "{said}");

    fs::create_dir_all(store.path().join("a/quarantine")).unwrap();
    fs::write(store.path().join("a/quarantine/x.parquet"), "x").unwrap();
    assert!(status(&store, &[]).contains("ALARM: 1 damaged files are in quarantine/"));
    // A run that cannot be read is no reason not to show the others.
    store.selfplay("b", "random", 10);
    fs::write(store.path().join("a/run.toml"), "seed = ").unwrap();
    let said = status(&store, &[]);
    assert!(said.contains("a: ALARM: ") && said.contains("b: model 0 of 3"), "{said}");
    let json: serde_json::Value = serde_json::from_str(&status(&store, &["a", "--json"])).unwrap();
    assert!(json[0]["error"].as_str().unwrap().contains("a/run.toml"), "{json}");
}

/// The stages and the other alarms are of most use then.
#[test]
fn file_that_cannot_be_used_is_an_alarm_beside_the_state() {
    let store = TestStore::new();
    store.selfplay("a", "random", 40);
    succeed(store.program("shuffler").args(["--run", "a", "--once"]));
    let row = RatingRow {
        player: "random".to_owned(),
        elo: 0.0,
        error: 0.0,
        above_pool: 0.0,
        above_pool_error: 0.0,
        games: 2,
        points: 1.0,
    };
    store.run("a").ratings().publish(&[row]).unwrap();
    let cases = [
        ("a/games/", "`tengen audit a --repair` moves it to quarantine"),
        ("a/ratings/", "`evaluator ratings --run a` publishes them again"),
        ("a/shards/000001/manifest.toml", "delete its folder, and the shuffler samples these shards again"),
    ];
    for (begin, _) in cases {
        let path = store.path().join(store.files().into_iter().find(|name| name.starts_with(begin)).unwrap());
        let bytes = fs::read(&path).unwrap();
        fs::write(path, &bytes[..bytes.len() / 2]).unwrap();
    }
    let said = status(&store, &["a"]);
    assert!(said.starts_with("a: model 0 of 3"), "{said}");
    assert!(line(&said, "selfplay").contains(" of 40 games of random are published"), "{said}");
    assert_eq!(line(&said, "trainer"), "trainer    training of a-1; no process");
    let alarms: Vec<&str> = said.lines().filter(|line| line.contains(" is damaged: ")).collect();
    assert_eq!(alarms.len(), cases.len(), "{said}");
    for ((begin, remedy), alarm) in cases.iter().zip(alarms) {
        assert!(alarm.contains("ALARM: ") && alarm.contains(begin) && alarm.ends_with(remedy), "{alarm}");
    }
    // Its bytes are whole, so no repair helps.
    fs::write(store.path().join(cases[2].0), "format = 99\n").unwrap();
    let said = status(&store, &["a"]);
    let found = said.lines().find(|line| line.contains("manifest.toml has format 99, and this program reads "));
    let alarm = found.unwrap_or_else(|| panic!("{said}"));
    assert!(alarm.contains("ALARM: ") && alarm.ends_with("use the version of Tengen that wrote it"), "{said}");
}

/// The trainer publishes nothing else while it trains a model, which may take hours.
#[test]
fn checkpoint_counts_as_the_last_object() {
    const HOUR: u64 = 3600;
    let store = TestStore::new();
    publish(&store.run("a"), 1, Preset::Tiny.config());
    let date = |path: &str, age: u64| {
        let file = File::options().write(true).open(store.path().join(path)).unwrap();
        file.set_modified(SystemTime::now() - Duration::from_secs(age)).unwrap();
    };
    let idle = || {
        let json: serde_json::Value = serde_json::from_str(&status(&store, &["a", "--json"])).unwrap();
        json[0]["idle_seconds"].as_u64().unwrap()
    };
    date("a/models/000001/model.toml", 9 * HOUR);
    assert!(idle() >= 9 * HOUR);
    fs::create_dir_all(store.path().join("a/checkpoints/000000000020")).unwrap();
    fs::write(store.path().join("a/checkpoints/000000000020/weights.safetensors"), "x").unwrap();
    date("a/checkpoints/000000000020/weights.safetensors", HOUR);
    assert!((HOUR..9 * HOUR).contains(&idle()));
    // The clock of a bucket is ahead of this machine's.
    let path = store.path().join("a/checkpoints/000000000020/weights.safetensors");
    let file = File::options().write(true).open(path).unwrap();
    file.set_modified(SystemTime::now() + Duration::from_secs(HOUR)).unwrap();
    assert_eq!(idle(), 0);
}

/// The clock of a worker is ahead: its files are no sign that the run advances.
#[test]
fn games_from_the_future_are_an_alarm_and_not_the_last_object() {
    let store = TestStore::new();
    store.selfplay("a", "random", 10);
    let games = |name: &String| name.starts_with("a/games/") && name.ends_with(".parquet");
    for name in store.files().into_iter().filter(games) {
        let (worker, _) = name.rsplit_once('-').unwrap();
        fs::rename(store.path().join(&name), store.path().join(format!("{worker}-9000000000000.parquet"))).unwrap();
    }
    let json: serde_json::Value = serde_json::from_str(&status(&store, &["a", "--json"])).unwrap();
    let run = &json[0];
    assert!(run["idle_seconds"].is_null() && run["games_per_hour"].is_null(), "{run}");
    assert!(run["alarms"][0].as_str().unwrap().contains(" are from the future; correct the clocks"), "{run}");
}

#[test]
fn watch_refreshes_until_it_is_stopped() {
    let store = TestStore::new();
    store.selfplay("a", "random", 10);
    let mut command = store.program("tengen");
    let mut child = command.args(["status", "--watch=0.1"]).stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
    assert!(lines.any(|line| line.contains("10 of 40 games")), "the first page");
    store.selfplay("a", "random", 20);
    assert!(lines.any(|line| line.contains("20 of 40 games")), "a later page");
    assert!(testing::signal(&child, "TERM"));
    lines.for_each(drop);
    assert_eq!(child.wait().unwrap().code(), Some(4));
}

#[test]
fn watch_survives_an_outage_of_the_store() {
    let store = TestStore::on_server();
    store.selfplay("a", "random", 10);
    let mut command = store.program("tengen");
    let mut child = command.args(["status", "--watch=0.1"]).stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
    assert!(lines.any(|line| line.contains("10 of 40 games")), "the first page");
    store.server().unwrap().refuse(Some(Refusal::ClockSkew));
    let outage = lines.find(|line| line.starts_with("store unreachable, last read ")).expect("a page of the outage");
    assert!(outage.contains("the clock of this machine is wrong"), "{outage}");
    store.server().unwrap().refuse(None);
    assert!(lines.any(|line| line.contains("10 of 40 games")), "a page after it");
    child.kill().unwrap();
    child.wait().unwrap();
    // Without a first page it is an error.
    store.server().unwrap().refuse(Some(Refusal::ClockSkew));
    let (code, said) = fail(store.program("tengen").args(["status", "--watch=0.1"]));
    assert!(code == 3, "{said}");
}

#[test]
fn runs_and_stores_that_are_not_there_are_errors() {
    let store = TestStore::new();
    let (code, said) = fail(store.program("tengen").args(["status", "nowhere"]));
    assert!(code == 2 && said.contains("there is no run nowhere in "), "{said}");
    let (code, said) = fail(store.program("tengen").args(["status", "--watch=0"]));
    assert!(code == 2 && said.contains("--watch"), "{said}");
    let absent = store.path().join("absent");
    let reading: [&[&str]; 6] = [
        &["status"],
        &["status", "--watch"],
        &["games", "--run", "a"],
        &["prune", "--run", "a"],
        &["audit", "a"],
        &["evalcache", "list"],
    ];
    for args in reading {
        let (code, said) = fail(store.program_at("tengen", absent.to_str().unwrap()).args(args));
        let expected = format!("cannot use {} as a store: there is no such folder", absent.display());
        assert!(code == 2 && said.contains(&expected), "{args:?}: {code}: {said}");
        assert!(!absent.exists(), "{args:?}");
    }
}
