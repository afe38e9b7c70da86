//! What can happen to a store that is a folder.

use std::cell::Cell;
use std::fs;
use std::ops::ControlFlow;
use std::os::unix::fs::PermissionsExt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, SystemTime};

use bytes::Bytes;
use exit_class::{Classified, ExitClass};
use store::{FileRef, LeaseName, Run, Stem, StoreError};
use testing::{Access, with_guard};

use crate::{config, in_folder, name, some_games};

fn publish(run: &Run) -> FileRef {
    let file = FileRef { model: 1, stem: Stem::new("w", 5).unwrap() };
    run.games().publish_as(&file, &some_games("w", 0, 3)).unwrap();
    file
}

/// A file counts as published when it would survive a loss of power, which no test can cause.
#[test]
fn files_are_synced() {
    let (_folder, run) = in_folder();
    let mut shown = String::new();
    run.store().with_objects(|objects| {
        shown = format!("{objects:?}");
        objects
    });
    assert!(shown.contains("fsync: true"), "{shown}");
}

#[test]
fn partial_file_of_killed_writer_is_invisible_and_deleted() {
    let (folder, run) = in_folder();
    let games = folder.path().join("r/games/000001");
    fs::create_dir_all(&games).unwrap();
    // Half a file of a writer that was killed while it wrote aside.
    fs::write(games.join("w-0000000000005.parquet#1"), "PAR1 half").unwrap();
    assert_eq!(run.games().files(1).unwrap(), []);
    let file = publish(&run);
    assert_eq!(run.games().files(1).unwrap(), [file]);
    assert_eq!(run.pruning().sweep(Duration::from_secs(3600)).unwrap(), 0);
    assert_eq!(run.pruning().sweep(Duration::ZERO).unwrap(), 1);
    assert_eq!(fs::read_dir(&games).unwrap().count(), 1);
    assert_eq!(run.games().files(1).unwrap().len(), 1);
}

#[test]
fn segment_of_a_killed_writer_is_invisible_and_deleted_after_a_day() {
    let (folder, run) = in_folder();
    let segments = run.store().evaluations("set", None).unwrap();
    assert_eq!(segments.sweep().unwrap(), 0);
    assert_eq!(segments.publish(&Bytes::from("whole")).unwrap(), 1);
    let set = folder.path().join("evalcache/set");
    for (name, hours) in [("000001.segment", 25), ("000002.segment#1", 25), ("000003.segment#1", 23)] {
        let file = fs::OpenOptions::new().create(true).append(true).open(set.join(name)).unwrap();
        file.set_modified(SystemTime::now() - Duration::from_secs(hours * 3600)).unwrap();
    }
    assert_eq!(segments.numbers().unwrap(), [1]);
    assert_eq!([(); 2].map(|()| segments.sweep().unwrap()), [1, 0]);
    assert!(!set.join("000002.segment#1").exists() && set.join("000003.segment#1").exists());
    assert_eq!(segments.numbers().unwrap(), [1]);
}

#[test]
fn model_whose_writer_was_killed_does_not_block_the_next() {
    let (folder, run) = in_folder();
    let models = folder.path().join("r/models/000001");
    fs::create_dir_all(&models).unwrap();
    fs::write(models.join("weights.safetensors"), "of a writer that was killed before the metadata").unwrap();
    assert_eq!((run.models().newest().unwrap(), run.models().list().unwrap()), (None, vec![]));
    let settings = config(&[]);
    let metadata = store::ModelMetadata::new(&name("r"), 1, 1, &settings);
    run.models().publish(&metadata, Bytes::from("new weights")).unwrap();
    assert_eq!(run.models().get(1).unwrap(), (metadata, Bytes::from("new weights")));
    assert_eq!(fs::read_dir(&models).unwrap().count(), 3);
}

#[test]
fn foreign_files_are_not_listed() {
    let (folder, run) = in_folder();
    let file = publish(&run);
    for name in ["notes.txt", "w.parquet", ".hidden", "w-5.parquet", "w-0000000000006.parquet.tmp"] {
        fs::write(folder.path().join("r/games/000001").join(name), "x").unwrap();
    }
    fs::create_dir_all(folder.path().join("r/games/old")).unwrap();
    assert_eq!(run.games().files(1).unwrap(), [file]);
    assert_eq!(run.games().models().unwrap(), [1]);
}

#[test]
fn folder_that_cannot_be_written_is_named() {
    let (folder, run) = in_folder();
    // A file where a folder must go: the one obstacle that also stops root, as whom tests may run.
    fs::create_dir_all(folder.path().join("r")).unwrap();
    fs::write(folder.path().join("r/models"), "").unwrap();
    let error = run.models().newest().unwrap_err();
    assert!(error.class() == ExitClass::StoreUnreachable && error.to_string().contains("/r/models/"), "{error}");
    run.resign().publish(&crate::state::threshold(-0.9)).unwrap();
    fs::write(folder.path().join("r/ratings"), "").unwrap();
    let error = run.ratings().publish(&[]).unwrap_err();
    let expected = format!("cannot write {}/r/ratings/", folder.path().display());
    assert!(error.class() == ExitClass::StoreUnreachable && error.to_string().starts_with(&expected), "{error}");
    assert!(error.to_string().ends_with("Not a directory (os error 20)"), "{error}");
}

#[test]
fn folder_without_permission_is_named() {
    let (folder, run) = in_folder();
    run.create(&config(&[])).unwrap();
    let inside = folder.path().join("r");
    fs::set_permissions(&inside, fs::Permissions::from_mode(0o555)).unwrap();
    let denied = fs::write(inside.join("probe"), "").is_err();
    let error = run.ratings().publish(&[]);
    fs::set_permissions(&inside, fs::Permissions::from_mode(0o755)).unwrap();
    if !denied {
        // Root may write everywhere; the class is tested beside `classify`, too.
        return testing::unsupported("a folder that its user may not write");
    }
    let error = error.unwrap_err();
    assert!(error.class() == ExitClass::StoreRefuses && error.to_string().contains("Permission denied"), "{error}");
}

/// A cache of a network file system lists it for a while.
#[test]
fn lease_that_is_listed_and_gone_is_waited_for() {
    let (folder, run) = in_folder();
    let path = folder.path().join("r/leases/selfplay/0/000001.toml");
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    for stops in [true, false] {
        fs::write(&path, "").unwrap();
        let gone = path.clone();
        let guard = move |access: Access| {
            if access == Access::Get {
                drop(fs::remove_file(&gone));
            }
            true
        };
        waits_once(&with_guard(run.store(), guard).run(run.name()), stops);
    }
}

fn worker() -> LeaseName {
    LeaseName { stage: "selfplay", name: "0".to_owned(), remedy: "--worker NAME" }
}

/// Acquires a lease, which waits once, and stops then or is acquired.
fn waits_once(run: &Run, stops: bool) {
    let waits = Cell::new(0);
    let wait = |_: Duration| {
        waits.set(waits.get() + 1);
        if stops { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let acquired = run.leases().acquire(worker(), &wait, || {}).unwrap();
    assert_eq!((acquired.is_none(), waits.get()), (stops, 1));
}

/// As where another process was quicker, and its lease is not listed yet.
#[test]
fn lease_whose_number_is_taken_is_tried_again_after_a_wait() {
    for stops in [false, true] {
        let (folder, run) = in_folder();
        let path = folder.path().join("r/leases/selfplay/0/000001.toml");
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        let is_first = AtomicBool::new(true);
        let guard = move |access: Access| {
            match access {
                Access::Put if is_first.swap(false, Ordering::Relaxed) => fs::write(&path, "").unwrap(),
                // It is released before the two are compared.
                Access::Get => drop(fs::remove_file(&path)),
                _ => {}
            }
            true
        };
        waits_once(&with_guard(run.store(), guard).run(run.name()), stops);
    }
}

/// It comes back between the last look of another process and the lease of that one.
#[test]
fn lease_whose_holder_responds_at_the_last_moment_is_not_taken() {
    let (folder, run) = in_folder();
    let leases = folder.path().join("r/leases/selfplay/0");
    let [held, next, probe] = ["000001.toml", "000002.toml", "000001.asked.toml"].map(|name| leases.join(name));
    fs::create_dir_all(&leases).unwrap();
    // A file that names no process is treated as that of a process elsewhere.
    fs::write(&held, "").unwrap();
    let is_back = Arc::new(AtomicBool::new(false));
    let (back, response) = (is_back.clone(), probe.clone());
    let guard = move |access: Access| {
        // Before the first write, that of the probe, there is none.
        if access == Access::Put && fs::remove_file(&response).is_ok() {
            back.store(true, Ordering::Relaxed);
        }
        true
    };
    let wait = |_: Duration| {
        if is_back.load(Ordering::Relaxed) {
            drop(fs::remove_file(&probe));
        }
        ControlFlow::Continue(())
    };
    let newcomer = with_guard(run.store(), guard).run(run.name());
    let error = newcomer.leases().acquire(worker(), &wait, || {}).unwrap_err();
    assert!(matches!(error, StoreError::Held { .. }), "{error}");
    assert!(held.exists() && !next.exists());
}
