//! What `tengen study depth` prints.

use serde_json::Value;
use tests::{fail, program, succeed};

/// A move that is no loss looks better than all that were not tried, where those count as lost.
#[test]
fn init_to_loss_searches_deeper_and_visits_fewer_moves() {
    let mut command = program("tengen");
    command.args(["study", "depth", "--model", "random", "--positions", "12", "--visits", "100", "--json"]);
    let text = succeed(&mut command);
    let rows: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(rows.len(), 15, "three rules and two differences, by three sides");
    let loss = rows.iter().find(|row| row["q_init"] == "loss" && row["less"] == "parent" && row["side"] == "all");
    let mean = |key: &str| loss.unwrap()[key]["mean"].as_f64().unwrap();
    assert!(mean("mean_depth") > 0.0 && mean("moves") < 0.0, "{text}");
}

#[test]
fn key_that_the_study_sets_is_refused() {
    for (study, set) in [
        ("depth", "search.algorithm=gumbel"),
        ("depth", "search.q_init=zero"),
        ("depth", "search.visits=9"),
        ("ladders", "game.size=7"),
        ("ladders", "search.leaves=8"),
        ("ladders", "search.q_init=zero"),
        ("ladders", "search.visits=9"),
        ("values", "search.visits=9"),
    ] {
        let mut command = program("tengen");
        command.args(["study", study, "--model", "uniform", "--set", set]);
        if study == "values" {
            command.args(["--positions", "absent.jsonl"]);
        }
        let (code, said) = fail(&mut command);
        assert!(code == 2 && said.contains(&format!("--set {set}: this study sets the key itself")), "{code}: {said}");
    }
}
