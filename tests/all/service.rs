//! What those who look after the processes of a run rely on: metrics, signs of life, and that they go when they are told.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::thread;
use std::time::Duration;

use tests::{Stage, TestStore, fail, repository, succeed};

/// What Kubernetes waits between SIGTERM and SIGKILL is longer.
const DRAINED: Duration = Duration::from_secs(10);

/// `tiny` with a network that takes its time, in a file.
fn slow_config(store: &TestStore) -> PathBuf {
    let text = fs::read_to_string(repository().join("configs/tiny.toml")).unwrap();
    let slower = [("blocks = 1", "blocks = 6"), ("filters = 8", "filters = 48"), ("steps = 20", "steps = 2000")];
    let text = slower.iter().fold(text, |text, (from, to)| text.replacen(from, to, 1));
    let path = store.path().join("slow.toml");
    fs::write(&path, text).unwrap();
    path
}

fn stage(store: &TestStore, program: &str, args: &[&str]) -> Stage {
    Stage::start(store.program(program).args(args))
}

/// Asks a stage to go, and sees that it does; afterwards the store holds everything that it has finished.
fn drain(stage: &mut Stage) -> Vec<String> {
    assert_eq!(stage.page("/healthz").unwrap().0, 200);
    let (code, took) = stage.terminate();
    assert_eq!(code, Some(4), "{}", stage.log().join("\n"));
    assert!(took < DRAINED, "{took:?}: {}", stage.log().join("\n"));
    println!("drained in {took:?}");
    let log = stage.log();
    assert!(log.iter().all(|line| line.starts_with("{\"timestamp\"")), "a log that is no terminal is JSON: {log:?}");
    log
}

fn described() -> BTreeSet<String> {
    let page = fs::read_to_string(repository().join("docs/METRICS.md")).unwrap();
    page.lines().filter_map(|line| Some(line.strip_prefix("| `")?.split('`').next()?.to_owned())).collect()
}

#[test]
fn every_stage_tells_how_it_is_and_goes_when_it_is_told() {
    let store = TestStore::new();
    let config = slow_config(&store);
    let config = config.to_str().unwrap();
    let run = store.run("slow");
    let mut seen = BTreeSet::new();
    let mut look = |stage: &Stage| seen.extend(stage.metrics().into_keys());

    let mut selfplay = stage(&store, "selfplay", &["--model", "slow", "--config", config]);
    selfplay.wait_for_metric("tengen_games_total", 60.0);
    assert_eq!(selfplay.page("/readyz").unwrap().0, 200);
    look(&selfplay);
    let log = drain(&mut selfplay);
    let gave_up = log.iter().find(|line| line.contains("gave up games in progress")).unwrap();
    assert!(!gave_up.contains("\"games\":0,"), "there are always games in progress: {gave_up}");
    let published = run.published_indices(0, "0").unwrap().len() as u64;
    let last = log.iter().rev().find(|line| line.contains("\"published\":")).unwrap();
    assert!(last.contains(&format!("\"published\":{published}")), "{published} games: {last}");
    assert!(published >= 60);

    let mut shuffler = stage(&store, "shuffler", &["--run", "slow"]);
    shuffler.wait_for_metric("tengen_shards_generation", 1.0);
    look(&shuffler);

    let mut trainer = stage(&store, "trainer", &["--run", "slow", "--config", config]);
    trainer.wait_for_metric("tengen_train_steps_total", 3.0);
    look(&trainer);
    drain(&mut trainer);
    let saved = run.newest_checkpoint().unwrap().expect("what was learned is saved").step;
    assert!(saved >= 3 && run.newest_model().unwrap().is_none());

    let people = store.path().join("people.sgf");
    fs::write(&people, "(;SZ[5]KM[0.5]RE[W+R];B[cc];W[bb];B[dd];W[bd])").unwrap();
    let mut trainer = stage(&store, "trainer", &["--run", "slow", "--human", people.to_str().unwrap()]);
    trainer.wait_for_metric("tengen_newest_model_number", 1.0);
    trainer.wait_for_metric("tengen_train_waiting_seconds", 0.1);
    look(&trainer);
    drain(&mut trainer);

    let mut selfplay = stage(&store, "selfplay", &["--model", "slow", "--worker", "1"]);
    shuffler.wait_for_metric("tengen_resign_model_number", 1.0);
    look(&shuffler);
    drain(&mut shuffler);
    // A worker takes the threshold up within seconds.
    selfplay.wait_for_metric("tengen_resign_threshold_in_force", -1.0);
    look(&selfplay);
    drain(&mut selfplay);

    let pairs = ["--run", "slow", "--pair-uncertain", "--wait", "--pairs", "1000"];
    let mut evaluator = stage(&store, "evaluator", &pairs);
    evaluator.wait_for_metric("tengen_pairs_total", 1.0);
    evaluator.wait_for_metric("tengen_rated_model_number", 1.0);
    look(&evaluator);
    drain(&mut evaluator);
    assert!(run.results().unwrap().len() >= 4);
    let mut rated = stage(&store, "evaluator", &["--pair", "slow-1", "random", "--games", "100000"]);
    rated.wait_for_metric("tengen_match_games_total", 1.0);
    look(&rated);
    drain(&mut rated);

    let documented = described();
    let ours: BTreeSet<String> = seen.into_iter().filter(|name| name != "up").collect();
    assert_eq!(ours.difference(&documented).collect::<Vec<_>>(), [""; 0], "metrics that docs/METRICS.md does not know");
    // Nothing went wrong.
    let rare = ["tengen_store_errors_total", "tengen_store_retries_total"];
    let missing: Vec<_> =
        documented.difference(&ours).filter(|name| !rare.iter().any(|rare| name.starts_with(rare))).collect();
    assert_eq!(missing, [""; 0], "metrics that nobody has");
}

#[test]
fn a_run_on_one_machine_tells_all_of_it() {
    let store = TestStore::new();
    let config = repository().join("configs/tiny.toml");
    let mut tengen = Stage::start(store.program("tengen").arg("run").arg(config).args(["--set", "loop.models=200"]));
    tengen.wait_for_metric("tengen_rated_model_number", 1.0);
    let metrics = tengen.metrics();
    for name in
        ["tengen_games_total", "tengen_train_steps_total", "tengen_match_games_total", "tengen_shards_generation"]
    {
        assert!(metrics[name] > 0.0, "{name}");
    }
    assert_eq!(metrics["tengen_train_rotate_enabled"], 1.0);
    drain(&mut tengen);
}

/// Runs a stage that must fail because of how it was started, at once: what it says, on one line, and its exit code.
fn refused(command: &mut Command) -> (i32, String) {
    let (code, said) = fail(command);
    let errors: Vec<&str> = said.lines().filter(|line| line.starts_with("error: ")).collect();
    assert_eq!(errors.len(), 1, "one line that says what is wrong:\n{said}");
    (code, errors[0].to_owned())
}

/// The arguments with which each stage is started on a cluster.
const STAGES: [(&str, &[&str]); 4] = [
    ("selfplay", &["--model", "tiny", "--config", "configs/tiny.toml"]),
    ("shuffler", &["--run", "tiny"]),
    ("trainer", &["--run", "tiny", "--config", "configs/tiny.toml"]),
    ("evaluator", &["--run", "tiny", "--pair-uncertain", "--wait"]),
];

#[test]
fn a_store_that_is_no_good_is_said_by_every_stage_once_with_its_exit_code() {
    let store = TestStore::on_server();
    // Each waits for some seconds whether what is wrong passes.
    thread::scope(|scope| {
        for (program, args) in STAGES {
            let store = &store;
            scope.spawn(move || says_what_is_wrong_with_the_store(store, program, args));
        }
    });
}

fn says_what_is_wrong_with_the_store(store: &TestStore, program: &str, args: &[&str]) {
    let at = |place: &str| {
        let mut command = store.program_at(program, place);
        command.args(args).current_dir(repository());
        command
    };
    let mut wrong_key = at(&store.place());
    wrong_key.env("AWS_SECRET_ACCESS_KEY", "wrong");
    let mut no_server = at(&store.place());
    no_server.env("AWS_ENDPOINT", "http://127.0.0.1:9");
    let file = tempfile::NamedTempFile::new().unwrap();
    let cases = [
        ("a place that is none", at("ftp://x"), 2, "cannot use ftp://x as a store"),
        ("a file", at(file.path().to_str().unwrap()), 2, "it is not a folder"),
        ("a bucket that is not there", at("s3://no-such-bucket/x"), 2, "there is no such bucket"),
        ("a key that does not fit", wrong_key, 3, "s3://bucket/stores"),
        ("a server that is not there", no_server, 3, "s3://bucket/stores"),
    ];
    for (what, mut command, code, part) in cases {
        let (found, said) = refused(&mut command);
        assert_eq!(found, code, "{program}, {what}: {said}");
        assert!(said.contains(part), "{program}, {what}: {said}");
    }
}

#[test]
fn a_disk_that_is_full_is_said_by_those_who_write() {
    let store = TestStore::new();
    for (program, args) in STAGES.into_iter().filter(|(program, _)| ["selfplay", "trainer"].contains(program)) {
        let command = store.program(program);
        // No file may be larger than one block, and the signal that goes with it is not heard: writes fail.
        let limited = format!("trap '' XFSZ; ulimit -f 1; exec {} \"$@\"", command.get_program().to_str().unwrap());
        let mut shell = Command::new("sh");
        shell.args(["-c", &limited, "sh", "--store", &store.place(), "--log-format", "plain"]);
        let (code, said) = refused(shell.args(args).current_dir(repository()));
        assert!(
            code == 3 && said.contains("cannot write") && said.contains("tiny/run.toml"),
            "{program}: {code}: {said}"
        );
    }
}

#[test]
fn what_an_operator_gets_wrong_is_said_once_with_its_exit_code() {
    let store = TestStore::on_server();
    let config = repository().join("configs/tiny.toml");
    let selfplay = |model: &str| {
        let mut command = store.program("selfplay");
        command.args(["--run", "tiny", "--model", model, "--games", "1", "--config"]).arg(&config);
        command
    };
    succeed(&mut selfplay("random"));

    let other = repository().join("configs/9x9.toml");
    let mut of_another_run = store.program("selfplay");
    of_another_run.args(["--run", "tiny", "--model", "random", "--config"]).arg(other);
    let mut bad_worker = selfplay("random");
    bad_worker.env("JOB_COMPLETION_INDEX", "a/b");
    let cases = [
        ("the configuration of another run", of_another_run, 2, "describes another run"),
        ("a model that is not there", selfplay("tiny-9"), 2, "tiny-9"),
        ("a worker whose name is none", bad_worker, 2, "a/b"),
    ];
    for (what, mut command, code, part) in cases {
        let (found, said) = refused(&mut command);
        assert_eq!(found, code, "{what}: {said}");
        assert!(said.contains(part), "{what}: {said}");
    }
}
