//! `tengen plan` as a person runs it.

use std::process::Command;

use serde_json::Value;
use tests::{TestStore, code_of_absent_gpu, fail, program, repository, succeed};

fn plan(store: &TestStore, args: &[&str]) -> Command {
    let mut command = store.program("tengen");
    command.args(["plan", "--seconds", "0.5", "--device", "cpu"]).args(args);
    command
}

fn tiny() -> String {
    repository().join("configs/tiny.toml").display().to_string()
}

#[test]
fn plan_of_a_configuration_has_time_memory_disk_and_workers() {
    let store = TestStore::on_server();
    let json = succeed(&mut plan(&store, &["--config", &tiny(), "--set", "loop.models=40", "--json"]));
    let found: Value = serde_json::from_str(&json).unwrap();
    let forecast = &found["forecasts"][0];
    let number = |value: &Value, key: &str| value[key].as_f64().unwrap_or_else(|| panic!("{key} in {json}"));
    let phases = forecast["phases"].as_array().unwrap();
    let bounds: Vec<_> = phases.iter().map(|phase| (&phase["first_model"], &phase["last_model"])).collect();
    assert_eq!(format!("{bounds:?}"), "[(Number(0), Number(0)), (Number(1), Number(1)), (Number(2), Number(39))]");
    for phase in phases {
        for key in ["positions_per_s", "examples_per_s", "play_seconds", "train_seconds", "workers_per_trainer"] {
            assert!(number(phase, key) > 0.0, "{key} in {json}");
        }
    }
    let parts: f64 = phases
        .iter()
        .flat_map(|phase| ["play", "shuffle", "train", "store"].map(|part| number(phase, &format!("{part}_seconds"))))
        .sum();
    assert!((number(forecast, "seconds") - parts - number(forecast, "match_seconds")).abs() < 1e-6, "{json}");
    assert!(number(forecast, "memory_bytes") > 1e6 && number(forecast, "disk_bytes") > 1e6, "{json}");
    assert!(number(&found, "store_request_seconds") > 0.0 && found["fits"] == Value::String(tiny()), "{json}");
    assert_eq!(forecast["strength"], Value::Array(Vec::new()), "5x5 was not measured");
}

#[test]
fn plan_for_people_names_the_source_of_strengths() {
    let store = TestStore::new();
    let nine = repository().join("configs/9x9.toml").display().to_string();
    let text = succeed(&mut plan(&store, &["--config", &nine, "--set", "loop.models=26"]));
    assert!(text.contains("  models 25 to 25, 4x32, 16 visits: play "), "{text}");
    assert!(text.contains("  model 8 after ") && text.contains(": -307 ± 213 Elo"), "{text}");
    assert!(text.contains("experiments/0064-rating-curve-9x9") && !text.contains("model 40"), "{text}");
}

#[test]
fn plan_with_bad_input_says_what_to_change() {
    let store = TestStore::new();
    for (args, expected, code) in [
        (vec!["--config", "absent.toml"], "absent.toml", 2),
        (vec!["--set", "search.visit=8"], "did you mean search.visits?", 2),
        (vec!["--hours", "-1"], "--hours", 2),
        (vec!["--config", &tiny(), "--device", "cuda:1000"], "GPU", code_of_absent_gpu()),
    ] {
        let (found, said) = fail(program("tengen").args(["plan", "--store", &store.place()]).args(&args));
        assert!(found == code && said.contains(expected), "{args:?}: {found}: {said}");
    }
}
