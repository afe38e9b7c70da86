//! What the README tells people to type.

use std::fs;
use std::os::unix::fs::symlink;
use std::process::Command;

use testing::{Tool, require};
use tests::{program, repository, succeed};

/// The blocks of the README in one language.
fn blocks(language: &str) -> Vec<String> {
    let text = fs::read_to_string(repository().join("README.md")).unwrap();
    let fence = format!("```{language}\n");
    text.split(&fence).skip(1).map(|rest| rest.split("```").next().unwrap().to_owned()).collect()
}

#[test]
fn the_commands_of_the_readme_work() {
    let folder = tempfile::tempdir().unwrap();
    symlink(repository().join("configs"), folder.path().join("configs")).unwrap();
    // The README speaks of target/release; the tests have their programs elsewhere.
    let release = folder.path().join("target/release");
    fs::create_dir_all(&release).unwrap();
    for name in ["selfplay", "shuffler", "trainer", "evaluator", "tengen"] {
        symlink(program(name).get_program(), release.join(name)).unwrap();
    }

    let script = blocks("sh").join("\n");
    assert!(script.contains("selfplay") && script.contains("tengen gtp"), "{script}");
    let said = succeed(Command::new("bash").args(["-e", "-c", &script]).current_dir(folder.path()));
    assert!(said.contains("try-1") && said.contains("random"), "{said}");

    let Some(site) = require(Tool::Python) else { return };
    for script in blocks("python") {
        let mut python = Command::new("python3");
        let said = succeed(python.env("PYTHONPATH", &site).current_dir(folder.path()).args(["-c", &script]));
        assert!(said.contains("random"), "{said}");
    }
}
