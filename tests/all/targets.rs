//! What `tengen study targets` prints.

use serde_json::Value;
use tests::{fail, program, succeed};

fn targets(model: &str, more: &[&str]) -> Value {
    let mut command = program("tengen");
    command.args(["study", "targets", "--model", model, "--positions", "6", "--searches", "8", "--json"]).args(more);
    serde_json::from_str(&succeed(&mut command)).unwrap()
}

fn mean(summary: &Value, key: &str) -> f64 {
    summary[key]["mean"].as_f64().unwrap()
}

/// A model whose outputs are random each time leaves more to chance than one that always gives the same,
/// whose searches differ only by the moves that are sampled and the symmetries that are drawn.
#[test]
fn policies_of_a_model_that_throws_dice_are_chance() {
    let random = targets("random", &[]);
    let demo = targets("9x9-demo", &["--set", "search.visits=8"]);
    for summary in [&random, &demo] {
        assert!(mean(summary, "chance") > 0.0 && mean(summary, "to_learn") > 0.0, "{summary}");
    }
    assert!(mean(&demo, "chance") < mean(&random, "chance"), "{demo} {random}");
    assert!(mean(&demo, "mean_right") > mean(&random, "mean_right"), "{demo} {random}");
}

#[test]
fn models_that_are_not_there_are_refused() {
    let mut command = program("tengen");
    command.args(["study", "targets", "--model", "9x9-demo", "--models", "2"]);
    let (code, text) = fail(&mut command);
    assert!(code == 2 && text.contains("--models 2") && text.contains("9x9-demo-1"), "{code}: {text}");
}
