//! What a run writes opens in the tools people have.

use std::process::Command;

use testing::{Tool, require};
use tests::{TestStore, program, repository, succeed};

/// Ratings against `choix` and scipy, on random tables and on those that have no finite solution.
#[test]
fn ratings_agree_with_other_peoples_arithmetic() {
    let Some(site) = require(Tool::Python) else { return };
    let mut python = Command::new("python3");
    python.env("PYTHONPATH", &site).arg(repository().join("tests/python/check_ratings.py"));
    let said = succeed(python.arg(program("evaluator").get_program()));
    assert!(said.contains("10 random tables agree"), "{said}");
}

#[test]
fn python_opens_every_file_of_a_run() {
    let Some(site) = require(Tool::Python) else { return };
    let store = TestStore::new();
    succeed(
        store.program("tengen").arg("run").arg(repository().join("configs/tiny.toml")).args(["--set", "loop.models=1"]),
    );
    let mut python = Command::new("python3");
    python.env("PYTHONPATH", &site).arg(repository().join("python/open_run.py")).arg(store.path().join("tiny"));
    let said = succeed(&mut python);
    for kind in ["games:", "examples:", "shards:", "matches:", "ratings:", "weights.safetensors:"] {
        assert!(said.contains(kind), "{said}");
    }

    let page = store.path().join("report.html");
    succeed(store.program("evaluator").args(["report", "--run", "tiny"]).arg(&page));
    let mut python = Command::new("python3");
    python.env("PYTHONPATH", &site).arg(repository().join("tests/python/check_report.py"));
    let said = succeed(python.arg(&page).arg(store.path().join("tiny")));
    assert!(said.contains("numbers of the page are those of the store"), "{said}");
}
