//! Engines of other authors as the programs meet them.

use std::fs;

use config::Preset;
use record::{EndReason, GameRecord};
use testing::{Tool, require};
use tests::{TestStore, repository, succeed};

/// A declaration of an engine that passes, and names the winner by `final_score`, a line of a shell.
fn passing(name: &str, final_score: &str) -> String {
    let script = format!(
        "while read -r id command arguments; do said=; case $command in protocol_version) said=2 ;; \
         genmove) said=pass ;; final_score) {final_score} ;; esac; printf '=%s %s\\n\\n' \"$id\" \"$said\"; done"
    );
    format!("[[engine]]\nname = '{name}'\ncommand = ['sh', '-c', {script:?}]\n")
}

#[test]
fn void_games_are_counted_after_the_match() {
    let store = TestStore::new();
    let engines = store.path().join("engines.toml");
    // Once it calls a game a draw that cannot be one.
    let once = format!("if mkdir {}/mark 2>/dev/null; then said=0; fi", store.path().display());
    fs::write(&engines, passing("Disputes", &once) + &passing("Passes", ":")).unwrap();
    let run = store.run("tiny");
    run.create(&Preset::Tiny.config()).unwrap();
    let mut evaluator = store.program("evaluator");
    evaluator.args(["--run", "tiny", "--engines"]).arg(&engines);
    let output = evaluator.args(["--pair", "Disputes", "Passes", "--games", "4"]).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    let counted = said.lines().find(|line| line.contains("games were void; exhausted ones were void three times"));
    assert!(counted.is_some_and(|line| line.contains("void=1 exhausted=0")), "{said}");
    let files = run.matches().files().unwrap();
    assert_eq!(files.iter().map(|file| run.matches().read(file).unwrap().len()).sum::<usize>(), 4);
}

#[test]
fn file_without_an_engine_is_a_warning() {
    let store = TestStore::new();
    store.run("tiny").create(&Preset::Tiny.config()).unwrap();
    let engines = store.path().join("engines.toml");
    fs::write(&engines, "").unwrap();
    let mut evaluator = store.program("evaluator");
    evaluator.args(["--run", "tiny", "--pair", "Captures", "Random", "--games", "2", "--engines"]);
    let output = evaluator.arg(&engines).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && said.contains("the file of --engines has no [[engine]] table"), "{said}");
}

/// A mistyped path of one engine does not stop the pairs of others.
#[test]
fn declared_engine_that_is_not_installed_is_a_warning_and_not_paired() {
    let store = TestStore::new();
    let run = store.run("tiny");
    run.create(&Preset::Tiny.with(&["evaluate.games_per_pair=2"]).unwrap()).unwrap();
    let engines = store.path().join("engines.toml");
    let missing = "[[engine]]\nname = 'Missing'\ncommand = ['/no/such/program']\n";
    fs::write(&engines, passing("Passes", ":") + missing).unwrap();
    let mut evaluator = store.program("evaluator");
    evaluator.args(["--run", "tiny", "--pair-uncertain", "--pairs", "2", "--engines"]);
    let output = evaluator.arg(&engines).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    let warning = said.lines().find(|line| line.contains("engines are not installed here, and not paired"));
    assert!(output.status.success() && warning.is_some_and(|line| line.contains("Missing")), "{said}");
    let results = run.matches().all().unwrap();
    assert!(results.len() == 4 && results.iter().all(|game| game.black != "Missing" && game.white != "Missing"));
}

/// The declarations in `configs/engines/gnugo.toml` work.
#[test]
fn gnugo_plays_whole_games_without_forfeit() {
    let Some(gnugo) = require(Tool::GnuGo) else { return };
    let store = TestStore::new();
    let read = |path: &str| fs::read_to_string(repository().join(path)).unwrap();
    let engines = store.path().join("gnugo.toml");
    fs::write(&engines, read("configs/engines/gnugo.toml").replace("/usr/games/gnugo", gnugo.to_str().unwrap()))
        .unwrap();
    let run = store.run("tiny");
    run.create(&Preset::Tiny.with(&["evaluate.visits=4"]).unwrap()).unwrap();
    for (pair, games) in [(["GnuGo-0", "Captures"], "6"), (["GnuGo-0-random-50", "uniform"], "4")] {
        let mut evaluator = store.program("evaluator");
        evaluator.args(["--run", "tiny", "--engines"]).arg(&engines);
        succeed(evaluator.arg("--pair").args(pair).args(["--games", games]));
    }
    let files = run.matches().files().unwrap();
    let games: Vec<GameRecord> = files.iter().flat_map(|file| run.matches().read(file).unwrap()).collect();
    assert_eq!(games.len(), 10);
    assert!(games.iter().all(|game| game.end != EndReason::Forfeit));
}
