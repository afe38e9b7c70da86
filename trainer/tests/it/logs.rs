//! What is written down.

use serde_json::Value;

use crate::{examples, publish, run, train, train_some};

#[test]
fn every_stretch_of_training_leaves_lines_and_events() {
    let run = run();
    publish(&run, 1, &examples(1, 6 * 16), 40);
    assert!(train_some(&run, 2).is_none());
    train(&run).unwrap();
    let logs = run.logs().unwrap();
    let lines: Vec<&String> =
        logs.iter().filter(|name| name.starts_with("000001-") && name.ends_with(".jsonl")).collect();
    let events = logs.iter().filter(|name| name.starts_with("events.out.tfevents.") && name.ends_with(".000001"));
    assert_eq!((lines.len(), events.count(), logs.len()), (2, 2, 4));
    let text: String = lines.iter().map(|name| String::from_utf8(run.log(name).unwrap().to_vec()).unwrap()).collect();
    let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let steps: Vec<u64> = lines.iter().map(|line| line["step"].as_u64().unwrap()).collect();
    assert_eq!(steps, [2, 6]);
    for line in &lines {
        assert_eq!((&line["set"], &line["generation"]), (&Value::from("train"), &Value::from(1)));
        for key in ["policy", "value", "l2", "total", "accuracy", "learning_rate", "examples_per_second"] {
            assert!(line[key].is_f64(), "{key} in {line}");
        }
    }
}
