//! `tengen analyze` and `tengen analysis-server` as people and programs meet them.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, Stdio};

use config::Preset;
use go::sgf::point_to_sgf;
use go::{Move, Size};
use net::{Shape, Weights};
use record::GameRecord;
use serde_json::{Value, json};
use tempfile::TempDir;
use testing::{Tool, require};
use tests::{TestStore, converse, fail, old_file, program, repository, succeed, without_reader};

use crate::gtp::sabaki;
use crate::inference::{address, publish, serve};

const GAME: &str = "(;GM[1]SZ[9]KM[7]PB[a]PW[b];B[ee]C[centre];W[eg];B[cf];W[gf];B[gd];W[cd];B[aa];W[];B[dc])";
/// The same game up to Black's sixth move, and another continuation.
const VARIATION: &str = "(;GM[1]SZ[9]KM[7];B[ee];W[eg];B[cf];W[gf];B[gd];W[cd];B[dh];W[dg])";
const POSITIONS: usize = 10;

fn analyze(folder: &Path, words: &[&str]) -> Command {
    let mut tengen = program("tengen");
    tengen
        .current_dir(folder)
        .args(["analyze", "--model", "9x9-demo", "--device", "cpu", "--visits", "30"])
        .args(words);
    tengen
}

/// Hits and all lookups of the evaluation cache.
fn lookups(said: &str) -> [u64; 2] {
    let line = said.lines().find(|line| line.starts_with("evaluation cache:")).unwrap();
    let numbers: Vec<u64> = line.split([' ', ',']).filter_map(|word| word.parse().ok()).collect();
    [numbers[0], numbers[1]]
}

/// The lines of an analysis: the header and a report for each turn, by turn.
fn lines(path: &Path) -> (Value, Vec<Value>) {
    let text = fs::read_to_string(path).unwrap();
    let mut lines = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let header = lines.next().unwrap();
    let mut reports: Vec<Value> = lines.collect();
    reports.sort_by_key(|report| report["turnNumber"].as_u64());
    (header, reports)
}

#[test]
fn game_is_analysed_once_and_its_variation_mostly_known() {
    let folder = TempDir::new().unwrap();
    fs::write(folder.path().join("game.sgf"), GAME).unwrap();
    fs::write(folder.path().join("variation.sgf"), VARIATION).unwrap();
    let cached = |words: &[&str]| succeed(&mut analyze(folder.path(), &[&["--evalcache", "cache"], words].concat()));
    let first = cached(&["game.sgf"]);
    assert!(first.contains("game.sgf: 10 positions; game.analysis.sgf"), "{first}");
    assert!(first.contains("10 positions searched in "), "{first}");
    let [hits, all] = lookups(&first);
    // Every visit but those of the end of the game, and the root's own.
    assert!(all > 200 && hits < all / 2, "{hits} of {all}");
    let (header, reports) = lines(&folder.path().join("game.analysis.jsonl"));
    assert_eq!((&header["model"], &header["visits"], &header["komi"]), (&json!("9x9-demo-1"), &json!(30), &json!(7.0)));
    assert_eq!(header["evaluations"], json!("canonical 2048"));
    assert_eq!(header["moves"].as_array().unwrap().len() + 1, reports.len());
    let turns: Vec<_> = reports.iter().map(|report| report["turnNumber"].as_u64().unwrap()).collect();
    assert_eq!(turns, (0..POSITIONS as u64).collect::<Vec<_>>());
    assert!(reports.iter().all(|report| report["rootInfo"]["visits"] == 31), "{reports:?}");

    // Nothing is searched again, and nothing is evaluated for other results.
    let again = cached(&["game.sgf"]);
    assert!(again.contains("10 positions, 10 of them known") && again.contains("0 positions searched"), "{again}");
    assert_eq!(lookups(&again), [0, 0]);
    let elsewhere = cached(&["game.sgf", "--out", "other/place"]);
    let [hits, all] = lookups(&elsewhere);
    assert!(hits == all && all > 200, "{hits} of {all}");
    assert_eq!(lines(&folder.path().join("other/place/game.analysis.jsonl")).1, reports);
    let sgf = |path: &str| fs::read_to_string(folder.path().join(path)).unwrap();
    assert_eq!(sgf("other/place/game.analysis.sgf"), sgf("game.analysis.sgf"));

    // Six moves are the same.
    let variation = cached(&["variation.sgf"]);
    let [hits, all] = lookups(&variation);
    assert!(hits * 10 > all * 7 && hits < all, "{hits} of {all}");
}

/// A game up to a turn, and then the second of the moves that were not played.
fn with_another_move(folder: &Path, turn: usize) -> String {
    let (header, reports) = lines(&folder.join("game.analysis.jsonl"));
    let size = Size::new(9).unwrap();
    let point = |vertex: &str| point_to_sgf(size, Move::from_gtp(size, vertex).unwrap().point().unwrap());
    let moves = header["moves"].as_array().unwrap();
    let candidates = reports[turn]["moveInfos"].as_array().unwrap().iter().map(|info| &info["move"]);
    let other = candidates.filter(|mv| **mv != moves[turn][1]).nth(1).unwrap();
    let played = moves[..turn].iter().map(|one| (&one[0], &one[1]));
    let node = |(color, vertex): (&Value, &Value)| {
        format!(";{}[{}]", color.as_str().unwrap(), point(vertex.as_str().unwrap()))
    };
    let nodes: String = played.chain([(&moves[turn][0], other)]).map(node).collect();
    format!("(;GM[1]SZ[9]KM[7]{nodes})")
}

/// Counted in evaluations: a search in a variation needs its own without `--candidates`, and none with it.
#[test]
fn search_after_a_candidate_of_an_analysed_game_needs_no_evaluation() {
    let missing = |options: &[&str]| {
        let folder = TempDir::new().unwrap();
        fs::write(folder.path().join("game.sgf"), GAME).unwrap();
        let cached = |game: &str, options: &[&str]| {
            succeed(&mut analyze(folder.path(), &[&["--evalcache", "cache", game], options].concat()))
        };
        let first = cached("game.sgf", options);
        assert_eq!(first.contains(" after candidates searched in "), !options.is_empty(), "{first}");
        fs::write(folder.path().join("variation.sgf"), with_another_move(folder.path(), 4)).unwrap();
        let [hits, all] = lookups(&cached("variation.sgf", &[]));
        assert!(all > 60, "{all} lookups");
        all - hits
    };
    let without = missing(&[]);
    assert!((5..=31).contains(&without), "{without} evaluations");
    assert_eq!(missing(&["--candidates", "2"]), 0);
}

#[test]
fn candidates_of_known_positions_are_searched_and_change_no_result() {
    let folder = TempDir::new().unwrap();
    fs::write(folder.path().join("game.sgf"), GAME).unwrap();
    let cached = |words: &[&str]| succeed(&mut analyze(folder.path(), &[&["--evalcache", "cache"], words].concat()));
    cached(&["game.sgf"]);
    let read = || fs::read(folder.path().join("game.analysis.jsonl")).unwrap();
    let before = read();
    let said = cached(&["game.sgf", "--candidates", "1"]);
    assert!(said.contains("10 positions, 10 of them known"), "{said}");
    assert!(said.contains("\n0 positions and 10 after candidates searched in "), "{said}");
    assert!(read() == before, "the file has the positions of the game alone");
    // They are searched again, and not evaluated.
    let said = cached(&["game.sgf", "--candidates", "1"]);
    let [hits, all] = lookups(&said);
    assert!(said.contains("\n0 positions and 10 after candidates searched in ") && hits == all && all > 0, "{said}");

    let (code, said) = fail(analyze(folder.path(), &["game.sgf"]).args(["--candidates", "1"]));
    assert!(code == 2 && said.contains("9x9-demo-1 has none here; add --evalcache URL"), "{said}");
}

#[test]
fn results_are_not_analysed_when_the_command_is_repeated() {
    let folder = TempDir::new().unwrap();
    fs::write(folder.path().join("game.sgf"), GAME).unwrap();
    succeed(&mut analyze(folder.path(), &["game.sgf"]));
    // As the shell expands *.sgf then.
    let output = analyze(folder.path(), &["game.analysis.sgf", "game.sgf"]).output().unwrap();
    let (said, log) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success() && said.contains("0 positions searched"), "{said}{log}");
    assert!(log.contains("it is the result of an analysis"), "{log}");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 3);
}

/// As behind `| head -1`.
#[test]
fn all_games_are_analysed_although_no_reader_of_the_losses_is_there() {
    let folder = TempDir::new().unwrap();
    let names = ["game", "variation", "game-again"];
    for (name, text) in names.iter().zip([GAME, VARIATION, GAME]) {
        fs::write(folder.path().join(format!("{name}.sgf")), text).unwrap();
    }
    let files = names.map(|name| format!("{name}.sgf"));
    let mut command = analyze(folder.path(), &files.each_ref().map(String::as_str));
    let output = command.stdout(without_reader()).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    let mut missing = names.into_iter().filter(|name| !folder.path().join(format!("{name}.analysis.sgf")).exists());
    assert_eq!(missing.next(), None);
}

#[test]
fn analysis_without_cache_is_the_same_for_any_number_of_threads() {
    let folder = TempDir::new().unwrap();
    fs::write(folder.path().join("game.sgf"), GAME).unwrap();
    let analysed = |threads: &str| {
        succeed(&mut analyze(folder.path(), &["game.sgf", "--out", threads, "--threads", threads]));
        lines(&folder.path().join(threads).join("game.analysis.jsonl"))
    };
    assert_eq!(analysed("1"), analysed("3"));
}

#[test]
fn killed_analysis_resumes() {
    let folder = TempDir::new().unwrap();
    fs::write(folder.path().join("game.sgf"), GAME).unwrap();
    succeed(&mut analyze(folder.path(), &["game.sgf"]));
    let file = folder.path().join("game.analysis.jsonl");
    let (_, reports) = lines(&file);
    // As a process leaves it that was killed in the middle of its fifth line, with the first, fourth, and two other
    // positions.
    let text = fs::read_to_string(&file).unwrap();
    let ends: Vec<usize> = text.match_indices('\n').map(|(at, _)| at).collect();
    fs::write(&file, &text[..ends[5] - 10]).unwrap();
    fs::remove_file(folder.path().join("game.analysis.sgf")).unwrap();
    let said = succeed(&mut analyze(folder.path(), &["game.sgf"]));
    assert!(said.contains("10 positions, 4 of them known") && said.contains("6 positions searched"), "{said}");
    assert_eq!(lines(&file).1, reports);
    assert!(folder.path().join("game.analysis.sgf").exists());

    let (code, said) = fail(analyze(folder.path(), &["game.sgf"]).args(["--visits", "31"]));
    assert_eq!(code, 2, "{said}");
}

#[test]
fn games_that_cannot_be_analysed_are_named_and_the_others_are_analysed() {
    let folder = TempDir::new().unwrap();
    for (name, text) in [
        ("torn.sgf", "(;GM[1]SZ[9]\n;B[ee"),
        ("large.sgf", "(;GM[1]SZ[19];B[dd])"),
        ("illegal.sgf", "(;GM[1]SZ[9];B[ee];W[ee])"),
        ("chess.sgf", "(;GM[3])"),
        // A ko is retaken at once.
        ("ko.sgf", "(;GM[1]SZ[9]AB[ba][ab][bc]AW[ca][bb][db][cc];B[cb];W[bb])"),
        ("two.sgf", "(;GM[1]SZ[9];B[ee])\n(;GM[1]SZ[13];B[ee])\n(;GM[1]SZ[9];B[cc](;W[dd])(;W[ee]))"),
    ] {
        fs::write(folder.path().join(name), text).unwrap();
    }
    let files = ["torn.sgf", "large.sgf", "missing.sgf", "illegal.sgf", "chess.sgf", "ko.sgf", "two.sgf"];
    let (code, said) = fail(&mut analyze(folder.path(), &files));
    assert_eq!(code, 2, "{said}");
    for part in [
        "torn.sgf: line 2 column 3",
        "large.sgf: the board is 19x19, and 9x9-demo-1 is for 9x9; use a model for 19x19",
        "missing.sgf: No such file",
        "illegal.sgf: move 2 (white E5): the point is occupied; correct the move, or end the game before it",
        "GM[3] is not Go",
        "two.sgf, game 2: the board is 13x13",
        "variations are neither analysed nor kept",
        "6 games are not analysed",
    ] {
        assert!(said.contains(part), "{part}: {said}");
    }
    for (game, positions) in [("two-1", 2), ("two-3", 3), ("ko", 3)] {
        let (_, reports) = lines(&folder.path().join(format!("{game}.analysis.jsonl")));
        assert_eq!(reports.len(), positions);
        assert!(folder.path().join(format!("{game}.analysis.sgf")).exists());
    }
}

#[test]
fn file_named_as_a_game_of_a_collection_is_refused_beside_it() {
    let folder = TempDir::new().unwrap();
    fs::write(folder.path().join("a.sgf"), "(;GM[1]SZ[9];B[ee])\n(;GM[1]SZ[9];B[cc])").unwrap();
    fs::write(folder.path().join("a-1.sgf"), "(;GM[1]SZ[9];B[gg])").unwrap();
    let (code, said) = fail(&mut analyze(folder.path(), &["a.sgf", "a-1.sgf"]));
    let expected = "the results of a.sgf, game 1 and of a-1.sgf have the same name; analyse them one after the other";
    assert!(code == 2 && said.contains(expected), "{code}: {said}");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2, "nothing is written");
    succeed(&mut analyze(folder.path(), &["a-1.sgf", "--out", "other"]));
    succeed(&mut analyze(folder.path(), &["a.sgf"]));
}

/// What a server says to these queries, by id.
fn ask(queries: &[Value]) -> Vec<Value> {
    let mut tengen = program("tengen");
    tengen.args(["analysis-server", "--model", "9x9-demo", "--device", "cpu", "--visits", "20"]);
    let text: String = queries.iter().map(|query| format!("{query}\n")).collect();
    let output = converse(&mut tengen, text.as_bytes());
    assert!(output.status.success());
    let said = String::from_utf8(output.stdout).unwrap();
    said.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn server_finishes_its_queries_at_the_end_of_the_input() {
    let query = |id: &str, size: usize| {
        let moves = json!([["B", "E5"], ["W", "E3"]]);
        json!({
            "id": id, "rules": "tromp-taylor", "komi": 7, "boardXSize": size, "boardYSize": size, "moves": moves,
            "analyzeTurns": [0, 1, 2], "includePolicy": true,
        })
    };
    let said = ask(&[query("a", 9), query("b", 19), json!({ "id": "v", "action": "query_version" })]);
    let of = |id: &str| said.iter().filter(|response| response["id"] == id).collect::<Vec<_>>();
    assert_eq!(of("a").len(), 4, "a warning and three reports: {said:?}");
    assert_eq!(of("a")[0]["field"], "rules");
    assert!(of("a")[1..].iter().all(|report| report["rootInfo"]["visits"] == 20), "{said:?}");
    assert_eq!(of("b").len(), 1);
    assert!(of("b")[0]["error"].as_str().unwrap().contains("the model is for 9x9 boards"), "{said:?}");
    assert_eq!(of("v")[0]["version"], env!("CARGO_PKG_VERSION"));
}

/// As of `< queries > results`: what a full disk cut off would look whole but for its length.
#[test]
fn responses_that_cannot_be_written_are_an_error_of_each_server() {
    let folder = TempDir::new().unwrap();
    let input = folder.path().join("input");
    for (server, line) in [("analysis-server", "{\"id\":\"v\",\"action\":\"query_version\"}\n"), ("gtp", "name\n")] {
        fs::write(&input, line).unwrap();
        let mut tengen = program("tengen");
        tengen.args([server, "--model", "uniform"]).stdin(File::open(&input).unwrap());
        let full = File::options().write(true).open("/dev/full").expect("Linux has /dev/full");
        let (code, said) = fail(tengen.stdout(full));
        let expected = "error: cannot write to standard output: No space left on device";
        assert!(code == 1 && said.contains(expected), "{server}, {code}: {said}");
    }
}

/// The search takes minutes; the input is over before.
#[test]
fn server_stops_after_its_input_on_sigterm_and_when_its_client_has_gone() {
    let query = json!({
        "id": "long", "rules": "chinese", "komi": 7, "boardXSize": 9, "boardYSize": 9, "moves": [],
        "maxVisits": 10_000_000, "reportDuringSearchEvery": 0.02,
    });
    for signal in [Some("TERM"), None] {
        let mut tengen = program("tengen");
        tengen.args(["analysis-server", "--model", "9x9-demo", "--device", "cpu"]);
        let mut tengen = tengen.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        writeln!(tengen.stdin.take().unwrap(), "{query}").unwrap();
        let mut lines = BufReader::new(tengen.stdout.take().unwrap()).lines().map(Result::unwrap);
        let is_partial = |line: &String| line.contains("\"isDuringSearch\":true");
        // By the tenth report the end of the input has been read.
        assert!(lines.by_ref().filter(is_partial).nth(9).is_some(), "{signal:?}");
        let expected = if let Some(signal) = signal {
            assert!(testing::signal(&tengen, signal));
            let last: Value = serde_json::from_str(&lines.last().expect("a report")).unwrap();
            assert_eq!((&last["id"], &last["isDuringSearch"]), (&json!("long"), &json!(false)));
            assert!(last["rootInfo"]["visits"].as_u64() < Some(10_000_000), "{last}");
            4
        } else {
            drop(lines);
            0
        };
        assert_eq!(tengen.wait().unwrap().code(), Some(expected), "{signal:?}");
    }
}

#[test]
fn evaluations_of_an_inference_server_are_kept_by_its_clients() {
    let store = TestStore::new();
    publish(&store.run("v1"), 1, Preset::NineByNine.config());
    let mut server = serve(&store, &["--listen", "127.0.0.1:0"]);
    let address = address(&mut server);
    let path = store.path().join("game.sgf");
    fs::write(&path, GAME).unwrap();
    let analysed = |out: &str| {
        let mut tengen = store.program("tengen");
        tengen.args(["analyze", "--model", "v1", "--visits", "10", "--inference", &address]).arg(&path);
        tengen.arg("--out").arg(store.path().join(out)).arg("--evalcache").arg(store.path().join("cache"));
        lookups(&succeed(&mut tengen))
    };
    let [hits, all] = analysed("first");
    assert!(hits < all, "{hits} of {all}");
    let positions = server.metrics()["tengen_inference_positions_total"];
    let [hits, all] = analysed("second");
    assert!(hits == all && all > 50, "{hits} of {all}");
    assert_eq!(server.metrics()["tengen_inference_positions_total"], positions);
    let reports = |out: &str| lines(&store.path().join(out).join("game.analysis.jsonl")).1;
    assert_eq!(reports("first"), reports("second"));
}

fn python_is_before(version: [u32; 2]) -> bool {
    let test = format!("import sys; print(sys.version_info[:2] < {:?})", (version[0], version[1]));
    succeed(Command::new("python3").args(["-c", &test])).trim() == "True"
}

/// KaTrain's engine, game and nodes from PyPI analyse a game with the server, and read what `tengen analyze` wrote.
#[test]
fn katrains_own_code_analyses_with_the_server_and_reads_analysed_games() {
    let Some(site) = require(Tool::Python) else { return };
    if !python_is_before([3, 14]) {
        return testing::unsupported("KaTrain, which needs a Python before 3.14, is");
    }
    assert!(site.join("katrain").exists(), "{}: KaTrain is missing: scripts/setup-python", site.display());
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("game.sgf");
    fs::write(&path, GAME).unwrap();
    succeed(&mut analyze(folder.path(), &["game.sgf"]));
    let mut python = Command::new("python3");
    python.env("PYTHONPATH", &site).arg(repository().join("tests/python/check_katrain.py"));
    python.arg(&path).arg(folder.path().join("game.analysis.sgf"));
    let server = program("tengen").get_program().to_owned();
    python.arg(server).args(["analysis-server", "--model", "9x9-demo", "--device", "cpu", "--threads", "2"]);
    let said = succeed(&mut python);
    assert!(said.contains("KaTrain analysed 10 positions and read 10"), "{said}");
}

#[test]
fn sabakis_own_reader_finds_what_sabaki_shows_of_an_analysed_game() {
    let Some(packages) = require(Tool::Sabaki) else { return };
    let folder = TempDir::new().unwrap();
    fs::write(folder.path().join("game.sgf"), GAME).unwrap();
    succeed(&mut analyze(folder.path(), &["game.sgf"]));
    let mut node = sabaki(&packages, "sabaki-sgf.js");
    node.current_dir(folder.path()).args(["game.analysis.sgf", "game.analysis.jsonl"]);
    let said = succeed(&mut node);
    assert!(said.starts_with("Sabaki reads 10 positions, "), "{said}");
}

fn book(folder: &Path, words: &[&str]) -> Command {
    let mut tengen = program("tengen");
    tengen.current_dir(folder).args(["book", "book.jsonl", "--model", "9x9-demo", "--device", "cpu", "--visits", "20"]);
    tengen.args(words);
    tengen
}

/// A file of weights keeps its name when another network takes its place.
#[test]
fn files_are_not_continued_with_other_weights_or_evaluations() {
    let folder = TempDir::new().unwrap();
    let shape = Shape { blocks: 1, filters: 8, value_hidden: 16, ..Shape::plain(Size::new(9).unwrap()) };
    let write = |seed| {
        fs::write(folder.path().join("net.safetensors"), Weights::synthetic(shape, seed).to_bytes()).unwrap();
    };
    fs::write(folder.path().join("game.sgf"), "(;GM[1]SZ[9]KM[7];B[ee])").unwrap();
    let run = |words: &[&str]| {
        let mut tengen = program("tengen");
        tengen.current_dir(folder.path()).args(words);
        tengen.args(["--model", "net.safetensors", "--device", "cpu", "--visits", "4"]);
        tengen
    };
    let analyze = || run(&["analyze", "game.sgf"]);
    let cached = ["--evalcache", "cache", "--evalcache-steps"];
    let book = |steps| run(&[&["book", "book.jsonl", "--budget", "2"], &cached[..], &[steps]].concat());
    write(1);
    succeed(&mut analyze());
    succeed(&mut book("2048"));
    let (code, said) = fail(&mut book("256"));
    assert!(code == 2 && said.contains("a book of cached evaluations (canonical 2048), not of cached "), "{said}");
    // As when no inference server responds in time, whose evaluations are not kept then.
    succeed(&mut run(&["book", "book.jsonl", "--budget", "3"]));
    succeed(&mut book("2048"));
    write(2);
    let (code, said) = fail(&mut analyze());
    assert!(code == 2 && said.contains("(the SHA-256 of its weights differs); write to another folder"), "{said}");
    let (code, said) = fail(&mut book("2048"));
    assert!(code == 2 && said.contains("a book of model net.safetensors with weights "), "{said}");
}

/// What `tengen gtp` with a book says to a script, and what it logs.
fn play(folder: &Path, script: &str) -> (String, String) {
    let mut tengen = program("tengen");
    tengen.current_dir(folder).args(["gtp", "--model", "9x9-demo", "--device", "cpu", "--visits", "1"]);
    let output = converse(tengen.args(["--book", "book.jsonl"]), script.as_bytes());
    assert!(output.status.success());
    (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap())
}

#[test]
fn book_grows_resumes_and_is_played() {
    let folder = TempDir::new().unwrap();
    let exports = ["--sgf", "book.sgf", "--parquet", "book.parquet", "--json", "book.json"];
    let said = succeed(&mut book(folder.path(), &["--budget", "40"]));
    assert!(said.starts_with("40 positions"), "{said}");
    let file = folder.path().join("book.jsonl");
    // As a process leaves it that was killed in the middle of a line.
    let text = fs::read_to_string(&file).unwrap();
    fs::write(&file, &text[..text.len() - 30]).unwrap();
    let old = ["book.sgf", "book.parquet", "book.json"].map(|name| old_file(&folder.path().join(name)));
    let said = succeed(&mut book(folder.path(), &[&["--budget", "60"], &exports[..]].concat()));
    assert!(said.starts_with("60 positions"), "{said}");
    let old = old.map(|name| fs::read_to_string(name).unwrap());
    assert_eq!(old, ["old"; 3], "they are replaced once the new ones are whole");
    let grown = fs::read_to_string(&file).unwrap();
    assert!(grown.starts_with(&text[..text[..text.len() - 30].rfind('\n').unwrap() + 1]), "what was whole is kept");
    let json: Value = serde_json::from_slice(&fs::read(folder.path().join("book.json")).unwrap()).unwrap();
    let positions = json["positions"].as_array().unwrap();
    assert_eq!(positions.len(), 60);
    assert_eq!(fs::read_to_string(folder.path().join("book.sgf")).unwrap().matches("SBKV").count(), 60);
    assert!(fs::read(folder.path().join("book.parquet")).unwrap().starts_with(b"PAR1"));
    // The first move of the book, and the best answer where the book has one.
    let best = positions[0]["best"].as_str().expect("a first move");
    let (said, logged) = play(folder.path(), "boardsize 9\nkomi 7\ngenmove b\nquit\n");
    assert!(said.contains(&format!("= {best}\n")), "{best}: {said}");
    let unused = "the opening book is for other games, and not used";
    assert!(!logged.contains(unused), "{logged}");
    let (_, logged) = play(folder.path(), "boardsize 9\nkomi 5.5\ngenmove b\ngenmove w\nquit\n");
    assert_eq!(logged.matches(unused).count(), 1, "{logged}");
    let (code, said) = fail(&mut book(folder.path(), &["--komi", "5.5"]));
    assert!(code == 2 && said.contains("a book of komi 7, not of komi 5.5;"), "{said}");
    let (code, said) = fail(&mut book(folder.path(), &["--komi", "82"]));
    assert!(code == 2 && said.contains("komi 82 exceeds the area of a 9x9 board; use --komi"), "{said}");
    fs::write(&file, "(;GM[1]SZ[9])\n").unwrap();
    let (code, said) = fail(&mut book(folder.path(), &[]));
    assert!(code == 2 && said.contains("book.jsonl: not a book of `tengen book`"), "{said}");
}

/// As a match that measures a book: random opening moves would lead out of it. Games differ by the symmetries of
/// evaluations.
#[test]
fn book_is_played_in_a_match_from_the_empty_board() {
    let store = TestStore::new();
    succeed(&mut book(store.path(), &["--budget", "40", "--json", "book.json"]));
    let json: Value = serde_json::from_slice(&fs::read(store.path().join("book.json")).unwrap()).unwrap();
    let best = json["positions"][0]["best"].as_str().expect("a first move");
    let run = store.run("empty-board");
    run.create(&Preset::NineByNine.with(&["evaluate.opening_moves=0", "evaluate.visits=2"]).unwrap()).unwrap();
    let (tengen, folder) = (program("tengen").get_program().to_str().unwrap().to_owned(), store.path().display());
    let gtp = format!("exec {tengen} gtp --model 9x9-demo --device cpu --visits 2 --book {folder}/book.jsonl");
    let engines = store.path().join("engines.toml");
    let declared = format!("[[engine]]\nname = 'Book'\ncommand = ['sh', '-c', '{gtp} 2>> {folder}/book.log']\n");
    fs::write(&engines, declared).unwrap();
    let mut evaluator = store.program("evaluator");
    evaluator.args(["--run", "empty-board", "--pair", "9x9-demo", "Book", "--games", "6", "--device", "cpu"]);
    succeed(evaluator.arg("--engines").arg(&engines));

    let files = run.matches().files().unwrap();
    let games: Vec<GameRecord> = files.iter().flat_map(|file| run.matches().read(file).unwrap()).collect();
    let line = |game: &GameRecord| game.turns.iter().map(|turn| turn.mv.to_gtp(game.size)).collect::<Vec<_>>();
    let first: Vec<_> = games.iter().filter(|game| game.black == "Book").map(|game| line(game)[0].clone()).collect();
    assert_eq!(first, [best; 3]);
    let different: BTreeSet<Vec<String>> = games.iter().map(line).collect();
    assert!(different.len() > 2, "{different:?}");
    let log = fs::read_to_string(store.path().join("book.log")).unwrap();
    assert!(log.matches("out of the opening book").count() >= 3, "{log}");
}

/// A position whose search and minimax differ is searched with four times the visits, until they agree or it has 16
/// times as many.
#[test]
fn book_searches_a_position_again_that_network_and_book_disagree_on() {
    let folder = TempDir::new().unwrap();
    succeed(&mut book(folder.path(), &["--budget", "10"]));
    let file = folder.path().join("book.jsonl");
    let text = fs::read_to_string(&file).unwrap();
    let root: Value = serde_json::from_str(text.lines().nth(1).unwrap()).unwrap();
    assert_eq!(root["visits"], 20);
    let (mut wrong, sure) = (root.clone(), if root["value"].as_f64() > Some(0.0) { -1.0 } else { 1.0 });
    wrong["value"] = sure.into();
    fs::write(&file, format!("{text}{wrong}\n")).unwrap();
    let said = succeed(&mut book(folder.path(), &["--budget", "10"]));
    assert!(said.starts_with("10 positions") && !said.contains(" 0 searched again"), "{said}");
    let grown = fs::read_to_string(&file).unwrap();
    let found = grown[text.len()..].lines().skip(1).map(|line| serde_json::from_str::<Value>(line).unwrap());
    let again: Vec<Value> = found.filter(|line| line["key"] == root["key"]).collect();
    let visits: Vec<u64> = again.iter().map(|line| line["visits"].as_u64().unwrap()).collect();
    assert!(visits == [80] || visits == [80, 320], "{visits:?}");
    assert!(again.iter().all(|line| line["value"] != wrong["value"]), "{again:?}");
    // Without the empty board nothing is reached, until it is searched again.
    let key = root["key"].as_str().unwrap();
    let rest: String = grown.lines().filter(|line| !line.contains(key)).map(|line| format!("{line}\n")).collect();
    fs::write(&file, rest).unwrap();
    let said = succeed(&mut book(folder.path(), &["--budget", "10"]));
    assert!(!said.starts_with("0 positions"), "{said}");
}
