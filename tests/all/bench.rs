//! What `tengen bench` prints.

use serde_json::Value;
use testing::{Tool, require};
use tests::{TestStore, fail, program, succeed};

/// A tower that takes no time.
const TOWER: [&str; 6] = ["--size", "5", "--blocks", "1", "--filters", "8"];

fn bench(what: &str, args: &[&str]) -> Vec<Value> {
    let text = succeed(program("tengen").args(["bench", what, "--json", "--seconds", "0.05"]).args(args));
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn number(case: &Value, key: &str) -> f64 {
    case[key].as_f64().unwrap_or_else(|| panic!("{key} is a number in {case}"))
}

#[test]
fn bench_search_has_a_case_for_each_board_and_algorithm() {
    let search = bench("search", &["--size", "5", "--size", "7", "--visits", "50"]);
    assert_eq!(search.len(), 4, "two boards, two algorithms");
    for case in search {
        assert!(case["bench"] == "search" && number(&case, "visits_per_s_per_core") > 0.0, "{case}");
    }
}

#[test]
fn bench_search_refuses_keys_that_it_sets() {
    for set in ["game.size=7", "search.visits=5"] {
        let (code, said) = fail(program("tengen").args(["bench", "search", "--set", set]));
        assert!(code == 2 && said.contains(&format!("--set {set}: ")), "{code}: {said}");
    }
}

#[test]
fn bench_data_measures_shuffling_loading_and_bytes() {
    let data = bench("data", &["--size", "5", "--window", "3000", "--examples", "512", "--visits", "20"]);
    let names: Vec<&Value> = data.iter().map(|case| &case["bench"]).collect();
    assert_eq!(names, ["shuffle", "load", "bytes"]);
    assert!(number(&data[0], "examples") == 512.0 && number(&data[0], "window_positions") >= 3000.0, "{data:?}");
    assert!(number(&data[1], "examples_per_s_per_core") > 0.0);
    assert!(number(&data[2], "games_bytes") > 0.0 && number(&data[2], "examples_bytes") > 0.0, "{data:?}");
}

#[test]
fn bench_data_refuses_runs_in_buckets() {
    let store = TestStore::on_server();
    let (code, said) = fail(store.program("tengen").args(["bench", "data", "--run", "v1"]));
    let expected = format!("--run measures files in a folder, and {} is none", store.place());
    assert!(code == 2 && said.contains(&expected), "{code}: {said}");
}

#[test]
fn bench_network_measures_speed_and_agreement() {
    let network = bench("network", &[&TOWER[..], &["--batch", "4", "--positions", "64"]].concat());
    let names: Vec<&Value> = network.iter().map(|case| &case["bench"]).collect();
    let engines: Vec<&Value> = network.iter().filter_map(|case| case.get("engine")).collect();
    assert_eq!(engines[1..], ["f32", "plain libtorch"]);
    assert_eq!(names[..4], ["network", "network", "network", "agreement"]);
    assert!(number(&network[0], "ratio") == 1.0 && network[3]["precision"] == "int16");
    assert!(number(&network[3], "top_1") > 0.5 && number(&network[3], "mean_policy_kl") < 0.01, "{network:?}");
}

#[test]
fn bench_network_measures_libraries_of_python_in_the_same_run() {
    let Some(site) = require(Tool::Python) else { return };
    let against = [&TOWER[..], &["--batch", "4", "--positions", "64", "--against", "onnxruntime"]].concat();
    let mut command = program("tengen");
    command.args(["bench", "network", "--json", "--seconds", "0.05"]).args(&against);
    let text = succeed(command.env("PYTHONPATH", site));
    let cases: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert!(cases[3]["engine"].as_str().unwrap().starts_with("onnxruntime 1."), "{text}");
    assert!(number(&cases[3], "ratio") > 0.0 && number(&cases[3], "gflop_per_s") > 0.0, "{text}");
    // The ratio is by time on a core, of the library as of ours; two clocks never agree to the last bit.
    let [wall, core] = ["evaluations_per_s", "evaluations_per_s_per_core"].map(|rate| number(&cases[3], rate));
    assert!(core > 0.0 && core != wall, "{text}");

    let mut command = program("tengen");
    command.args(["bench", "network", "--seconds", "0.05"]).args(&against).args(["--python", "/absent/python"]);
    let output = command.output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("cannot start /absent/python"));
}

#[test]
fn bench_train_has_one_case() {
    let train = bench("train", &[&TOWER[..], &["--set", "train.batch=32"]].concat());
    assert!(train.len() == 1 && train[0]["bench"] == "train" && number(&train[0], "share") > 0.0, "{train:?}");
    assert!((0.0..1.0).contains(&number(&train[0], "waited_share")), "{train:?}");
}

#[test]
fn bench_gpu_is_refused_on_a_cpu_and_on_a_gpu_that_is_not_there() {
    // No machine has so many.
    for (device, problem) in [("cpu", "this benchmark is for GPUs; use bench network"), ("cuda:1048576", "GPU")] {
        let (code, message) = fail(program("tengen").args(["bench", "gpu", "--size", "5", "--device", device]));
        assert!(code == 2 && message.contains(problem), "{message}");
    }
}

#[test]
fn bench_selfplay_measures_evaluations() {
    let selfplay = bench("selfplay", &[&TOWER[..], &["--set", "game.komi=0.5"]].concat());
    assert!(number(&selfplay[0], "evaluations_per_s") > 0.0 && number(&selfplay[0], "fill") <= 1.0);
}

#[test]
fn bench_selfplay_with_a_null_network_prints_the_time_of_each_part() {
    for inputs in ["history", "tactics"] {
        let given = format!("network.inputs={inputs}");
        let null = bench("selfplay", &["--null-network", "--size", "5", "--threads", "1", "--set", &given]);
        assert!(null.len() == 1 && null[0]["inputs"] == inputs, "{null:?}");
        let parts = ["planes_us", "cache_us", "search_us"].map(|part| number(&null[0], part));
        let whole = 1e6 / number(&null[0], "evaluations_per_s_per_core");
        assert!(parts.iter().all(|&part| part > 0.0) && (parts.iter().sum::<f64>() / whole - 1.0).abs() < 1e-6);
    }
}

#[test]
fn bench_inference_measures_bytes_throughput_share_latency_and_failures() {
    let args = ["--clients", "2", "--client-batch", "8", "--failures", "1"];
    let inference = bench("inference", &[&TOWER[..], &args].concat());
    let named = |name: &str| inference.iter().filter(|case| case["bench"] == name).collect::<Vec<_>>();
    let bytes = named("inference bytes");
    let of = |board: u64| bytes.iter().find(|case| case["board"] == board && case["inputs"] == "history").unwrap();
    assert_eq!((number(of(19), "exact"), number(of(19), "f16")), (2175.0, 1449.0));
    let throughput = named("inference without network");
    let transports: Vec<&Value> = throughput.iter().map(|case| &case["transport"]).collect();
    assert_eq!(transports, ["plain", "TLS", "Unix socket", "plain", "TLS", "Unix socket"]);
    assert!(throughput.iter().all(|case| number(case, "positions_per_s") > 0.0), "{throughput:?}");
    let [share, latency] = [named("inference share"), named("inference latency")];
    assert!(share.len() == 1 && number(share[0], "share") > 0.0, "{share:?}");
    assert!(number(latency[0], "added_p99_us") >= number(latency[0], "added_p50_us"), "{latency:?}");
    let [failures, returns] = [named("inference failure"), named("inference return")];
    for cases in [&failures, &returns] {
        let events: Vec<&Value> = cases.iter().map(|case| &case["event"]).collect();
        assert_eq!(events, ["kill -9", "SIGSTOP", "SIGSTOP, new model"]);
    }
    for case in failures {
        assert!(number(case, "lost") == 0.0 && number(case, "differing") == 0.0, "{case}");
        assert!(number(case, "batches") > 0.0 && number(case, "stall_most_ms") > 0.0, "{case}");
    }
    for case in returns {
        assert!(number(case, "first_ms") > 0.0 && number(case, "last_ms") >= number(case, "first_ms"), "{case}");
    }
}

#[test]
fn bench_without_json_prints_a_line_for_each_case() {
    let text = succeed(program("tengen").args(["bench", "search", "--size", "5", "--seconds", "0.05"]));
    assert!(text.starts_with("search 5x5, puct, 800 visits a move: ") && text.lines().count() == 2, "{text}");
}
