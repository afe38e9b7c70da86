//! Which models are opened, and when they are opened anew.

use std::fs::{self, File};
use std::path::Path;
use std::time::{Duration, SystemTime};

use clap::Parser;
use config::Preset;
use go::Game;
use mcts::{Draw, Request};
use net::Weights;
use store::{ModelMetadata, Store};

use super::comparison::VersionRead;
use super::*;
use crate::WebError;
use crate::play::PlayArgs;

#[derive(Parser)]
struct Program {
    #[command(flatten)]
    play: PlayArgs,
}

const NEVER: Comparisons = Comparisons { every: Duration::MAX, ..Comparisons::DEFAULT };
/// At each use of a model, and over when it is handed out.
const ALWAYS: Comparisons = Comparisons { every: Duration::ZERO, away: Duration::ZERO, spawn: at_once };

fn at_once(work: VersionRead) -> io::Result<()> {
    work();
    Ok(())
}

fn engines(most: &str) -> Engines {
    let program = Program::parse_from(["serve", "--device", "cpu", "--threads", "1", "--open-models", most]);
    program.play.open(&Store::in_memory().unwrap()).unwrap().engines
}

#[test]
fn model_that_is_being_opened_does_not_hold_others_up() {
    let (engines, size) = (engines("2"), Size::new(9).unwrap());
    let place = engines.place("random");
    let opening = place.lock();
    // This would wait for ever if it needed the lock of the other model.
    let uniform = engines.open("uniform", size).unwrap();
    assert_eq!(uniform.name, "uniform");
    drop(opening);
    drop(place);
    assert!(Arc::ptr_eq(&uniform, &engines.open("uniform", size).unwrap()));
    assert!(Arc::ptr_eq(&uniform, &engines.already_open("uniform", size).unwrap()));
    engines.close();
}

#[test]
fn close_ends_the_wait_for_inference_servers() {
    let args = ["serve", "--device", "cpu", "--threads", "1", "--inference", "http://127.0.0.1:1"];
    let engines = Program::parse_from(args).play.open(&Store::in_memory().unwrap()).unwrap().engines;
    let game = Game::new(Size::new(9).unwrap());
    let mut evaluator = engines.open("9x9-demo", game.size()).unwrap().evaluator();
    let request = Request { game: &game, komi: 7.0, draw: Draw::PLAIN };
    let _ticket = evaluator.submit(request);
    let error = evaluator.flush_until(&mut || true).unwrap_err().to_string();
    assert!(error.contains("was stopped"), "{error}");
    engines.close();
    let _ticket = evaluator.submit(request);
    let error = evaluator.flush().unwrap_err().to_string();
    assert!(error.contains("no inference server evaluated a batch for"), "{error}");
    assert!(!error.contains("for 300 s"), "a search that is over need not wait: {error}");
}

#[test]
fn files_are_opened_by_name_and_never_by_path() {
    let (folder, size) = (tempfile::tempdir().unwrap(), Size::new(5).unwrap());
    let path = folder.path().join("net.safetensors");
    let shape = Shape { blocks: 1, filters: 8, ownership: true, ..Shape::plain(size) };
    fs::write(&path, Weights::synthetic(shape, 1).to_bytes()).unwrap();
    let path = path.to_str().unwrap();
    let open = |files: &[&str]| {
        let files = files.iter().flat_map(|file| ["--model-file", file]);
        let args = ["serve", "--device", "cpu", "--threads", "1"].into_iter().chain(files);
        Program::parse_from(args).play.open(&Store::in_memory().unwrap())
    };
    let engines = Engines { comparisons: NEVER, ..open(&[path]).unwrap().engines };
    let found = engines.open("net.safetensors", size).unwrap();
    assert_eq!(found.name, "net.safetensors");
    assert!(Arc::ptr_eq(&found, &engines.already_open("net.safetensors", size).unwrap()));
    assert!(!found.has_heads_read() && found.predictor().is_none());
    assert!(engines.open_with_heads("net.safetensors", size).unwrap().predictor().is_some());
    let nine = Size::new(9).unwrap();
    assert!(matches!(engines.open("net.safetensors", nine), Err(EnginesError::Board { .. })));
    assert!(matches!(engines.open(path, size), Err(EnginesError::Name(_))));
    let choice = engines.files()[0].choice();
    assert_eq!((choice.run.as_str(), choice.size, choice.predicts), ("net.safetensors", Some(5), true));
    drop(found);
    engines.close();
    assert!(matches!(open(&[path, path]), Err(WebError::SameName { .. })));
    assert!(matches!(open(&["no/such"]), Err(WebError::Models(ModelError::File { .. }))));
}

/// A store with model 1 of a run, in a folder that a test may delete.
fn publish(folder: &Path, seed: u64) -> Store {
    let (store, config) = (Store::open(folder.to_str().unwrap()).unwrap(), Preset::Tiny.config());
    let run = store.run(&"v1".parse().unwrap());
    run.create(&config).unwrap();
    let weights = Weights::synthetic(Shape::new(&config.game, &config.network), seed).to_bytes();
    run.models().publish(&ModelMetadata::new(run.name(), 1, 0, &config), weights.into()).unwrap();
    store
}

/// Engines with model 1 of a run that a test may delete, and the size of its board.
fn engines_of(folder: &Path, comparisons: Comparisons) -> (Engines, Size) {
    let args = ["serve", "--device", "cpu", "--threads", "1"];
    let opened = Program::parse_from(args).play.open(&publish(folder, 1)).unwrap().engines;
    (Engines { comparisons, ..opened }, Preset::Tiny.config().game.board())
}

#[test]
fn model_of_a_run_that_is_begun_again_is_opened_anew() {
    let folder = tempfile::tempdir().unwrap();
    let (engines, size) = engines_of(folder.path(), ALWAYS);
    assert_eq!(engines.version("v1-1"), None);
    let first = engines.open("v1-1", size).unwrap();
    let is_first = || engines.already_open("v1-1", size).is_some_and(|open| Arc::ptr_eq(&first, &open));
    assert!(is_first() && is_first());
    fs::remove_dir_all(folder.path().join("v1")).unwrap();
    assert!(is_first() && is_first(), "while there is none it stays");
    publish(folder.path(), 2);
    assert!(is_first(), "it is compared after it was handed out");
    assert!(!is_first());
    let second = engines.open("v1-1", size).unwrap();
    assert!(first.version.is_some() && first.version != second.version);
    assert_eq!(engines.version("v1-1"), second.version);
    drop((first, second));
    engines.close();
}

#[test]
fn open_model_waits_for_no_comparison_and_a_failed_one_rests() {
    let never_over = Comparisons { spawn: |_| Ok(()), ..ALWAYS };
    for comparisons in [never_over, Comparisons { away: Duration::MAX, ..ALWAYS }] {
        let folder = tempfile::tempdir().unwrap();
        let (engines, size) = engines_of(folder.path(), comparisons);
        let first = engines.open("v1-1", size).unwrap();
        let is_first = || engines.already_open("v1-1", size).is_some_and(|open| Arc::ptr_eq(&first, &open));
        fs::remove_dir_all(folder.path().join("v1")).unwrap();
        assert!(is_first());
        publish(folder.path(), 2);
        assert!(is_first() && is_first());
        assert!(Arc::ptr_eq(&first, &engines.open("v1-1", size).unwrap()));
        drop(first);
        engines.close();
    }
}

#[test]
fn replaced_model_stays_until_the_other_one_is_open() {
    let folder = tempfile::tempdir().unwrap();
    let (engines, size) = engines_of(folder.path(), ALWAYS);
    let first = engines.open("v1-1", size).unwrap();
    let is_first = || engines.already_open("v1-1", size).is_some_and(|open| Arc::ptr_eq(&first, &open));
    let delete = || fs::remove_dir_all(folder.path().join("v1")).unwrap();
    delete();
    publish(folder.path(), 2);
    assert!(is_first());
    assert!(!is_first());
    delete();
    assert!(matches!(engines.open("v1-1", size), Err(EnginesError::Model(_))));
    assert!(is_first() && is_first());
    drop(first);
    engines.close();
}

#[test]
fn auxiliary_heads_are_those_of_the_weights_that_are_open() {
    let (folder, size) = (tempfile::tempdir().unwrap(), Size::new(5).unwrap());
    let path = folder.path().join("net.safetensors");
    let shape = Shape { blocks: 1, filters: 8, ownership: true, ..Shape::plain(size) };
    fs::write(&path, Weights::synthetic(shape, 1).to_bytes()).unwrap();
    let args = ["serve", "--device", "cpu", "--threads", "1", "--model-file", path.to_str().unwrap()];
    let opened = Program::parse_from(args).play.open(&Store::in_memory().unwrap()).unwrap().engines;
    let engines = Engines { comparisons: NEVER, ..opened };
    let first = engines.open("net.safetensors", size).unwrap();
    fs::write(&path, Weights::synthetic(shape, 2).to_bytes()).unwrap();
    // The clock of a file system may be a coarse one.
    let file = File::options().write(true).open(&path).unwrap();
    file.set_modified(SystemTime::UNIX_EPOCH).unwrap();
    let open = || engines.open_with_heads("net.safetensors", size);
    assert!(matches!(open(), Err(EnginesError::Opening { .. })));
    assert!(!first.has_heads_read());
    let second = open().unwrap();
    assert!(!Arc::ptr_eq(&first, &second) && second.predictor().is_some());
    drop((first, second));
    engines.close();
}

#[test]
fn model_that_is_being_opened_or_used_keeps_its_place() {
    let (engines, size) = (engines("1"), Size::new(9).unwrap());
    let place = engines.place("random");
    let is_busy = |name: &str| matches!(engines.open(name, size), Err(EnginesError::Busy { most: 1 }));
    assert!(is_busy("uniform"));
    let opening = place.lock();
    assert!(matches!(engines.open("random", size), Err(EnginesError::Opening { .. })));
    assert!(engines.already_open("random", size).is_none());
    drop(opening);
    drop(place);
    let uniform = engines.open("uniform", size).unwrap();
    assert!(is_busy("random"));
    drop(uniform);
    assert_eq!(engines.open("random", size).unwrap().name, "random");
    engines.close();
}
