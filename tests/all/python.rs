//! What a run writes opens in the tools people have.

use std::process::Command;

use tests::{TestStore, repository, succeed};

#[test]
fn python_opens_every_file_of_a_run() {
    let site = repository().join(".venv/site");
    if !site.exists() {
        eprintln!("not checked: the Python libraries are not set up; `make test` does it with scripts/setup-python");
        return;
    }
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
}
