//! `--evalcache`: evaluations that later processes find.

use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;
use testing::s3::Server;
use tests::{converse, fail, old_file, program, succeed, without_reader};

const SCRIPT: &[u8] = b"boardsize 9\nkomi 7\nplay b E5\ngenmove w\ngenmove b\nshowboard\nquit\n";

/// What `tengen gtp` says to the script.
fn game(options: &[&str]) -> String {
    let mut tengen = program("tengen");
    tengen.args(["gtp", "--model", "9x9-demo", "--visits", "40", "--device", "cpu"]).args(options);
    let output = converse(&mut tengen, SCRIPT);
    assert!(output.status.success());
    String::from_utf8(output.stdout).unwrap()
}

fn evalcache(folder: &Path, words: &[&str]) -> Command {
    let mut tengen = program("tengen");
    tengen.arg("--store").arg(folder).arg("evalcache").args(words);
    tengen
}

#[test]
fn second_game_finds_all_evaluations_and_plays_the_same() {
    let folder = TempDir::new().unwrap();
    let options = ["--evalcache", folder.path().to_str().unwrap()];
    let none = evalcache(folder.path(), &["list"]).output().unwrap();
    assert!(none.status.success() && none.stdout.is_empty());
    assert!(String::from_utf8_lossy(&none.stderr).contains("no evaluations here"));
    let first = game(&options);
    let listed = succeed(&mut evalcache(folder.path(), &["list"]));
    assert!(listed.contains("-9x9-komi-canonical-2048-") && listed.contains("; segments: 1; "), "{listed}");
    assert_eq!(game(&options), first);
    // Nothing was added.
    assert_eq!(succeed(&mut evalcache(folder.path(), &["list"])), listed);

    let set = listed.split(':').next().unwrap();
    let (games, table) = (folder.path().join("game.sgf"), folder.path().join("table.parquet"));
    std::fs::write(&games, "(;GM[1]SZ[9]KM[7];B[ee])").unwrap();
    let paths = ["--sgf", games.to_str().unwrap(), "--out", table.to_str().unwrap()];
    let old = old_file(&table);
    let said = succeed(&mut evalcache(folder.path(), &[&["export", set], &paths[..]].concat()));
    // The empty board was not searched.
    assert!(said.starts_with("1 of 2 positions"), "{said}");
    assert!(std::fs::read(&table).unwrap().starts_with(b"PAR1"));
    assert_eq!(std::fs::read_to_string(old).unwrap(), "old", "it is replaced once the new one is whole");
    let said = succeed(&mut evalcache(folder.path(), &["compact"]));
    assert!(said.contains(": 0 segments merged, 0 deleted, 0 damaged blocks; evaluations: "), "{said}");
}

/// As behind `| head -1`.
#[test]
fn all_sets_are_compacted_although_no_reader_of_the_counts_is_there() {
    let folder = TempDir::new().unwrap();
    for steps in ["256", "2048"] {
        game(&["--evalcache", folder.path().to_str().unwrap(), "--evalcache-steps", steps]);
    }
    let files = |of: &Path| std::fs::read_dir(of).unwrap().map(|entry| entry.unwrap().path()).collect::<Vec<_>>();
    let sets = files(&folder.path().join("evalcache"));
    assert_eq!(sets.len(), 2, "{sets:?}");
    for set in &sets {
        // As of two processes that played the same game.
        std::fs::copy(set.join("000001.segment"), set.join("000002.segment")).unwrap();
    }
    let output = evalcache(folder.path(), &["compact"]).stdout(without_reader()).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    for set in &sets {
        assert_eq!(files(set), [set.join("000003.segment")]);
    }
}

#[test]
fn damage_is_listed_and_the_game_continues() {
    let folder = TempDir::new().unwrap();
    let options = ["--evalcache", folder.path().to_str().unwrap()];
    let first = game(&options);
    succeed(&mut evalcache(folder.path(), &["check"]));
    let segment = segment(folder.path());
    let mut bytes = std::fs::read(&segment).unwrap();
    // The blocks end before the second copy of the head, whose length is in the last 24 bytes.
    let footer = bytes.len() - 24;
    let head = u32::from_le_bytes(bytes[footer..footer + 4].try_into().unwrap()) as usize;
    bytes[footer - head - 1] ^= 1;
    std::fs::write(&segment, bytes).unwrap();
    let (code, said) = fail(&mut evalcache(folder.path(), &["check"]));
    assert_eq!(code, 1, "{said}");
    assert!(said.contains("problems found: 1;"), "{said}");
    assert_eq!(game(&options), first);
}

/// The exit code of a check, and the damage that it prints.
fn damage(folder: &Path) -> (i32, String) {
    let output = evalcache(folder, &["check"]).output().unwrap();
    (output.status.code().unwrap(), String::from_utf8_lossy(&output.stdout).into_owned())
}

/// The only segment of the only set.
fn segment(folder: &Path) -> PathBuf {
    let set = std::fs::read_dir(folder.join("evalcache")).unwrap().next().unwrap().unwrap().path();
    set.join("000001.segment")
}

#[test]
fn sets_that_cannot_be_read_are_named() {
    let folder = TempDir::new().unwrap();
    game(&["--evalcache", folder.path().to_str().unwrap()]);
    let segment = segment(folder.path());
    let whole = std::fs::read(&segment).unwrap();
    // No set: the others are used nevertheless.
    std::fs::create_dir(folder.path().join("evalcache/bad name")).unwrap();
    succeed(&mut evalcache(folder.path(), &["check"]));

    let mut damaged = whole.clone();
    damaged[30] ^= 1;
    std::fs::write(&segment, damaged).unwrap();
    let (code, found) = damage(folder.path());
    assert!(
        code == 1 && found.contains("one of the two copies of its head is damaged; the other one is used"),
        "{found}"
    );
    assert!(!found.contains("not a segment") && !found.contains("delete this file"), "{found}");
    assert!(found.contains("`tengen evalcache compact` replaces this file once the set has another"), "{found}");

    std::fs::write(&segment, &whole[..5000]).unwrap();
    let listed = succeed(&mut evalcache(folder.path(), &["list"]));
    assert!(listed.contains(": no readable segment"), "{listed}");
    succeed(&mut evalcache(folder.path(), &["compact"]));
    let (code, found) = damage(folder.path());
    assert!(code == 1 && found.contains("000001.segment: not a segment"), "{found}");
    assert!(found.contains("delete this file"), "{found}");
    let set = listed.split(':').next().unwrap();
    let (code, said) = fail(&mut evalcache(folder.path(), &["export", set, "--sgf", "game.sgf", "--out", "table"]));
    assert!(code == 1 && said.contains("none of its 1 segments can be read"), "{said}");
}

#[test]
fn cache_that_cannot_be_made_has_the_exit_code_of_its_store() {
    let cases: [(&str, &[&str]); 3] = [
        ("tengen", &["gtp", "--model", "9x9-demo"]),
        ("selfplay", &["--model", "9x9-demo", "--games", "1"]),
        ("evaluator", &["--pair", "9x9-demo", "Captures", "--games", "2"]),
    ];
    for (name, args) in cases {
        let folder = TempDir::new().unwrap();
        let mut command = program(name);
        // Not even root can make a folder in /proc.
        let options = ["--device", "cpu", "--evalcache", "/proc/tengen-cache"];
        let (code, said) = fail(command.arg("--store").arg(folder.path()).args(args).args(options));
        let reason = "cannot open the evaluation cache: cannot create /proc/tengen-cache: ";
        assert!(code == 3 && said.contains(reason), "{name}: {code}: {said}");
    }
}

#[test]
fn export_refuses_games_that_it_cannot_look_up() {
    let folder = TempDir::new().unwrap();
    game(&["--evalcache", folder.path().to_str().unwrap()]);
    let listed = succeed(&mut evalcache(folder.path(), &["list"]));
    let set = listed.split(':').next().unwrap();
    let (games, table) = (folder.path().join("game.sgf"), folder.path().join("table.parquet"));
    let export = |sgf: &str, komi: &[&str]| {
        std::fs::write(&games, sgf).unwrap();
        let paths = ["--sgf", games.to_str().unwrap(), "--out", table.to_str().unwrap()];
        evalcache(folder.path(), &[&["export", set], &paths[..], komi].concat())
    };
    for (sgf, problem) in [
        ("(;GM[1]SZ[9]KM[7];B[ee])(;GM[1]SZ[9];B[ee])", "game 2 has no komi; use --komi"),
        ("(;GM[1]SZ[9]KM[7];B[ee];W[ee])(;GM[1]SZ[9];B[ee])", "game 2 has no komi; use --komi"),
        ("(;GM[1]SZ[19]KM[7];B[ee])", "no legal game on 9x9"),
        ("garbage", "no legal game on 9x9"),
    ] {
        let (code, said) = fail(&mut export(sgf, &[]));
        assert!(code == 2 && said.contains("game.sgf: ") && said.contains(problem), "{said}");
    }
    let said = succeed(&mut export("(;GM[1]SZ[9];B[ee])", &["--komi", "7"]));
    assert!(said.starts_with("1 of 2 positions"), "{said}");
    let omitted = "(;GM[1]SZ[19])\n(;GM[1]SZ[9];B[ee];W[ee])\n(;GM[1]SZ[9]KM[7];B[ee])";
    let output = export(omitted, &[]).output().unwrap();
    assert!(output.status.success() && output.stdout.starts_with(b"1 of 2 positions"), "{output:?}");
    let log = String::from_utf8_lossy(&output.stderr);
    for problem in ["the board is 19x19, not 9x9", "move 2 (white E5): the point is occupied"] {
        assert!(log.contains("game omitted") && log.contains(problem), "{log}");
    }
}

/// What `tengen gtp` logs during a short game.
fn log(mut tengen: Command, model: &str, options: &[&str]) -> String {
    tengen.args(["gtp", "--model", model, "--visits", "4", "--device", "cpu"]).args(options);
    String::from_utf8(converse(&mut tengen, SCRIPT).stderr).unwrap()
}

#[test]
fn hits_are_logged_at_the_end_and_models_without_evaluations_at_the_beginning() {
    let folder = TempDir::new().unwrap();
    let log = |model: &str| log(program("tengen"), model, &["--evalcache", folder.path().to_str().unwrap()]);
    log("9x9-demo");
    let second = log("9x9-demo");
    assert!(second.contains("evaluation cache closed") && second.contains("lookups found, 100.0 %"), "{second}");
    let uniform = log("uniform");
    assert!(uniform.contains("--evalcache is ignored") && uniform.contains("built-in models"), "{uniform}");
}

#[test]
fn damage_that_costs_no_lookup_or_many_is_warned_of_once() {
    let folder = TempDir::new().unwrap();
    let place = folder.path().to_str().unwrap();
    game(&["--evalcache", place]);
    let segment = segment(folder.path());
    let whole = std::fs::read(&segment).unwrap();
    // The filters are behind the first head, which begins at 20 and whose length is in the bytes from 8 on.
    let filters = 20 + u32::from_le_bytes(whole[8..12].try_into().unwrap()) as usize;
    let (head, filter) = ("is damaged, and in use", "have damaged filters, and are not used");
    for (at, heads, blocks) in [(None, 0, 0), (Some(30), 1, 0), (Some(filters), 0, 1)] {
        let mut bytes = whole.clone();
        if let Some(at) = at {
            bytes[at] ^= 1;
        }
        std::fs::write(&segment, bytes).unwrap();
        let said = log(program("tengen"), "9x9-demo", &["--evalcache", place]);
        assert_eq!((said.matches(head).count(), said.matches(filter).count()), (heads, blocks), "{said}");
    }
}

#[test]
fn bucket_without_local_copies_is_warned_of() {
    let (server, copies) = (Server::start().unwrap(), TempDir::new().unwrap());
    let url = server.url();
    let log = |options: &[&str]| {
        let mut tengen = program("tengen");
        tengen.envs(server.env());
        log(tengen, "9x9-demo", &[&["--evalcache", url.as_str()][..], options].concat())
    };
    let warning = "is a request to the bucket; set --evalcache-copies";
    let slow = log(&[]);
    assert!(slow.contains(warning), "{slow}");
    let fast = log(&["--evalcache-copies", copies.path().to_str().unwrap()]);
    assert!(fast.contains("lookups found") && !fast.contains(warning), "{fast}");
}

#[test]
fn exact_evaluations_as_requested_change_no_game() {
    let folder = TempDir::new().unwrap();
    let place = folder.path().to_str().unwrap();
    let options = ["--evalcache", place, "--evalcache-steps", "exact", "--evalcache-symmetry", "requested"];
    let plain = game(&[]);
    assert_eq!(game(&options), plain);
    assert_eq!(game(&options), plain);
}
