//! Games that are deleted on request: readers see all others, wherever the deletion is killed.

use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;
use std::fs::{self, File};
use std::ops::ControlFlow;
use std::time::{Duration, SystemTime};

use record::GameRecord;
use store::{Checkpoint, DeletedFiles, FileKind, FileRef, Pruned, Run, Stem, StoreError};

use crate::{fresh, in_folder, on_every_run, some_games, stored};

/// Games in a file.
const EACH: u64 = 3;
/// Files of a model.
const FILES: u64 = 5;

fn file(number: u64) -> FileRef {
    FileRef { model: (number / FILES) as u32, stem: Stem::new("w", 1000 + number).unwrap() }
}

fn games(number: u64) -> Vec<GameRecord> {
    some_games("w", EACH * number, EACH * (number + 1))
}

fn publish(run: &Run, numbers: std::ops::Range<u64>) {
    numbers.for_each(|number| run.games().publish_as(&file(number), &games(number)).unwrap());
}

fn goal(games_before: u32) -> Pruned {
    Pruned { games_before, games: 7, positions: 70, ..Pruned::default() }
}

fn never(_: DeletedFiles) -> ControlFlow<()> {
    ControlFlow::Continue(())
}

/// Every game of these files can be read, with its examples, and no archive is damaged.
fn check_readers(run: &Run, from: u64, to: u64) {
    let listed: BTreeSet<FileRef> = run.games().files_since(0).unwrap().into_iter().collect();
    for number in from..to {
        let file = file(number);
        assert!(listed.contains(&file), "{file}");
        assert_eq!(run.games().read(&file).unwrap(), stored(&games(number)));
        let rows = |read: Result<record::ExampleRows, StoreError>| match read {
            Err(StoreError::NotFound { .. }) => 0,
            rows => rows.unwrap().len(),
        };
        let found = rows(run.examples().read(&file)) + rows(run.holdout().read(&file));
        assert_eq!(found, games(number).iter().map(GameRecord::positions).sum::<usize>(), "{file}");
    }
    let (_, problems) = run.archives().check(&|_, _| ControlFlow::Continue(())).unwrap();
    assert!(problems.is_empty(), "{problems:?}");
}

fn left(run: &Run, kind: FileKind) -> Vec<String> {
    run.pruning().files(kind).unwrap().into_iter().map(|file| file.path).collect()
}

#[test]
fn games_of_old_models_are_deleted_with_all_that_belongs_to_them() {
    on_every_run(|run| {
        publish(run, 0..4 * FILES);
        let reader = fresh(run);
        assert_eq!(reader.games().models().unwrap(), [0, 1, 2, 3]);
        let reported = RefCell::new(Vec::new());
        let report = |so_far: DeletedFiles| {
            reported.borrow_mut().push(so_far.files);
            ControlFlow::Continue(())
        };
        let done = run.pruning().prune_games(&goal(2), &report).unwrap();
        assert!(done.files >= 3 * 2 * FILES as usize && done.bytes > 10_000, "{done:?}");
        let mut reported = reported.into_inner();
        reported.dedup();
        assert!(reported.into_iter().eq(0..done.files), "each deletion is reported");
        for run in [run, &fresh(run), &reader] {
            assert_eq!(run.games().models().unwrap(), [2, 3]);
            check_readers(run, 2 * FILES, 4 * FILES);
        }
        for (kind, folder) in [
            (FileKind::Games, "games"),
            (FileKind::Examples, "examples"),
            (FileKind::Holdout, "holdout"),
            (FileKind::Sgf, "sgf"),
        ] {
            let files = left(run, kind);
            assert!(
                !files.is_empty() && files.iter().all(|path| path.as_str() >= &*format!("{folder}/000002")),
                "{files:?}"
            );
        }
        assert_eq!(run.pruning().newest().unwrap(), Pruned { games_before: 2, ..goal(2) });
        assert_eq!(run.pruning().prune_games(&goal(1), &never).unwrap().files, 0, "a mark does not fall");
        assert_eq!(fresh(run).pruning().newest().unwrap().games_before, 2);
    });
}

#[test]
fn archives_go_when_all_before_them_do() {
    on_every_run(|run| {
        publish(run, 0..3 * FILES);
        // Archives of 4 files: of models 0, 0 and 1, 1 and 2.
        run.archives().compact(1, 12).unwrap();
        publish(run, 3 * FILES..4 * FILES);
        let reader = fresh(run);
        assert_eq!(reader.games().files_since(0).unwrap().len() as u64, 4 * FILES);
        let numbers = |run: &Run| run.pruning().archives().unwrap().iter().map(|a| a.number).collect::<Vec<_>>();
        assert_eq!(numbers(run), [1, 2, 3, 4]);
        run.pruning().prune_games(&goal(1), &never).unwrap();
        for run in [run, &fresh(run), &reader] {
            assert_eq!(numbers(run), [2, 3, 4], "the second has games of model 1");
            check_readers(run, FILES, 4 * FILES);
        }
        run.pruning().prune_games(&goal(4), &never).unwrap();
        let none: Vec<u32> = Vec::new();
        for run in [run, &fresh(run), &reader] {
            assert_eq!((numbers(run), run.games().files_since(0).unwrap().len()), (none.clone(), 0));
        }
        assert!(left(run, FileKind::Examples).is_empty() && left(run, FileKind::Games).is_empty());
        // The next archive has the next number, and is found.
        publish(run, 4 * FILES..5 * FILES);
        fresh(run).archives().compact(1, 1000).unwrap();
        assert_eq!((numbers(run), numbers(&fresh(run)), numbers(&reader)), (vec![5], vec![5], vec![5]));
        check_readers(&fresh(run), 4 * FILES, 5 * FILES);
    });
}

/// Killed between any two deletions, with a reader that began before and one that begins after.
#[test]
fn killed_deletion_is_continued_and_harms_no_reader() {
    let kept = 2 * FILES;
    for kill in (0..100).step_by(3) {
        let (_folder, run) = in_folder();
        publish(&run, 0..3 * FILES);
        run.archives().compact(1, 9).unwrap();
        publish(&run, 3 * FILES..4 * FILES);
        let reader = fresh(&run);
        reader.games().files_since(0).unwrap();
        let steps = Cell::new(0);
        let killed = |_: DeletedFiles| {
            steps.set(steps.get() + 1);
            if steps.get() > kill { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        run.pruning().prune_games(&goal(2), &killed).unwrap();
        for run in [&reader, &fresh(&run)] {
            check_readers(run, kept, 4 * FILES);
        }
        fresh(&run).archives().compact(1, 9).unwrap();
        check_readers(&fresh(&run), kept, 4 * FILES);
        let again = fresh(&run);
        again.pruning().prune_games(&goal(2), &never).unwrap();
        assert_eq!(again.pruning().prune_games(&goal(2), &never).unwrap().files, 0);
        let old = again.games().files_since(0).unwrap();
        // Games of old models stay where an archive has newer ones, too.
        assert!(old.iter().all(|file| file.model >= 1), "{old:?}");
        check_readers(&again, kept, 4 * FILES);
        if steps.get() <= kill {
            assert!(kill > 9, "it was killed at many places");
            return;
        }
    }
    panic!("it was killed at every step");
}

/// A worker publishes examples before their games.
#[test]
fn files_of_a_set_without_games_are_deleted_after_an_hour() {
    let (folder, run) = in_folder();
    publish(&run, 0..1);
    let [games, examples] =
        ["games", "examples"].map(|kind| folder.path().join(format!("r/{kind}/{}.parquet", file(0))));
    fs::remove_file(games).unwrap();
    for (hours, is_left) in [(0, true), (2, false)] {
        let open = File::options().write(true).open(&examples).unwrap();
        open.set_modified(SystemTime::now() - Duration::from_secs(hours * 3600)).unwrap();
        run.pruning().prune_games(&goal(1), &never).unwrap();
        assert_eq!(examples.exists(), is_left, "after {hours} hours");
    }
}

#[test]
fn compaction_takes_no_set_without_its_examples() {
    let (folder, run) = in_folder();
    publish(&run, 0..2);
    // As a reader of the examples finds it whose games are still to be read: they go first.
    let path = |kind: &str| folder.path().join(format!("r/{kind}/{}.parquet", file(0)));
    fs::remove_file(path("games")).unwrap();
    fs::remove_file(path("examples")).unwrap();
    let done = run.archives().compact(1, 1000).unwrap();
    assert_eq!((done.archives, done.files), (1, 1));
    assert_eq!(run.games().files_since(0).unwrap(), [file(1)]);
}

#[test]
fn readable_games_of_archives_are_missed_by_none() {
    on_every_run(|run| {
        publish(run, 0..3 * FILES);
        run.archives().compact(1, 15).unwrap();
        publish(run, 3 * FILES..4 * FILES);
        let files = run.pruning().files(FileKind::Sgf).unwrap();
        let archives = run.pruning().archives().unwrap();
        let old: Vec<_> =
            files.into_iter().filter(|file| archives[..2].iter().any(|a| a.sgf.as_ref() == Some(&file.path))).collect();
        assert_eq!(old.len(), 2);
        let done = run.pruning().prune_sgf(&old, 3, &never).unwrap();
        assert_eq!((done.files, done.bytes), (2, old.iter().map(|file| file.bytes).sum()));
        assert_eq!(left(run, FileKind::Sgf).len() as u64, 1 + FILES);
        check_readers(run, 0, 4 * FILES);
        // Nothing else is deleted file by file.
        let others = run.pruning().files(FileKind::Games).unwrap();
        assert_eq!(run.pruning().prune_sgf(&others, 0, &never).unwrap().files, 0);
        assert_eq!(run.pruning().prune_quarantine(&others, &never).unwrap().files, 0);
        check_readers(run, 0, 4 * FILES);
    });
}

/// A compaction was killed after it had published an archive, whose readable games were pruned before the next
/// compaction.
#[test]
fn compaction_ends_what_an_archive_without_readable_games_replaces() {
    let (folder, run) = in_folder();
    publish(&run, 0..FILES);
    let games = |number| folder.path().join(format!("r/games/{}.parquet", file(number)));
    let source = fs::read(games(0)).unwrap();
    run.archives().compact(1, 1000).unwrap();
    fs::create_dir_all(games(0).parent().unwrap()).unwrap();
    fs::write(games(0), source).unwrap();
    assert_eq!(run.pruning().prune_sgf(&run.pruning().files(FileKind::Sgf).unwrap(), 2, &never).unwrap().files, 1);
    let run = fresh(&run);
    assert_eq!(run.archives().compact(1, 1000).unwrap().deleted, 1);
    assert!(run.archives().loose_files().unwrap().is_empty() && !games(0).exists());
    check_readers(&run, 0, FILES);
}

#[test]
fn newest_checkpoint_is_never_deleted() {
    on_every_run(|run| {
        for step in [1, 2] {
            run.checkpoints()
                .publish(&Checkpoint { step, files: [("a.bin".to_owned(), vec![1].into())].into() })
                .unwrap();
        }
        assert_eq!(run.checkpoints().prune(2).unwrap(), 0);
        assert_eq!(run.checkpoints().prune(0).unwrap(), 1);
        assert_eq!(run.checkpoints().newest().unwrap().unwrap().step, 2);
    });
}
