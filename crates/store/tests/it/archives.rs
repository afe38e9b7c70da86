//! Compaction: readers see the same before, while and after it, wherever it is killed.

use std::collections::{BTreeMap, BTreeSet};
use std::env;
use std::fs;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::thread;
use std::time::Duration;

use record::{Example, GameRecord};
use store::{Compaction, FileRef, Run, Stem, Store, StoreError};
use tempfile::TempDir;
use testing::s3::Server;
use testing::{wait_until, with_slow_reads};

use crate::{Endless, fresh, in_folder, name, on_every_run, on_server, some_games, stored};

fn file(model: u32, time: u64) -> FileRef {
    FileRef { model, stem: Stem::new(if time.is_multiple_of(2) { "w" } else { "v" }, time).unwrap() }
}

/// Games in a file.
const EACH: u64 = 3;

/// Publishes file after file of two models.
fn publish(run: &Run, numbers: std::ops::Range<u64>) {
    for number in numbers {
        let games = some_games("w", EACH * number, EACH * (number + 1));
        run.games().publish_as(&file(1 + (number / 10) as u32, number), &games).unwrap();
    }
}

/// All that readers can see of a run.
#[derive(Debug, PartialEq)]
struct View {
    files: Vec<FileRef>,
    models: Vec<u32>,
    games: BTreeMap<FileRef, Vec<GameRecord>>,
    examples: BTreeMap<FileRef, Vec<Example>>,
    holdout: BTreeMap<FileRef, Vec<Example>>,
    indices: BTreeSet<u64>,
}

fn view(run: &Run) -> View {
    let files = run.games().files_since(0).unwrap();
    let models: Vec<u32> = run.games().models().unwrap();
    let listed: BTreeSet<FileRef> = models.iter().flat_map(|&model| run.games().files(model).unwrap()).collect();
    assert!(files.iter().all(|file| listed.contains(file)), "{files:?} and then {listed:?}");
    let examples = |file: &FileRef| match run.examples().read(file) {
        Err(StoreError::NotFound { .. }) => None,
        rows => Some((file.clone(), rows.unwrap().to_examples())),
    };
    let holdout = models.iter().flat_map(|&model| run.games().holdout_files(model).unwrap());
    let view = View {
        games: files.iter().map(|file| (file.clone(), run.games().read(file).unwrap())).collect(),
        examples: files.iter().filter_map(examples).collect(),
        holdout: holdout.map(|file| (file.clone(), run.holdout().read(&file).unwrap().to_examples())).collect(),
        indices: models.iter().flat_map(|&model| run.games().indices(model, "w").unwrap()).collect(),
        files,
        models,
    };
    let read = view.games.values().flatten();
    for (file, games) in &view.games {
        let ids: Vec<_> = run.games().summaries(file).unwrap().iter().map(|game| game.id).collect();
        assert!(ids.iter().eq(games.iter().map(|game| &game.id)));
    }
    let ids: BTreeSet<_> = read.clone().map(|game| game.id).collect();
    assert_eq!(ids.len(), read.count(), "no game twice");
    view
}

#[test]
fn readers_see_the_same_before_and_after() {
    on_every_run(|run| {
        publish(run, 0..10);
        let before = view(run);
        assert!(!before.holdout.is_empty() && before.examples.len() > 8);
        let done = run.archives().compact(1, 12).unwrap();
        assert_eq!((done.archives, done.games, done.files, done.deleted, done.left.len()), (3, 30, 10, 10, 0));
        assert_eq!(view(run), before);
        assert_eq!(view(&fresh(run)), before);
        assert_eq!(run.archives().loose_files().unwrap(), []);
        assert_eq!(run.archives().compact(1, 12).unwrap(), Compaction::default());
        assert!((1..4).all(|model| run.games().files(model).unwrap().iter().all(|file| file.model == model)));
        publish(run, 10..12);
        assert_eq!(view(run).files.len(), 12);
        assert_eq!(run.archives().check(&|_, _| ControlFlow::Continue(())).unwrap().0, 3);
        assert!(run.archives().check(&|_, _| ControlFlow::Continue(())).unwrap().1.is_empty());
        // It may be ended before an archive.
        let first_two = |read: usize, all: usize| match (read, all) {
            (0..2, 3) => ControlFlow::Continue(()),
            _ => ControlFlow::Break(()),
        };
        assert_eq!(run.archives().check(&first_two).unwrap().0, 2);
    });
}

#[test]
fn file_may_go_into_an_archive_between_listing_and_reading() {
    on_every_run(|run| {
        publish(run, 0..6);
        let reader = fresh(run);
        let expected = view(run);
        let listed = reader.games().files(1).unwrap();
        run.archives().compact(1, 1000).unwrap();
        for file in &listed {
            assert_eq!(reader.games().read(file).unwrap(), expected.games[file]);
        }
    });
}

#[test]
fn parallel_reads_keep_the_requested_order() {
    on_every_run(|run| {
        publish(run, 0..8);
        run.archives().compact(1, 12).unwrap();
        publish(run, 8..30);
        let mut files = run.games().files_since(0).unwrap();
        files.reverse();
        files.insert(5, file(9, 99));
        let reader = fresh(run);
        let read = reader.games().read_each(&files, |file| reader.games().read(file));
        assert_eq!(read.len(), files.len());
        for (file, games) in files.iter().zip(read) {
            match games {
                Ok(games) => assert_eq!(games, run.games().read(file).unwrap()),
                Err(error) => assert!(matches!(error, StoreError::NotFound { .. }) && file.model == 9, "{error}"),
            }
        }
        assert!(reader.games().read_each(&[], |_| ()).is_empty());
    });
}

#[test]
fn little_waits_for_more() {
    let (_folder, run) = in_folder();
    publish(&run, 0..5);
    assert_eq!(run.archives().compact(16, 100).unwrap(), Compaction::default());
    publish(&run, 5..7);
    // Two files more would be more than 18.
    let done = run.archives().compact(16, 19).unwrap();
    assert_eq!((done.archives, done.games, run.archives().loose_files().unwrap().len()), (1, 18, 1));
}

#[test]
fn files_after_compaction_are_few() {
    let (folder, run) = in_folder();
    publish(&run, 0..40);
    run.archives().compact(1, 1000).unwrap();
    assert_eq!(files(folder.path()).len(), 4, "{:?}", files(folder.path()));
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
}

#[test]
fn readable_games_are_all_there() {
    let (folder, run) = in_folder();
    publish(&run, 0..7);
    let read = |time| fs::read_to_string(folder.path().join(format!("r/sgf/{}.sgf", file(1, time)))).unwrap();
    let before: String = (0..7).map(read).collect();
    run.archives().compact(1, 1000).unwrap();
    let packed = fs::File::open(folder.path().join("r/sgf/archive/000001.sgf.gz")).unwrap();
    let after = std::io::read_to_string(flate2::read::GzDecoder::new(packed)).unwrap();
    assert_eq!(after, before);
}

/// Every state in which a compaction may be killed: some of the files deleted, and some not.
#[test]
fn killed_compaction_is_resumed() {
    let (folder, run) = in_folder();
    publish(&run, 0..4);
    let before = view(&run);
    let root = folder.path().join("r");
    let loose: Vec<(PathBuf, Vec<u8>)> =
        files(&root).into_iter().map(|path| (path.clone(), fs::read(path).unwrap())).collect();
    run.archives().compact(1, 1000).unwrap();
    for kept in 0..=loose.len() {
        for (path, bytes) in &loose[..kept] {
            fs::write(path, bytes).unwrap();
        }
        let run = fresh(&run);
        assert_eq!(view(&run), before, "{kept} files left");
        run.archives().compact(1, 1000).unwrap();
        assert_eq!(view(&run), before, "{kept} files left");
        let games = loose[..kept].iter().filter(|(path, _)| path.starts_with(root.join("games"))).count();
        assert!(games == 0 || run.archives().loose_files().unwrap().is_empty());
        loose.iter().for_each(|(path, _)| drop(fs::remove_file(path)));
    }
}

#[test]
fn parts_without_their_archive_are_ignored_and_deleted() {
    let (folder, run) = in_folder();
    publish(&run, 0..4);
    let before = view(&run);
    for (kind, name) in [("examples", "000001.parquet"), ("holdout", "000001.parquet"), ("sgf", "000001.sgf.gz")] {
        let archive = folder.path().join("r").join(kind).join("archive");
        fs::create_dir_all(&archive).unwrap();
        fs::write(archive.join(name), "of an archive that never was").unwrap();
    }
    assert_eq!(view(&run), before);
    run.archives().compact(1, 1000).unwrap();
    assert_eq!(view(&fresh(&run)), before);
    let left = files(folder.path());
    assert_eq!(left.len(), 4, "{left:?}");
}

#[test]
fn files_of_a_bucket_are_compacted_several_at_once() {
    // A thread that is alone for long reads all of them, one after the other.
    wait_until("several files at once", || {
        let (store, most) = with_slow_reads(&Store::in_memory().unwrap());
        let run = store.run(&name("r"));
        publish(&run, 0..9);
        most.store(0, Ordering::Relaxed);
        let done = run.archives().compact(1, 1000).unwrap();
        assert_eq!((done.archives, done.games, done.deleted), (1, 27, 9));
        most.load(Ordering::Relaxed) > 1
    });
}

/// Each of hundreds of workers that start at once opens all archives.
#[test]
fn archives_of_a_bucket_are_opened_several_at_once() {
    let (store, most) = with_slow_reads(&Store::in_memory().unwrap());
    let run = store.run(&name("r"));
    publish(&run, 0..5);
    assert_eq!(run.archives().compact(1, EACH as usize).unwrap().archives, 5);
    wait_until("several archives at once", || {
        let fresh = fresh(&run);
        most.store(0, Ordering::Relaxed);
        assert_eq!(fresh.games().files(1).unwrap().len(), 5);
        most.load(Ordering::Relaxed) > 1
    });
}

#[test]
fn unreadable_files_are_not_archived() {
    let (folder, run) = in_folder();
    publish(&run, 0..4);
    let damaged = file(1, 2);
    fs::write(folder.path().join(format!("r/examples/{damaged}.parquet")), "PAR1").unwrap();
    let done = run.archives().compact(1, 1000).unwrap();
    assert_eq!((done.files, done.left.len()), (3, 1));
    assert!(done.left[0].0 == damaged && done.left[0].1.contains("is damaged: it is cut off"), "{:?}", done.left);
    assert_eq!(run.archives().loose_files().unwrap(), [damaged]);
}

#[test]
fn nothing_is_deleted_that_the_archive_does_not_have() {
    let (folder, run) = in_folder();
    publish(&run, 0..2);
    let other = some_games("w", 100, 103);
    run.archives().compact(1, 1000).unwrap();
    let stem = run.matches().publish("forged", &other).unwrap();
    let games = folder.path().join(format!("r/games/{}.parquet", file(1, 0)));
    fs::rename(folder.path().join(format!("r/matches/{stem}.parquet")), &games).unwrap();
    let error = run.archives().compact(1, 1000).unwrap_err();
    assert!(error.to_string().contains("it is another in archive 000001"), "{error}");
    assert!(games.exists());
}

#[test]
fn games_in_an_archive_cannot_be_published_as_others() {
    on_every_run(|run| {
        publish(run, 0..2);
        run.archives().compact(1, 1000).unwrap();
        publish(run, 0..2);
        assert_eq!(run.archives().loose_files().unwrap(), []);
        let mut other_policy = some_games("w", 0, 3);
        let turn = other_policy[0].turns.iter_mut().find(|turn| turn.is_example()).unwrap();
        turn.visits[0].1 += 1;
        for others in [some_games("w", 50, 53), other_policy] {
            let error = run.games().publish_as(&file(1, 0), &others).unwrap_err();
            assert!(matches!(error, StoreError::AlreadyExists { .. }), "{error}");
        }
    });
}

#[test]
fn damaged_archive_is_named() {
    let (folder, run) = in_folder();
    publish(&run, 0..4);
    run.archives().compact(1, 1000).unwrap();
    let path = folder.path().join("r/examples/archive/000001.parquet");
    let whole = fs::read(&path).unwrap();
    let mut bytes = whole.clone();
    bytes[whole.len() / 3] ^= 1;
    fs::write(&path, bytes).unwrap();
    let (_, problems) = run.archives().check(&|_, _| ControlFlow::Continue(())).unwrap();
    assert_eq!(problems.len(), 1);
    let said = format!("{} is damaged: its SHA-256", path.display());
    assert!(problems[0].to_string().starts_with(&said), "{}", problems[0]);
    fs::write(folder.path().join("r/games/archive/000001.parquet"), "PAR1").unwrap();
    let error = fresh(&run).games().files(1).unwrap_err().to_string();
    assert!(error.contains("games/archive/000001.parquet is damaged: it is cut off"), "{error}");
    assert!(error.contains("; restore the file from a backup"), "{error}");
}

/// Readers request one archive after the other: they would take the gap for the end, and a compaction would fill it.
#[test]
fn missing_archive_before_others_is_named() {
    let (folder, run) = in_folder();
    publish(&run, 0..6);
    assert_eq!(run.archives().compact(1, 2 * EACH as usize).unwrap().archives, 3);
    let archive = |number: u32| folder.path().join(format!("r/games/archive/{number:06}.parquet"));
    for (missing, next) in [(2, 3), (1, 3)] {
        fs::remove_file(archive(missing)).unwrap();
        let fresh = fresh(&run);
        let said = format!("{} is damaged: it is missing, and archive {next:06} exists; ", archive(missing).display());
        for _ in 0..2 {
            let error = fresh.games().files(1).unwrap_err().to_string();
            assert!(error.starts_with(&said) && error.contains("restore the file from a backup"), "{error}");
        }
        assert!(fresh.archives().compact(1, 100).unwrap_err().is_damage());
    }
    // The last one is not missed.
    fs::remove_file(archive(3)).unwrap();
    assert_eq!(fresh(&run).games().files(1).unwrap(), []);
}

/// Writers, two compactors and a reader at once: the reader sees every game once, and more and more of them.
#[test]
fn compactors_writers_and_readers_do_not_disturb_each_other() {
    on_every_run(|run| {
        const FILES: u64 = 10;
        thread::scope(|scope| {
            let writer = scope.spawn(|| publish(&fresh(run), 0..FILES));
            for _ in 0..2 {
                scope.spawn(|| {
                    while fresh(run).games().files_since(0).unwrap().len() < FILES as usize {
                        fresh(run).archives().compact(4, 9).unwrap();
                    }
                });
            }
            let mut seen = 0;
            while !writer.is_finished() {
                let found = view(&fresh(run)).indices.len();
                assert!(found >= seen, "{found} games after {seen}");
                seen = found;
            }
        });
        run.archives().compact(1, 1000).unwrap();
        let found = view(run);
        assert_eq!((found.files.len(), run.archives().loose_files().unwrap().len()), (FILES as usize, 0));
    });
}

/// Where the compactor works; the test is only a compactor where this is set.
const PLACE: &str = "STORE_TEST_COMPACT";
/// How often, unless TENGEN_TEST_KILLS says otherwise.
const KILLS: u64 = 4;

/// Not a test of its own: the process that the next ones start and kill.
#[test]
fn compactor() {
    let Ok(place) = env::var(PLACE) else { return };
    let (place, options) = place.split_once('|').unwrap();
    let options: Vec<(String, String)> = options
        .split('|')
        .filter_map(|option| option.split_once('='))
        .map(|(k, v)| (k.to_owned(), v.to_owned()))
        .collect();
    let run = Store::open_with(place, &options).unwrap().run(&name("r"));
    loop {
        let next = run.games().files_since(0).unwrap().len() as u64;
        publish(&run, next..next + 4);
        run.archives().compact(6, 9).unwrap();
    }
}

/// Kills it repeatedly: now while it starts, now after it made an archive, however slow the machine is.
fn kill(place: &str, options: &[(String, String)], run: &Run) {
    let options: Vec<String> = options.iter().map(|(key, value)| format!("{key}={value}")).collect();
    let place = format!("{place}|{}", options.join("|"));
    let mut seen = 0;
    let kills = env::var("TENGEN_TEST_KILLS").map_or(KILLS, |text| text.parse().unwrap());
    let archives = || {
        let (archives, problems) = fresh(run).archives().check(&|_, _| ControlFlow::Continue(())).unwrap();
        assert!(problems.is_empty(), "{problems:?}");
        archives
    };
    for kill in 0..kills {
        let before = archives();
        let mut compactor = Endless::start("archives::compactor", PLACE, &place);
        if kill % 2 == 1 {
            wait_until("archives", || {
                assert!(compactor.is_running(), "a compactor has ended");
                archives() > before
            });
        }
        // In a folder a process is at work after some 50 ms, and then for some 20 ms at every step.
        thread::sleep(Duration::from_millis(60 + 67 * kill % 400));
        drop(compactor);
        let found = view(&fresh(run));
        let numbers: Vec<u64> = found.files.iter().map(|file| file.stem.time()).collect();
        assert_eq!(numbers, (0..numbers.len() as u64).collect::<Vec<_>>(), "every file is there");
        assert!(numbers.len() >= seen, "files were lost");
        for (file, games) in &found.games {
            let number = file.stem.time();
            let published = some_games("w", EACH * number, EACH * (number + 1));
            assert_eq!(*games, stored(&published));
            let (aside, training): (Vec<_>, Vec<_>) = published.iter().partition(|game| game.holdout);
            for (found, games) in [(&found.examples, training), (&found.holdout, aside)] {
                let expected: Vec<Example> = games.iter().flat_map(|game| game.examples().unwrap()).collect();
                assert_eq!(found.get(file).map_or(&[][..], Vec::as_slice), expected);
            }
        }
        seen = numbers.len();
    }
}

#[test]
fn killed_compactors_lose_and_double_nothing_in_a_folder() {
    let folder = TempDir::new().unwrap();
    let place = folder.path().to_str().unwrap();
    kill(place, &[], &Store::open(place).unwrap().run(&name("r")));
}

#[test]
fn killed_compactors_lose_and_double_nothing_on_a_server() {
    let server = Server::start().unwrap();
    kill(&server.url(), &server.options(), &on_server(&server).run(&name("r")));
}
