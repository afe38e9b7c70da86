//! What `tengen study ladders` prints.

use serde_json::Value;
use tests::{fail, program, succeed};

#[test]
fn every_way_of_searching_has_a_line() {
    let mut command = program("tengen");
    command.args([
        "study",
        "ladders",
        "--model",
        "uniform",
        "--size",
        "9",
        "--positions",
        "2",
        "--visits",
        "20",
        "--json",
    ]);
    let text = succeed(&mut command);
    let rows: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(rows.len(), 10, "the policy alone, and three rules by three widths");
    for row in rows {
        // A search that knows nothing begins with the first point, which is no part of any ladder.
        let rate = |kind: usize| row["rates"][kind]["share"].as_f64().unwrap();
        assert_eq!([rate(0), rate(1), rate(2), rate(3)], [0.0, 1.0, 0.0, 1.0], "{row}");
    }
    // Boards are drawings, and no JSON.
    let (code, said) = fail(command.arg("--show"));
    assert!(code == 2 && said.contains("--show"), "{code}: {said}");
}

#[test]
fn size_that_cannot_be_studied_is_named_before_the_table() {
    for (model, size, expected) in [
        ("9x9-demo", "13", "--size is 13, and 9x9-demo-1 plays on 9x9 boards; leave out --size"),
        ("uniform", "5", "a board of 5x5 is too small for ladders; try 7 or more"),
    ] {
        let words = ["study", "ladders", "--model", model, "--size", "9", "--size", size];
        let output = program("tengen").args(words).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.contains(expected), "{said}");
        assert!(output.stdout.is_empty(), "{}", String::from_utf8_lossy(&output.stdout));
    }
}
