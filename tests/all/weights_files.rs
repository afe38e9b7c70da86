//! A file of weights where a model is named: commands take it, or say what to do with it.

use std::fs;

use go::Size;
use net::{Shape, Weights};
use tempfile::TempDir;
use tests::{TestStore, fail, succeed};

/// The network of a board that no preset has.
fn written(folder: &TempDir) -> String {
    let shape = Shape { blocks: 1, filters: 8, value_hidden: 16, ..Shape::plain(Size::new(7).unwrap()) };
    let path = folder.path().join("net.safetensors");
    fs::write(&path, Weights::synthetic(shape, 4).to_bytes()).unwrap();
    path.to_string_lossy().into_owned()
}

#[test]
fn commands_on_a_model_take_a_file_of_weights() {
    let (store, folder) = (TestStore::new(), TempDir::new().unwrap());
    let file = written(&folder);
    let positions = folder.path().join("positions.jsonl");
    fs::write(&positions, "{\"moves\": [], \"value\": 0.0, \"visits\": [[\"d4\", 3]]}\n".repeat(2)).unwrap();
    let (positions, onnx) = (positions.to_str().unwrap(), folder.path().join("net.onnx"));
    let commands: [&[&str]; 6] = [
        &["tengen", "study", "depth", "--positions", "2", "--visits", "2"],
        &["tengen", "study", "ladders", "--positions", "1", "--visits", "1"],
        &["tengen", "study", "targets", "--positions", "2", "--searches", "2", "--set", "search.visits=2"],
        &["tengen", "study", "values", "--visits", "1", "--positions", positions],
        &["tengen", "bench", "network", "--batch", "4", "--positions", "64", "--seconds", "0.05"],
        &["trainer", "export", "--format", "onnx", "--out", onnx.to_str().unwrap()],
    ];
    for command in commands {
        let said = succeed(store.program(command[0]).args(&command[1..]).args(["--model", &file]));
        let expected = if command[1] == "bench" { "7x7" } else { &file };
        assert!(said.contains(expected), "{command:?}: {said}");
    }
    assert!(fs::metadata(&onnx).unwrap().len() > 1000);
    assert_eq!(store.files(), [""; 0], "nothing is stored");
}

#[test]
fn commands_that_store_results_name_the_import_of_a_file() {
    let (store, folder) = (TestStore::new(), TempDir::new().unwrap());
    let file = written(&folder);
    let commands: [&[&str]; 4] = [
        &["selfplay", "--model", &file],
        &["evaluator", "--pair", &file, "GnuGo-10"],
        &["evaluator", "sprt", "v1", &file, "--elo0", "0", "--elo1", "10"],
        &["evaluator", "gate", &file],
    ];
    for command in commands {
        let (code, said) = fail(store.program(command[0]).args(&command[1..]));
        assert_eq!(code, 2, "{command:?}: {said}");
        assert!(said.contains(&format!("{file} is a file")), "{command:?}: {said}");
        assert!(said.contains(&format!("`trainer import {file} --run NAME --config FILE`")), "{command:?}: {said}");
    }
}

/// Damaged models of a store have exit code 1. A restart does not correct what was typed.
#[test]
fn file_that_is_no_network_is_a_wrong_argument() {
    let (store, folder) = (TestStore::new(), TempDir::new().unwrap());
    let file = folder.path().join("net.safetensors");
    fs::write(&file, "<html>404</html>").unwrap();
    let (page, absent) = (file.to_str().unwrap(), "absent.onnx");
    let commands: [&[&str]; 4] = [
        &["tengen", "gtp", "--model"],
        &["tengen", "study", "depth", "--model"],
        &["trainer", "export", "--format", "onnx", "--out", "never.onnx", "--model"],
        &["tengen", "serve", "--listen", "127.0.0.1:0", "--model-file"],
    ];
    let names = [(page, format!("cannot open model {page}: ")), (absent, format!("cannot read {absent}"))];
    for command in commands {
        for (name, expected) in &names {
            let mut program = store.program(command[0]);
            let (code, said) = fail(program.current_dir(folder.path()).args(&command[1..]).arg(name));
            assert!(code == 2 && said.contains(expected), "{command:?}: {code}: {said}");
        }
    }
}
