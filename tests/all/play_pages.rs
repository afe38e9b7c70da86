//! The pages for players in a browser: games by clicks, touch and keys, reviews, and what is refused.

use std::process::Command;

use testing::{Tool, require};
use tests::{TestStore, program, repository, succeed};

#[test]
fn visitors_play_and_review_games_in_chromium() {
    let (Some(chromium), Some(site)) = (require(Tool::Chromium), require(Tool::Python)) else { return };
    let store = TestStore::new();
    let mut python = Command::new("python3");
    python.env("PYTHONPATH", &site).env("CHROMIUM", chromium).arg(repository().join("tests/python/check_play.py"));
    python.arg(program("tengen").get_program()).arg("--store").arg(store.path()).arg("serve");
    let said = succeed(&mut python);
    assert!(said.contains("all pages for players work"), "{said}");
}
