//! The program as it is run by hand.

use std::process::{Command, Output};

use store::Run;
use tempfile::TempDir;

use crate::{config, in_folder, play};

fn shuffler(folder: &TempDir, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_shuffler"));
    command.env_remove("TENGEN_RUN").env_remove("TENGEN_STORE");
    command.arg("--store").arg(folder.path()).args(arguments).output().unwrap()
}

fn ended(output: &Output, code: i32, said: &str) {
    let text = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert_eq!(output.status.code(), Some(code), "{text}");
    assert!(text.contains(said), "{text}");
}

fn a_run() -> (TempDir, Run) {
    let (folder, run) = in_folder();
    run.create(&config(&["loop.models=1"])).unwrap();
    (folder, run)
}

#[test]
fn dry_run_lists_missing_games_then_shards_are_published() {
    let (folder, run) = a_run();
    play(&run, 0, 0, 20);
    ended(&shuffler(&folder, &["--run", "r", "--dry-run"]), 0, "model 0 has 20 of the 40 games");
    ended(&shuffler(&folder, &["--run", "r", "--once"]), 1, "no shards were made: model 0 has 20 of the 40 games");
    play(&run, 0, 20, 40);
    ended(&shuffler(&folder, &["--run", "r", "--dry-run"]), 0, "sample: 100 of 100 examples");
    ended(&shuffler(&folder, &["--run", "r", "--once"]), 0, "100 examples for model 1");
    assert!(run.shards().manifest(1).unwrap().is_some());
}

#[test]
fn bad_arguments_and_configurations_exit_with_2_and_a_reason() {
    let (folder, run) = a_run();
    ended(&shuffler(&folder, &["--run", "other", "--once"]), 2, "there is no run other in ");
    ended(&shuffler(&folder, &["--run", "R", "--once"]), 2, "lower-case");
    ended(&shuffler(&folder, &["--once"]), 2, "--run");
    ended(
        &shuffler(&folder, &["--run", "r", "--once", "--generation", "0"]),
        2,
        "write a whole number from 1 to 999999",
    );
    ended(&shuffler(&folder, &["--run", "r", "--generation", "1"]), 2, "--generation is for --once and --dry-run");
    let bad = Command::new(env!("CARGO_BIN_EXE_shuffler")).args(["--store", "ftp://x", "--run", "r"]).output().unwrap();
    ended(&bad, 2, "cannot use ftp://x as a store");
    std::fs::write(folder.path().join("r/run.toml"), "seed = 1\nvisist = 2\n").unwrap();
    ended(&shuffler(&folder, &["--run", "r", "--once"]), 2, "r/run.toml: unknown key visist");
    drop(run);
}

#[test]
fn compact_option_puts_games_into_archives() {
    let (folder, run) = a_run();
    play(&run, 0, 0, 40);
    ended(&shuffler(&folder, &["--run", "r", "--compact"]), 0, "0 new archives of 0 games in 0 files");
    ended(
        &shuffler(&folder, &["--run", "r", "--compact=40"]),
        0,
        "1 new archives of 40 games in 4 files, 4 files of games",
    );
    assert_eq!(run.games().files(0).unwrap().len(), 4);
    ended(&shuffler(&folder, &["--run", "other", "--compact"]), 2, "there is no run other in ");
    ended(&shuffler(&folder, &["--run", "r", "--compact", "--once"]), 2, "cannot be used with");
    play(&run, 0, 40, 60);
    let damaged = folder.path().join("r/examples/000000/w-0000000000050.parquet");
    std::fs::write(damaged, "PAR1").unwrap();
    ended(&shuffler(&folder, &["--run", "r", "--compact=1"]), 1, "1 files of games were not archived");
}
