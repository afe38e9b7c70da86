//! Human games become games of a run.

use std::fs;
use std::path::Path;
use std::process::Command;

use tests::{TestStore, fail, games_of, repository, succeed, without_reader};

const SAMPLE: &str = "crates/go/tests/data/human-9d-sample.sgf";

/// `tengen import-sgf` of some files into a run on 19x19.
fn import(store: &TestStore, files: &[&Path]) -> Command {
    let mut command = store.program("tengen");
    command.args(["import-sgf", "--run", "human", "--set", "game.size=19", "--set", "selfplay.first_games=20"]);
    command.arg("--config").arg(repository().join("configs/tiny.toml")).args(files);
    command
}

fn sound(store: &TestStore) {
    let said = succeed(store.program("tengen").args(["audit", "human"]));
    assert!(said.contains(": 0 problems"), "{said}");
}

#[test]
fn human_games_become_games_of_a_run() {
    let store = TestStore::new();
    let sample = repository().join(SAMPLE);
    let said = succeed(&mut import(&store, &[&sample]));
    assert_eq!(said, "imported 20 games with 4627 positions, 0 duplicates, 0 skipped\n");
    sound(&store);
    // Again, and under another name.
    let copy = store.path().join("copy.sgf");
    fs::copy(&sample, &copy).unwrap();
    let said = succeed(&mut import(&store, &[&sample, &copy]));
    assert_eq!(said, "imported 0 games with 0 positions, 40 duplicates, 0 skipped\n");
    let shuffled = succeed(store.program("shuffler").args(["--run", "human", "--once"]));
    assert!(shuffled.contains("640 examples for model 1"), "{shuffled}");
    sound(&store);
}

/// Readers take the time in the name of a file for that of its publication.
#[test]
fn imported_files_have_the_time_of_the_import() {
    let store = TestStore::new();
    let sample = repository().join(SAMPLE);
    let before = runtime::unix_millis();
    let said = succeed(import(&store, &[&sample]).args(["--set", "selfplay.games_per_file=3"]));
    assert!(said.starts_with("imported 20 games "), "{said}");
    let run = store.run("human");
    let games = run.games();
    let files = games.files(0).unwrap();
    assert!(files.len() == 7 && files.iter().all(|file| file.stem.time() >= before), "{before}: {files:?}");
    let in_order: Vec<u64> =
        files.iter().flat_map(|file| games.summaries(file).unwrap()).map(|game| game.index).collect();
    assert_eq!(in_order, (0..20).collect::<Vec<u64>>());
    let said = succeed(store.program("tengen").args(["status", "human", "--json"]));
    let status: serde_json::Value = serde_json::from_str(&said).unwrap();
    assert!(status[0]["idle_seconds"].as_u64().is_some_and(|seconds| seconds < 24 * 3600), "{said}");
    // The rate is that of self-play.
    assert!(status[0].get("games_per_hour").is_some_and(serde_json::Value::is_null), "{said}");
    sound(&store);
}

/// A stop request made it publish fewer games than a file has, and a second one ended it while it did.
#[test]
fn import_that_was_killed_while_it_published_is_resumed() {
    let store = TestStore::new();
    let sample = repository().join(SAMPLE);
    succeed(&mut import(&store, &[&sample]));
    let run = store.run("human");
    let file = run.games().files(0).unwrap().remove(0);
    let games = run.games().count(&file).unwrap();
    for folder in ["games", "examples", "holdout"] {
        // A file may have no games of the validation set.
        drop(fs::remove_file(store.path().join(format!("human/{folder}/{file}.parquet"))));
    }
    fs::write(store.path().join(format!("human/sgf/{file}.sgf")), "(;SZ[19])\n").unwrap();
    let said = succeed(&mut import(&store, &[&sample]));
    assert!(said.starts_with(&format!("imported {games} games ")), "{said}");
    let run = store.run("human");
    let found: Vec<usize> = run.games().files(0).unwrap().iter().map(|file| run.games().count(file).unwrap()).collect();
    assert_eq!(found.iter().sum::<usize>(), 20, "{found:?}");
}

#[test]
fn files_that_are_not_there_begin_no_run() {
    let store = TestStore::new();
    let sample = repository().join(SAMPLE);
    for (file, reason) in [("absent.sgf", "No such file"), ("", "is a directory")] {
        let path = store.path().join(file);
        let (code, said) = fail(&mut import(&store, &[&sample, &path]));
        assert!(code == 2 && said.contains(&format!("cannot read {}: {reason}", path.display())), "{code}: {said}");
    }
    assert!(!store.run("human").exists().unwrap());
    let broken = store.path().join("broken.sgf.gz");
    fs::write(&broken, [0x1f, 0x8b, 8, 0]).unwrap();
    let (code, said) = fail(&mut import(&store, &[&broken]));
    assert!(code == 2 && said.contains("cannot read "), "{code}: {said}");
}

/// The next command would train on it.
#[test]
fn import_of_no_game_is_an_error_and_begins_no_run() {
    let store = TestStore::new();
    let file = store.path().join("small.sgf");
    for text in ["(;SZ[9]KM[6.5]RE[B+R];B[aa];W[bb])", ""] {
        fs::write(&file, text).unwrap();
        let (code, said) = fail(&mut import(&store, &[&file]));
        assert!(code == 2 && said.contains("no game was imported"), "{code}: {said}");
        assert_eq!(store.files(), ["small.sgf"]);
    }
    // A run that is there has its games, and its configuration is compared whatever the records are.
    let sample = repository().join(SAMPLE);
    succeed(&mut import(&store, &[&sample]));
    succeed(&mut import(&store, &[&file, &sample]));
    let (code, said) = fail(import(&store, &[&file]).args(["--set", "search.visits=3"]));
    assert!(code == 2 && said.contains("describes another run"), "{code}: {said}");
}

#[test]
fn records_that_are_of_no_use_are_listed() {
    let store = TestStore::new();
    let sample = fs::read_to_string(repository().join(SAMPLE)).unwrap();
    let (first, rest) = sample.split_at(sample.find("\n(;").unwrap() + 1);
    let broken = [
        ("(;SZ[9]KM[6.5]RE[B+R];B[aa];W[bb])", "it is on 9x9, and the run on 19x19"),
        ("(;SZ[19]KM[6.5]RE[B+T];B[aa];W[bb])", "result B+T has no score"),
        ("(;SZ[19]KM[6.5];B[aa];W[bb])", "it has no result"),
        ("(;SZ[19]RE[B+R];B[aa];W[bb])", "komi (KM) is missing"),
        ("(;SZ[19]KM[6.5]RE[B+R])", "it has no moves"),
        ("(;SZ[19]KM[6.5]RE[B+R]HA[2]AB[dd][pp];W[aa])", "stones are set up before the first move"),
        ("(;SZ[19]KM[6.5]RE[B+R];B[aa];B[bb])", "move 2 is out of turn"),
        ("(;SZ[19]KM[6.5]RE[B+R];B[aa];W[aa])", "move 2 (white A19)"),
        ("(;SZ[19]KM[6.5]RE[B+R];B[];W[];B[aa])", "moves follow two passes"),
        ("(;GM[2];B[aa])", "GM[2] is not Go"),
        ("(;SZ[19]KM[6.5]RE[B+R];B[aa", "has no end"),
    ];
    let lines: String = broken.iter().map(|(text, _)| format!("{text}\n")).collect();
    let file = store.path().join("mixed.sgf");
    fs::write(&file, format!("{first}{lines}{rest}")).unwrap();
    let said = succeed(&mut import(&store, &[&file]));
    for (number, (_, why)) in broken.iter().enumerate() {
        let line = format!("mixed.sgf, game {}: skipped: ", number + 2);
        let found = said.lines().find(|said| said.contains(&line));
        assert!(found.is_some_and(|found| found.contains(why)), "{line}{why}:\n{said}");
    }
    assert!(said.contains("imported 20 games") && said.contains("11 skipped"), "{said}");
    sound(&store);
}

/// As with `| head`, to see why records are skipped.
#[test]
fn import_is_complete_although_no_reader_of_its_list_is_there() {
    let store = TestStore::new();
    let sample = fs::read_to_string(repository().join(SAMPLE)).unwrap();
    let file = store.path().join("mixed.sgf");
    fs::write(&file, format!("(;SZ[19]KM[6.5];B[aa];W[bb])\n{sample}")).unwrap();
    let output = import(&store, &[&file]).stdout(without_reader()).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    let run = store.run("human");
    let files = run.games().files(0).unwrap();
    assert_eq!(files.iter().map(|file| run.games().count(file).unwrap()).sum::<usize>(), 20);
}

/// `TENGEN_SGF_COLLECTION=FILE` imports a larger collection of games on 19x19 than the sample.
#[test]
fn import_of_a_collection_publishes_every_game_it_counts() {
    let sample = || repository().join(SAMPLE).into();
    let path = std::env::var_os("TENGEN_SGF_COLLECTION").unwrap_or_else(sample);
    let store = TestStore::new();
    let said = succeed(import(&store, &[Path::new(&path)]).args(["--set", "selfplay.games_per_file=200"]));
    let imported: usize = said.split(' ').nth(1).unwrap().parse().unwrap();
    let published = games_of(&store.run("human"), 0).len();
    assert!(imported > 0 && published == imported, "{published} games are published: {said}");
    sound(&store);
}
