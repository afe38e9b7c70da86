//! Damaged files, killed writers, other shufflers.

use std::fs::{self, File, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use bytes::Bytes;
use config::RunName;
use runtime::{Driver as _, Silent, Step, Stop};
use shuffler::{Driver, Event, ShufflerError};
use store::{ModelMetadata, Run, StoreError};
use tempfile::TempDir;

use crate::{config, file, games, in_folder, play, publish, read};

fn parquet(folder: &TempDir, kind: &str, time: u64) -> PathBuf {
    folder.path().join("r").join(kind).join(format!("{}.parquet", file(0, time)))
}

fn cut(path: &PathBuf) {
    let bytes = fs::read(path).unwrap();
    fs::write(path, &bytes[..bytes.len() / 2]).unwrap();
}

#[test]
fn damaged_games_are_skipped_and_listed() {
    let (folder, run) = in_folder();
    play(&run, 0, 0, 60);
    let path = parquet(&folder, "games", 20);
    cut(&path);
    let manifest = publish(&run, &config(&["train.steps=10"]), 1).unwrap();
    assert_eq!(manifest.rejected.len(), 1);
    assert_eq!(manifest.rejected[0].path, path.display().to_string());
    assert!(manifest.rejected[0].reason.contains("is damaged: it is cut off"), "{:?}", manifest.rejected);
    let lost = games(0, 20, 30);
    assert!(read(&run, &manifest).iter().all(|example| lost.iter().all(|game| game.id != example.game)));
}

/// As of a worker of another version that plays for the run by mistake: training goes on without them.
#[test]
fn games_of_another_version_are_skipped_and_listed() {
    let (folder, run) = in_folder();
    play(&run, 0, 0, 60);
    let path = parquet(&folder, "games", 20);
    let mut table = record::games::to_batch(&games(0, 20, 30));
    table.schema_metadata_mut().insert(record::VERSION_KEY, "games/7");
    fs::write(&path, store::encode(&table)).unwrap();
    let manifest = publish(&run, &config(&["train.steps=10"]), 1).unwrap();
    let [rejected] = &manifest.rejected[..] else { panic!("{:?}", manifest.rejected) };
    assert_eq!(rejected.path, path.display().to_string());
    assert!(rejected.reason.contains("has games/7, and this program reads games/6"), "{rejected:?}");
}

#[test]
fn damaged_examples_are_skipped_and_listed() {
    let (folder, run) = in_folder();
    play(&run, 0, 0, 60);
    cut(&parquet(&folder, "examples", 10));
    fs::remove_file(parquet(&folder, "examples", 30)).unwrap();
    fs::copy(parquet(&folder, "examples", 0), parquet(&folder, "examples", 50)).unwrap();
    let manifest = publish(&run, &config(&["train.steps=10"]), 1).unwrap();
    let expected = [(10, "it is cut off"), (30, "does not exist"), (50, "its rows are not those of the games")];
    for (rejected, (time, reason)) in manifest.rejected.iter().zip(expected) {
        assert_eq!(rejected.path, parquet(&folder, "examples", time).display().to_string());
        assert!(rejected.reason.contains(reason), "{rejected:?}");
    }
    assert_eq!(manifest.rejected.len(), 3);
    let left: Vec<_> = [games(0, 0, 10), games(0, 20, 30), games(0, 40, 50)].concat();
    assert!(read(&run, &manifest).iter().all(|example| left.iter().any(|game| game.id == example.game)));
}

/// Games were published twice, and the examples of the first file were damaged thereafter.
#[test]
fn games_of_a_damaged_file_are_taken_from_another_one() {
    let (folder, run) = in_folder();
    play(&run, 0, 0, 40);
    run.games().publish_as(&file(0, 100), &games(0, 10, 20)).unwrap();
    cut(&parquet(&folder, "examples", 10));
    let manifest = publish(&run, &config(&["train.steps=10"]), 1).unwrap();
    assert_eq!((manifest.rejected.len(), manifest.window.duplicate_games), (1, 0));
    assert_eq!(manifest.window.games, games(0, 0, 40).iter().filter(|game| !game.holdout).count());
}

#[test]
fn games_that_cannot_be_read_are_missing() {
    let (folder, run) = in_folder();
    play(&run, 0, 0, 40);
    cut(&parquet(&folder, "games", 20));
    let error = publish(&run, &config(&[]), 1).unwrap_err();
    assert_eq!(error.to_string(), "model 0 has 30 of the 40 games that generation 1 needs");
}

#[test]
fn files_of_killed_shuffler_are_ignored() {
    let (folder, run) = in_folder();
    play(&run, 0, 0, 40);
    let shards = folder.path().join("r/shards/000001");
    fs::create_dir_all(&shards).unwrap();
    // A part of a sample that was never finished, from when there were other games, and one that was being written.
    fs::write(shards.join("part-0000.parquet"), "other rows").unwrap();
    fs::write(shards.join("part-0001.parquet#1"), "half a part").unwrap();
    assert_eq!(run.shards().manifest(1).unwrap(), None);
    let manifest = publish(&run, &config(&[]), 1).unwrap();
    assert_eq!(read(&run, &manifest).len(), 100);
    assert_eq!(run.shards().manifest(1).unwrap(), Some(manifest));
}

#[test]
fn shards_that_exist_are_not_made_again() {
    let (_folder, run) = in_folder();
    play(&run, 0, 0, 40);
    let manifest = publish(&run, &config(&[]), 1).unwrap();
    play(&run, 0, 40, 60);
    assert_eq!(publish(&run, &config(&[]), 1).unwrap(), manifest);
}

#[test]
fn shards_of_long_ago_are_deleted() {
    let (folder, run) = in_folder();
    play(&run, 0, 0, 40);
    for model in 1..4 {
        play(&run, model, 0, 20);
    }
    for generation in 1..=4 {
        publish(&run, &config(&[]), generation).unwrap();
    }
    assert_eq!(run.shards().generations().unwrap(), [3, 4]);
    assert_eq!(fs::read_dir(folder.path().join("r/shards")).unwrap().count(), 2);
}

#[test]
fn damaged_shard_is_named() {
    let (folder, run) = in_folder();
    play(&run, 0, 0, 40);
    let manifest = publish(&run, &config(&[]), 1).unwrap();
    let path = folder.path().join("r/shards/000001/part-0000.parquet");
    cut(&path);
    let error = run.shards().read(1, &manifest.parts[0]).unwrap_err();
    assert!(matches!(error, StoreError::Damaged { path: named, .. } if named == path.display().to_string()));
}

fn publish_model(run: &Run, number: u32) {
    let settings = config(&[]);
    let name: RunName = "r".parse().unwrap();
    let metadata = ModelMetadata::new(&name, number, 1, &settings);
    run.models().publish(&metadata, Bytes::from(format!("weights {number}"))).unwrap();
}

fn follow(run: &Run, stop: &Stop) {
    runtime::drive(&mut Driver::new(run, Silent).unwrap(), stop).unwrap();
}

#[test]
fn following_stops_after_the_last_model() {
    let (_folder, run) = in_folder();
    run.create(&config(&["loop.models=2"])).unwrap();
    publish_model(&run, 2);
    follow(&run, &Stop::never());
    assert!(run.shards().generations().unwrap().is_empty());
}

/// As one of another user. Where the test runs as root, it is deleted.
#[test]
fn abandoned_file_that_cannot_be_deleted_is_no_error() {
    let (folder, run) = in_folder();
    run.create(&config(&["loop.models=2"])).unwrap();
    publish_model(&run, 2);
    let old = folder.path().join("r/old");
    fs::create_dir(&old).unwrap();
    let file = File::create(old.join("w-0000000000005.parquet#1")).unwrap();
    file.set_modified(SystemTime::now() - Duration::from_secs(25 * 3600)).unwrap();
    fs::set_permissions(&old, Permissions::from_mode(0o555)).unwrap();
    let step = Driver::new(&run, Silent).unwrap().step();
    fs::set_permissions(&old, Permissions::from_mode(0o755)).unwrap();
    assert_eq!(step.unwrap(), Step::Finished);
}

#[test]
fn following_makes_shards_as_models_appear() {
    let (_folder, run) = in_folder();
    run.create(&config(&["loop.models=3"])).unwrap();
    play(&run, 0, 0, 40);
    play(&run, 1, 0, 20);
    let stop = Stop::never();
    let pause = Duration::from_millis(20);
    std::thread::scope(|scope| {
        let shuffler = scope.spawn(|| follow(&run, &stop));
        let wait_for = |generation| {
            // Ten minutes at least: longer than it takes on any machine.
            let mut polls = 0;
            while run.shards().manifest(generation).unwrap().is_none() && !stop.wait(pause) {
                // The scope joins its thread before it panics itself, so the thread is stopped first.
                polls += 1;
                if shuffler.is_finished() || polls > 30_000 {
                    stop.request();
                    panic!("no shards of generation {generation}");
                }
            }
        };
        wait_for(1);
        publish_model(&run, 1);
        wait_for(2);
        // Now it waits for model 2, and stops when asked to.
        stop.request();
        shuffler.join().unwrap();
    });
    assert_eq!(run.shards().generations().unwrap(), [1, 2]);
}

/// A shuffler that is killed while it makes shards, or fails and is restarted, has shown that the games for them are
/// there: the alert TengenNoShards compares these numbers. The error of this test exits with code 2, after which none
/// is restarted.
#[test]
fn games_are_reported_before_shards_that_cannot_be_made() {
    let (_folder, run) = in_folder();
    run.create(&config(&["train.batch=100000"])).unwrap();
    play(&run, 0, 0, 40);
    let mut waiting = Vec::new();
    let reporter = |event: Event| {
        if let Event::Waiting { model, games, wanted, published } = event {
            waiting.push((model, games, wanted, published));
        }
    };
    let error = Driver::new(&run, reporter).unwrap().step().unwrap_err();
    assert!(matches!(error, ShufflerError::TooFew { .. }), "{error}");
    assert_eq!(waiting, [(0, 40, 40, false)]);
}

#[test]
fn games_beyond_those_wanted_are_reported_after_publication() {
    let (_folder, run) = in_folder();
    run.create(&config(&["loop.models=3"])).unwrap();
    play(&run, 0, 0, 57);
    let reported = |steps: usize| {
        let mut waiting = Vec::new();
        let reporter = |event: Event| {
            if let Event::Waiting { games, wanted, published, .. } = event {
                waiting.push((games, wanted, published));
            }
        };
        let mut driver = Driver::new(&run, reporter).unwrap();
        for _ in 0..steps {
            driver.step().unwrap();
        }
        drop(driver);
        waiting
    };
    assert_eq!(reported(2), [(57, 40, false), (57, 40, true)]);
    assert_eq!(reported(1), [(57, 40, true)], "after a restart");
}

/// Files of games of a model, with their names.
fn files_of_games(folder: &TempDir, model: u32) -> Vec<(PathBuf, Vec<u8>)> {
    let entries = fs::read_dir(folder.path().join(format!("r/games/{model:06}"))).unwrap();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths.into_iter().map(|path| (path.clone(), fs::read(path).unwrap())).collect()
}

/// A run does not need archives; but one that is not what its sources are is never passed over.
#[test]
fn failed_compaction_is_retried_after_the_next_shards_and_damage_is_an_error() {
    let (folder, run) = in_folder();
    run.create(&config(&["loop.models=9"])).unwrap();
    let made = || (run.shards().generations().unwrap(), run.archives().loose_files().unwrap().len());
    // As many files as make a compaction due.
    for number in 0..500 {
        run.games().publish_as(&file(0, number), &games(0, number, number + 1)).unwrap();
    }
    let loose = files_of_games(&folder, 0);
    // A file where a folder must go: the one obstacle that also stops root, as whom tests may run.
    let obstacle = folder.path().join("r/examples/archive");
    fs::write(&obstacle, "").unwrap();
    let mut driver = Driver::new(&run, Silent).unwrap();
    assert_eq!(driver.step().unwrap(), Step::Worked);
    assert_eq!(made(), (vec![1], 500));

    fs::remove_file(&obstacle).unwrap();
    publish_model(&run, 1);
    play(&run, 1, 0, 20);
    assert_eq!(driver.step().unwrap(), Step::Worked);
    assert_eq!(made(), (vec![1, 2], 0));

    loose.iter().for_each(|(path, bytes)| fs::write(path, bytes).unwrap());
    fs::write(&loose[0].0, &loose[1].1).unwrap();
    publish_model(&run, 2);
    play(&run, 2, 0, 20);
    let error = driver.step().unwrap_err().to_string();
    assert!(error.contains("it is another in archive 000001"), "{error}");
    assert!(loose[0].0.exists());
}
