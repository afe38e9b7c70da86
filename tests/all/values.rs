//! What `tengen study values` prints.

use serde_json::Value;
use tempfile::TempDir;
use tests::{fail, program, succeed};

const POSITIONS: &str = r#"{"moves": [], "value": 0.0, "visits": [["e5", 300], ["d5", 100]]}
{"moves": ["e5", "c3"], "value": 0.5, "visits": [["g7", 400]]}
{"moves": ["e5"], "value": -0.5, "visits": [["c3", 1]], "score": 2.0}
"#;

#[test]
fn values_of_a_model_are_compared_with_a_file() {
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("positions.jsonl");
    std::fs::write(&file, POSITIONS).unwrap();
    let command = |words: &[&str]| {
        let mut tengen = program("tengen");
        tengen.args(["study", "values", "--model", "uniform", "--visits", "1,8", "--positions"]).arg(&file).args(words);
        tengen
    };
    let text = succeed(&mut command(&["--json"]));
    let rows: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(rows.len(), 2);
    // All values of the uniform model are 0: (0 + 0.25 + 0.25) / 3. Its policy has all points, since passing is no choice so early.
    let number = |key: &str| rows[0][key]["mean"].as_f64().unwrap();
    assert!((number("squared_error") - 0.5 / 3.0).abs() < 1e-6, "{text}");
    let nats = (81f64.ln() + 79f64.ln() + 80f64.ln()) / 3.0;
    assert!((number("cross_entropy") - nats).abs() < 1e-3, "{text}");
    assert_eq!(rows[1]["visits"], 8);
    assert!(succeed(&mut command(&[])).contains("uniform on 3 positions"));

    std::fs::write(&file, "{\"moves\": [\"e5\", \"e5\"], \"value\": 0, \"visits\": [[\"c3\", 1]]}\n").unwrap();
    let (code, said) = fail(&mut command(&[]));
    assert_eq!(code, 2, "{said}");
    assert!(said.contains("positions.jsonl, line 1: move \"e5\""), "{said}");
}
