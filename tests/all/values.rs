//! What `tengen study values` prints, and files of positions from another engine.

use std::fs;
use std::process::Stdio;

use serde_json::Value;
use tempfile::TempDir;
use testing::{PATIENCE, poll, signal};
use tests::{fail, program, succeed};

const POSITIONS: &str = r#"{"moves": [], "value": 0.0, "visits": [["e5", 300], ["d5", 100]]}
{"moves": ["e5", "c3"], "value": 0.5, "visits": [["g7", 400]]}
{"moves": ["e5"], "value": -0.5, "visits": [["c3", 1]], "score": 2.0}
"#;

#[test]
fn values_of_a_model_are_compared_with_a_file() {
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("positions.jsonl");
    fs::write(&file, POSITIONS).unwrap();
    let command = |words: &[&str]| {
        let mut tengen = program("tengen");
        tengen
            .args(["study", "values", "--model", "uniform", "--visits", "0,1,8", "--positions"])
            .arg(&file)
            .args(words);
        tengen
    };
    let text = succeed(&mut command(&["--json"]));
    let rows: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(rows.len(), 3);
    // All values of the uniform model are 0: (0 + 0.25 + 0.25) / 3. Its policy has all points, since passing is no
    // choice so early.
    let nats = (81f64.ln() + 79f64.ln() + 80f64.ln()) / 3.0;
    for (row, visits) in rows.iter().zip([0_u32, 1, 8]) {
        let number = |key: &str| row[key]["mean"].as_f64().unwrap();
        assert_eq!(row["visits"], visits);
        assert!((number("squared_error") - 0.5 / 3.0).abs() < 1e-6, "{text}");
        assert!((number("cross_entropy") - nats).abs() < 1e-3, "{text}");
        // The network is measured once, and where it is alone.
        assert_eq!(row["network"].is_object(), visits == 0, "{text}");
    }
    let network = &rows[0]["network"];
    let spread = &network["symmetries"];
    assert_eq!((spread["median"].as_f64(), spread["all"]["positions"].as_u64()), (Some(0.0), Some(3)), "{text}");
    assert_eq!(network["one_ply"]["differs"]["positions"], 0, "of equals the first: {text}");
    assert!(rows.iter().all(|row| row["difference"].is_null()), "{text}");
    let against = ["--against", "uniform"];
    let beside = succeed(&mut command(&[&against[..], &["--json"]].concat()));
    for line in beside.lines() {
        let row: Value = serde_json::from_str(line).unwrap();
        let (less, error) = (&row["difference"]["less"], &row["difference"]["squared_error"]);
        assert_eq!(
            (less.as_str(), error["mean"].as_f64(), error["half"].as_f64()),
            (Some("uniform"), Some(0.0), Some(0.0))
        );
    }
    let beside = succeed(&mut command(&against));
    assert!(beside.contains("\nvalue error less that of uniform\nvisits      difference"), "{beside}");
    let table = succeed(&mut command(&[]));
    assert!(table.contains("uniform on 3 positions") && table.contains("values in 8 symmetries"), "{table}");
    assert!(table.contains("one-ply search"), "{table}");

    fs::write(&file, "{\"moves\": [\"e5\", \"e5\"], \"value\": 0, \"visits\": [[\"c3\", 1]]}\n").unwrap();
    let (code, said) = fail(&mut command(&[]));
    assert_eq!(code, 2, "{said}");
    assert!(said.contains("positions.jsonl: line 1: move \"e5\": the point is occupied"), "{said}");
}

#[test]
fn positions_are_searched_by_an_engine_of_katagos_protocol() {
    let folder = TempDir::new().unwrap();
    let (game, out) = (folder.path().join("game.sgf"), folder.path().join("positions.jsonl"));
    fs::write(&game, "(;SZ[9]KM[7];B[ee];W[ce];B[dc];W[gc];B[gd];W[fd];B[fc];W[ge])").unwrap();
    let tengen = program("tengen");
    let command = |engine: &[&str]| {
        let mut command = program("tengen");
        command.args(["study", "positions", "--positions", "2", "--visits", "8", "--out"]).arg(&out).arg(&game);
        command.arg("--").args(engine);
        command
    };
    let server = ["analysis-server", "--model", "9x9-demo", "--device", "cpu", "--threads", "1"];
    let engine = [&[tengen.get_program().to_str().unwrap()][..], &server].concat();
    let said = succeed(&mut command(&engine));
    assert!(said.contains("2 positions of 1 games"), "{said}");
    let text = fs::read_to_string(&out).unwrap();
    let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let turns: Vec<_> = lines.iter().map(|line| line["moves"].as_array().unwrap().len()).collect();
    assert_eq!((turns, &lines[0]["komi"], &lines[0]["size"]), (vec![4, 7], &7.0.into(), &9.into()), "{text}");
    let mut values = program("tengen");
    values.args(["study", "values", "--model", "9x9-demo", "--visits", "8", "--json", "--positions"]).arg(&out);
    let row: Value = serde_json::from_str(&succeed(&mut values)).unwrap();
    assert!(row["squared_error"]["mean"].as_f64().unwrap() < 0.05, "its own values: {row}");

    for (engine, code, reason) in [
        (&["/absent/katago"][..], 2, "cannot start the engine \"/absent/katago\""),
        (&["sh", "-c", "exit 3"], 1, "the engine ended after 0 of 2 positions, exit status: 3"),
        (&["sh", "-c", "echo loading"], 1, "the engine wrote \"loading\", which is no response"),
    ] {
        let (found, said) = fail(&mut command(engine));
        assert!(found == 2 && said.contains("exists; choose another file"), "{found}: {said}");
        fs::remove_file(&out).unwrap();
        let (found, said) = fail(&mut command(engine));
        assert!(found == code && said.contains(reason), "{found}: {said}");
        fs::write(&out, "kept").unwrap();
    }
}

/// They may be hours of a search.
#[test]
fn positions_that_an_engine_searched_before_it_failed_are_kept() {
    let folder = TempDir::new().unwrap();
    let (game, out) = (folder.path().join("game.sgf"), folder.path().join("positions.jsonl"));
    fs::write(&game, "(;SZ[9]KM[7];B[ee];W[ce];B[dc];W[gc];B[gd];W[fd];B[fc];W[ge])").unwrap();
    let response = r#"{"id": "1", "rootInfo": {"winrate": 0.5}, "moveInfos": [{"move": "A1", "visits": 2}]}"#;
    let mut command = program("tengen");
    command.args(["study", "positions", "--positions", "2", "--out"]).arg(&out).arg(&game);
    let (code, said) = fail(command.args(["--", "sh", "-c", &format!("echo '{response}'; exit 3")]));
    assert!(code == 1 && said.contains("the engine ended after 1 of 2 positions, exit status: 3"), "{code}: {said}");
    let text = fs::read_to_string(&out).unwrap();
    let position: Value = serde_json::from_str(&text).unwrap();
    assert_eq!((position["moves"].as_array().unwrap().len(), &position["komi"]), (7, &7.0.into()), "{text}");
}

/// An engine may need minutes for its next line, and a kill may come before that.
#[test]
fn study_positions_keeps_each_position_and_stops_while_an_engine_searches() {
    let folder = TempDir::new().unwrap();
    let [game, out, kept] =
        ["game.sgf", "positions.jsonl", "positions.jsonl.searched"].map(|name| folder.path().join(name));
    fs::write(&game, "(;SZ[9]KM[7];B[ee];W[ce];B[dc];W[gc];B[gd];W[fd];B[fc];W[ge])").unwrap();
    let response = r#"{"id": "1", "rootInfo": {"winrate": 0.5}, "moveInfos": [{"move": "A1", "visits": 2}]}"#;
    let engine = format!("echo '{response}'; exec sleep 1000000");
    let command = || {
        let mut command = program("tengen");
        command.args(["study", "positions", "--positions", "2", "--out"]).arg(&out).arg(&game);
        command.args(["--", "sh", "-c", &engine]);
        command
    };
    let mut tengen = command().stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let line = poll(PATIENCE, || fs::read_to_string(&kept).ok().filter(|text| text.ends_with('\n')));
    assert!(line.is_some() && !out.exists(), "{line:?}");
    assert!(signal(&tengen, "TERM"));
    assert_eq!(tengen.wait().unwrap().code(), Some(4));
    assert_eq!((fs::read_to_string(&out).ok(), kept.exists()), (line, false));

    fs::rename(&out, &kept).unwrap();
    let (code, said) = fail(&mut command());
    assert!(code == 2 && said.contains("positions.jsonl.searched exists: it has the positions"), "{code}: {said}");
}

#[test]
fn komi_of_positions_on_another_board_is_not_guessed() {
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("game.sgf");
    fs::write(&file, "(;SZ[13];B[ee];W[ce];B[dc];W[gc];B[gd];W[fd];B[fc];W[ge])").unwrap();
    let refused = |komi: &[&str]| {
        let mut command = program("tengen");
        command.args(["study", "positions", "--size", "13", "--out"]).arg(folder.path().join("positions.jsonl"));
        let (code, said) = fail(command.arg(&file).args(komi).args(["--", "/absent/katago"]));
        assert_eq!(code, 2, "{said}");
        said
    };
    assert!(refused(&[]).contains("runs on 13x13 have another komi than 7; name it with --komi"));
    assert!(refused(&["--komi", "7.5"]).contains("cannot start the engine"));
}

#[test]
fn study_positions_refuses_komi_above_the_area() {
    let folder = TempDir::new().unwrap();
    let mut command = program("tengen");
    command.current_dir(folder.path()).args(["study", "positions", "game.sgf", "--out", "positions.jsonl"]);
    let (code, said) = fail(command.args(["--size", "3", "--komi", "10", "--", "/absent/katago"]));
    assert!(code == 2 && said.contains("komi 10 exceeds the area of a 3x3 board; use --komi"), "{said}");
}

#[test]
fn games_that_study_positions_omits_are_named_and_counted() {
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("games.sgf");
    let whole = "(;SZ[9]KM[7];B[ee];W[ce];B[dc];W[gc];B[gd];W[fd];B[fc];W[ge])\n";
    let omitted = "(;SZ[19])\n(;SZ[9];B[ee];W[ee])\n(;SZ[9];B[aa\n".repeat(3);
    let refused = |text: &str| {
        fs::write(&file, text).unwrap();
        let mut command = program("tengen");
        command.args(["study", "positions", "--out"]).arg(folder.path().join("positions.jsonl")).arg(&file);
        let (code, said) = fail(command.args(["--", "/absent/katago"]));
        assert_eq!(code, 2, "{said}");
        said
    };
    let said = refused(&format!("{whole}{omitted}"));
    assert_eq!(said.matches("WARN game omitted").count(), 5, "{said}");
    for words in ["game=2 reason=\"the board is 19x19, not 9x9\"", "game=3 ", "more games omitted", "games=4"] {
        assert!(said.contains(words), "{words}: {said}");
    }
    assert!(said.contains("cannot start the engine"), "the others are searched: {said}");
    let said = refused(&omitted);
    assert!(said.contains("no legal game on 9x9 among 9; name other files"), "{said}");
    assert!(!refused(whole).contains("omitted"));
}
