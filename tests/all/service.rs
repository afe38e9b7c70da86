//! Process contract of the programs: metrics, liveness, and exit at SIGTERM.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

use config::Preset;
use store::Run;
use tests::{Stage, TestStore, repository};

/// `tiny` with a network that takes its time, in a file.
fn slow_config(store: &TestStore) -> PathBuf {
    let slower = Preset::Tiny.with(&["network.blocks=6", "network.filters=48", "train.steps=1000"]).unwrap();
    let path = store.path().join("slow.toml");
    fs::write(&path, slower.to_toml()).unwrap();
    path
}

fn stage(store: &TestStore, program: &str, args: &[&str]) -> Stage {
    Stage::start(store.program(program).args(args))
}

/// Asks a stage to go, and sees that it does; afterwards the store holds everything that it has finished.
fn drain(stage: &mut Stage) -> Vec<String> {
    assert_eq!(stage.page("/healthz").unwrap().0, 200);
    assert_eq!(stage.terminate(), Some(4), "{}", stage.log().join("\n"));
    let log = stage.log();
    assert!(log.iter().all(|line| line.starts_with("{\"timestamp\"")), "a log that is no terminal is JSON: {log:?}");
    log
}

fn described() -> BTreeSet<String> {
    let page = fs::read_to_string(repository().join("docs/METRICS.md")).unwrap();
    page.lines().filter_map(|line| Some(line.strip_prefix("- `")?.split('`').next()?.to_owned())).collect()
}

/// A run `slow`, and the names of the metrics that its stages have served.
struct Service {
    store: TestStore,
    run: Run,
    config: String,
    seen: BTreeSet<String>,
}

impl Service {
    fn new() -> Service {
        let store = TestStore::new();
        let config = slow_config(&store).to_str().unwrap().to_owned();
        Service { run: store.run("slow"), store, config, seen: BTreeSet::new() }
    }

    fn look(&mut self, stage: &Stage) {
        self.seen.extend(stage.metrics().into_keys());
    }
}

fn selfplay_publishes_what_is_finished(service: &mut Service) {
    let mut selfplay = stage(&service.store, "selfplay", &["--model", "slow", "--config", &service.config]);
    selfplay.wait_for_metric("tengen_games_total", 60.0);
    assert_eq!(selfplay.page("/readyz").unwrap().0, 200);
    service.look(&selfplay);
    let log = drain(&mut selfplay);
    let gave_up = log.iter().find(|line| line.contains("discarded games in progress")).unwrap();
    assert!(!gave_up.contains("\"games\":0,"), "there are always games in progress: {gave_up}");
    let published = service.run.games().indices(0, "0").unwrap().len() as u64;
    let last = log.iter().rev().find(|line| line.contains("\"published\":")).unwrap();
    assert!(last.contains(&format!("\"published\":{published}")), "{published} games: {last}");
    assert!(published >= 60);
}

fn selfplay_leaves_games_and_resumes_them(service: &mut Service) {
    let keep = ["--model", "slow", "--worker", "keeper", "--on-shutdown", "handoff"];
    let mut keeper = stage(&service.store, "selfplay", &keep);
    keeper.wait_for_metric("tengen_games_total", 5.0);
    let log = drain(&mut keeper);
    assert!(log.iter().any(|line| line.contains("handed off games in progress")), "{log:?}");
    assert_eq!(service.run.unfinished().files().unwrap().len(), 1);
    let mut keeper = stage(&service.store, "selfplay", &keep);
    keeper.wait_for_metric("tengen_games_resumed_total", 1.0);
    service.look(&keeper);
    drain(&mut keeper);
}

fn shuffler_makes_shards(service: &mut Service) -> Stage {
    let mut shuffler = stage(&service.store, "shuffler", &["--run", "slow"]);
    shuffler.wait_for_metric("tengen_shards_generation", 1.0);
    service.look(&shuffler);
    shuffler
}

fn trainer_saves_a_checkpoint(service: &mut Service) {
    let mut trainer = stage(&service.store, "trainer", &["--run", "slow", "--config", &service.config]);
    trainer.wait_for_metric("tengen_train_steps_total", 3.0);
    service.look(&trainer);
    drain(&mut trainer);
    let saved = service.run.checkpoints().newest().unwrap().expect("what was learned is saved").step;
    assert!(saved >= 3 && service.run.models().newest().unwrap().is_none());
}

fn trainer_publishes_and_waits_for_shards(service: &mut Service) {
    let people = service.store.path().join("people.sgf");
    fs::write(&people, "(;SZ[5]KM[0.5]RE[W+R];B[cc];W[bb];B[dd];W[bd])").unwrap();
    let deep = service.store.path().join("deep.jsonl");
    fs::write(&deep, r#"{"size": 5, "moves": ["C3"], "value": 0.9, "visits": [["B3", 90], ["pass", 10]]}"#).unwrap();
    let references = ["--eval-sgf", people.to_str().unwrap(), "--eval-positions", deep.to_str().unwrap()];
    let mut trainer = stage(&service.store, "trainer", &[&["--run", "slow"], &references[..]].concat());
    trainer.wait_for_metric("tengen_newest_model_number", 1.0);
    trainer.wait_for_metric("tengen_train_waiting_seconds", 0.1);
    service.look(&trainer);
    drain(&mut trainer);
}

fn bootstrap_is_alive_and_saves_a_checkpoint(service: &mut Service) {
    let games: String = (0..99).map(|n| format!("(;SZ[5]KM[{n}.5]RE[W+R];B[cc];W[bb];B[dd];W[bd])\n")).collect();
    let people = service.store.path().join("bootstrap.sgf");
    fs::write(&people, games).unwrap();
    let words = ["bootstrap", "--run", "human", "--config", &service.config, "--minutes", "60", "--eval-interval", "2"];
    let mut bootstrap = stage(&service.store, "trainer", &[&words[..], &["--sgf", people.to_str().unwrap()]].concat());
    bootstrap.wait_for_metric("tengen_train_steps_total", 5.0);
    assert_eq!(bootstrap.page("/readyz").unwrap().0, 200);
    let metrics = bootstrap.metrics();
    for name in ["tengen_train_step", "tengen_human_value_error"] {
        assert!(metrics[name] > 0.0, "{name}");
    }
    drain(&mut bootstrap);
    let run = service.store.run("human");
    assert!(run.checkpoints().newest().unwrap().expect("what was trained is saved").step >= 5);
    assert_eq!(run.models().newest().unwrap(), None);
}

fn selfplay_follows_the_resign_threshold(service: &mut Service, mut shuffler: Stage) {
    // It plays until the threshold is there, however soon the window is full.
    let endless = ["--model", "slow", "--worker", "1", "--max-games-per-model", "0"];
    let mut selfplay = stage(&service.store, "selfplay", &endless);
    shuffler.wait_for_metric("tengen_resign_model_number", 1.0);
    service.look(&shuffler);
    drain(&mut shuffler);
    // A worker takes the threshold up within seconds.
    selfplay.wait_for_metric("tengen_resign_threshold_in_force", -1.0);
    service.look(&selfplay);
    drain(&mut selfplay);
}

fn evaluator_rates_and_plays_pairs(service: &mut Service) {
    let pairs = ["--run", "slow", "--pair-uncertain", "--wait", "--pairs", "1000"];
    let mut evaluator = stage(&service.store, "evaluator", &pairs);
    evaluator.wait_for_metric("tengen_pairs_total", 1.0);
    evaluator.wait_for_metric("tengen_rated_model_number", 1.0);
    service.look(&evaluator);
    drain(&mut evaluator);
    assert!(service.run.matches().all().unwrap().len() >= 4);
    let kept = service.store.path().join("evaluations");
    let plain = ["--pair", "slow-1", "random", "--games", "100000", "--cache-mib", "0", "--evalcache"];
    let mut rated = stage(&service.store, "evaluator", &[&plain[..], &[kept.to_str().unwrap()]].concat());
    rated.wait_for_metric("tengen_match_games_total", 1.0);
    rated.wait_for_metric("tengen_evalcache_hits_total", 1.0);
    service.look(&rated);
    drain(&mut rated);
}

fn inference_serves_until_it_drains(service: &mut Service) {
    let mut inference = stage(&service.store, "inference", &["--listen", "127.0.0.1:0", "--device", "cpu"]);
    inference.wait_for_metric("tengen_inference_credit_positions", 8192.0);
    assert_eq!(inference.page("/readyz").unwrap().0, 200);
    service.look(&inference);
    let log = drain(&mut inference);
    assert!(log.iter().any(|line| line.contains("inference server stopped")), "{log:?}");
}

#[test]
fn stages_drain_at_sigterm_and_serve_the_documented_metrics() {
    let mut service = Service::new();
    selfplay_publishes_what_is_finished(&mut service);
    selfplay_leaves_games_and_resumes_them(&mut service);
    let shuffler = shuffler_makes_shards(&mut service);
    trainer_saves_a_checkpoint(&mut service);
    trainer_publishes_and_waits_for_shards(&mut service);
    bootstrap_is_alive_and_saves_a_checkpoint(&mut service);
    selfplay_follows_the_resign_threshold(&mut service, shuffler);
    evaluator_rates_and_plays_pairs(&mut service);
    inference_serves_until_it_drains(&mut service);
    assert_documented(service.seen);
}

/// docs/METRICS.md has all metrics that were served, and no others.
fn assert_documented(seen: BTreeSet<String>) {
    let documented = described();
    let ours: BTreeSet<String> = seen.into_iter().filter(|name| name != "up").collect();
    assert_eq!(ours.difference(&documented).collect::<Vec<_>>(), [""; 0], "metrics that docs/METRICS.md does not know");
    // Nothing went wrong, and networks were in the processes.
    let rare = [
        "tengen_inference_client",
        "tengen_store_errors_total",
        "tengen_store_retries_total",
        "tengen_store_quarantined_files_total",
        "tengen_evalcache_errors_total",
        // Segments are published once a minute.
        "tengen_evalcache_written_bytes_total",
    ];
    let missing: Vec<_> =
        documented.difference(&ours).filter(|name| !rare.iter().any(|rare| name.starts_with(rare))).collect();
    assert_eq!(missing, [""; 0], "metrics of no program");
}

#[test]
fn tengen_run_serves_metrics_of_each_stage() {
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
    assert_eq!(metrics["tengen_train_augmentation_enabled"], 1.0);
    drain(&mut tengen);
}
