//! All pages in a browser: runs that are watched and compared; games by clicks, touch and keys, and reviews.

use std::path::Path;
use std::process::Command;

use config::Preset;
use testing::{Tool, require};
use tests::{TestStore, program, repository, succeed};

use crate::inference::publish;

/// A check of `tests/python`, where its tools are there.
fn check(name: &str) -> Option<Command> {
    let (chromium, site) = (require(Tool::Chromium)?, require(Tool::Python)?);
    let mut python = Command::new("python3");
    python.env("PYTHONPATH", &site).env("CHROMIUM", chromium).arg("-B");
    python.arg(repository().join("tests/python").join(name));
    Some(python)
}

/// What a check says that serves an empty store.
fn served(name: &str) -> Option<String> {
    let mut python = check(name)?;
    let store = TestStore::new();
    Some(succeed(python.arg(program("tengen").get_program()).arg("--store").arg(store.path()).arg("serve")))
}

#[test]
fn visitors_play_games_in_chromium() {
    let Some(said) = served("check_play.py") else { return };
    assert!(said.contains("all pages for players work"), "{said}");
}

#[test]
fn visitors_review_games_in_chromium() {
    let Some(said) = served("check_review.py") else { return };
    assert!(said.contains("all reviews work"), "{said}");
}

#[test]
fn games_outlive_inference_servers_and_analyses_the_web_server_in_chromium() {
    let Some(mut python) = check("check_served.py") else { return };
    let (store, evaluations) = (TestStore::new(), TestStore::new());
    publish(&store.run("small"), 1, Preset::Tiny.config());
    python.env("TENGEN_THREADS", "1").arg(program("tengen").get_program()).arg(program("inference").get_program());
    let said = succeed(python.arg(store.path()).arg(evaluations.path()));
    assert!(said.contains("games go on, and analyses are found"), "{said}");
}

#[test]
fn runs_are_watched_and_compared_in_chromium() {
    let Some(mut python) = check("check_pages.py") else { return };
    let store = TestStore::new();
    python.env("TENGEN_THREADS", "2").arg(repository().join("configs/tiny.toml"));
    python.arg(program("tengen").get_program()).arg("--store").arg(store.path());
    let said = succeed(&mut python);
    assert!(said.contains("all pages of runs work"), "{said}");
}

#[test]
fn page_scripts_pass_the_type_check() {
    let Some(folder) = require(Tool::TypeScript) else { return };
    let own = folder.join("bin/node");
    let mut node = Command::new(if own.exists() { own.as_path() } else { Path::new("node") });
    let project = repository().join("web/tsconfig.json");
    node.arg(folder.join("node_modules/typescript/bin/tsc")).arg("--listFiles").arg("--project").arg(project);
    let read = succeed(&mut node);
    // A file that is not found is no error.
    for script in ["web/assets/review.js", "crates/page/assets/plots.js"] {
        assert!(read.lines().any(|line| line.ends_with(script)), "{script}: {read}");
    }
}
