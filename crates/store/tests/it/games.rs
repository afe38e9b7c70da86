//! Games, and everything that goes with them.

use record::{Example, ExampleRows, GameRecord};
use store::{FileRef, Run, Stem, Store, StoreError};
use testing::killed;

use crate::{in_folder, name, on_every_run, some_games, stored};

fn file(worker: &str, time: u64) -> FileRef {
    FileRef { model: 1, stem: Stem::new(worker, time).unwrap() }
}

fn examples(games: &[GameRecord], holdout: bool) -> Vec<Example> {
    games.iter().filter(|game| game.holdout == holdout).flat_map(|game| game.examples().unwrap()).collect()
}

fn publish(run: &Run, file: &FileRef, from: u64, to: u64) -> Vec<GameRecord> {
    let games = some_games(file.stem.worker(), from, to);
    run.games().publish_as(file, &games).unwrap();
    games
}

#[test]
fn games_come_back_as_they_were() {
    on_every_run(|run| {
        let file = file("w", 5);
        let games = publish(run, &file, 0, 30);
        assert_eq!(run.games().read(&file).unwrap(), stored(&games));
        assert_eq!(run.examples().read(&file).unwrap().to_examples(), examples(&games, false));
        assert_eq!(run.holdout().read(&file).unwrap().to_examples(), examples(&games, true));
        let summaries = run.games().summaries(&file).unwrap();
        assert!(summaries.iter().map(|game| game.id).eq(games.iter().map(|game| game.id)));
    });
}

#[test]
fn files_are_listed_by_time() {
    on_every_run(|run| {
        assert_eq!((run.games().models().unwrap(), run.games().files(1).unwrap()), (vec![], vec![]));
        for (worker, time) in [("b", 7), ("a", 9), ("c", 7)] {
            publish(run, &file(worker, time), 0, 1);
        }
        assert_eq!(run.games().models().unwrap(), [1]);
        assert_eq!(run.games().files(1).unwrap(), [file("b", 7), file("c", 7), file("a", 9)]);
    });
}

#[test]
fn files_are_listed_from_a_model_on() {
    on_every_run(|run| {
        let file = |model, time| FileRef { model, stem: Stem::new("w", time).unwrap() };
        let files = [file(0, 5), file(9, 1), file(9, 4), file(10, 2), file(12, 3)];
        for (i, file) in files.iter().enumerate() {
            run.games().publish_as(file, &some_games("w", i as u64, i as u64 + 1)).unwrap();
        }
        for (first, count) in [(0, 5), (1, 4), (9, 4), (10, 2), (11, 1), (13, 0)] {
            assert_eq!(run.games().files_since(first).unwrap(), files[files.len() - count..], "from {first}");
        }
    });
}

#[test]
fn worker_finds_what_it_has_published() {
    on_every_run(|run| {
        publish(run, &file("w", 1), 0, 3);
        publish(run, &file("w", 2), 7, 9);
        publish(run, &file("other", 3), 3, 6);
        assert_eq!(Vec::from_iter(run.games().indices(1, "w").unwrap()), [0, 1, 2, 7, 8]);
        assert!(run.games().indices(2, "w").unwrap().is_empty());
    });
}

#[test]
fn same_games_may_be_published_again_and_no_others() {
    on_every_run(|run| {
        publish(run, &file("w", 1), 0, 4);
        publish(run, &file("w", 1), 0, 4);
        let error = run.games().publish_as(&file("w", 1), &some_games("w", 4, 8)).unwrap_err();
        assert!(matches!(&error, StoreError::AlreadyExists { path } if path.contains("/r/")), "{error}");
        assert_eq!(run.games().read(&file("w", 1)).unwrap(), stored(&some_games("w", 0, 4)));
    });
}

/// Where only the response was lost, the file is there. Another process may have the name, too.
#[test]
fn publication_is_repeated_under_its_name_unless_another_has_it() {
    on_every_run(|run| {
        let tried = file("w", 5);
        let games = publish(run, &tried, 0, 4);
        let repeat = |games: &[GameRecord]| {
            let mut noted = Some(tried.clone());
            let published = run.games().publish_noting(1, "w", games, &mut noted).unwrap();
            assert_eq!(noted.as_ref(), Some(&published));
            published
        };
        assert_eq!(repeat(&games), tried);
        assert_eq!(run.games().files(1).unwrap(), std::slice::from_ref(&tried));
        let others = some_games("w", 4, 8);
        let second = repeat(&others);
        assert_eq!(run.games().files(1).unwrap(), [tried, second.clone()]);
        assert_eq!(run.games().read(&second).unwrap(), stored(&others));
    });
}

#[test]
fn publishing_by_the_clock_never_reuses_a_name() {
    on_every_run(|run| {
        let files: Vec<FileRef> =
            (0..5).map(|i| run.games().publish(1, "w", &some_games("w", i, i + 1)).unwrap()).collect();
        assert_eq!(run.games().files(1).unwrap(), files);
    });
}

#[test]
fn same_games_make_the_same_bytes() {
    let (one, run_one) = in_folder();
    let (two, run_two) = in_folder();
    for run in [&run_one, &run_two] {
        publish(run, &file("w", 1), 0, 20);
    }
    for name in [
        "games/000001/w-0000000000001.parquet",
        "examples/000001/w-0000000000001.parquet",
        "sgf/000001/w-0000000000001.sgf",
    ] {
        let read = |folder: &tempfile::TempDir| std::fs::read(folder.path().join("r").join(name)).unwrap();
        assert_eq!(read(&one), read(&two), "{name}");
    }
}

#[test]
fn examples_without_their_games_do_not_count() {
    let (folder, run) = in_folder();
    publish(&run, &file("w", 1), 0, 30);
    publish(&run, &file("w", 2), 30, 60);
    // What a worker leaves that is killed just before the last of its four files.
    std::fs::remove_file(folder.path().join("r/games/000001/w-0000000000002.parquet")).unwrap();
    assert_eq!(run.games().files(1).unwrap(), [file("w", 1)]);
    assert_eq!(run.games().holdout_files(1).unwrap(), [file("w", 1)]);
    assert_eq!(run.games().indices(1, "w").unwrap().len(), 30);
}

#[test]
fn games_count_only_once_all_their_files_are_written() {
    let games = some_games("w", 0, 30);
    // Of readable games, examples, held-out examples and games.
    for writes in 0..4 {
        let run = Store::in_memory().unwrap().run(&name("r"));
        killed(&run, writes).games().publish_as(&file("w", 1), &games).unwrap_err();
        assert_eq!(run.games().files(1).unwrap(), [], "{writes} of 4 writes");
        // As its worker does when it is restarted.
        publish(&run, &file("w", 1), 0, 30);
        assert_eq!(run.games().files(1).unwrap(), [file("w", 1)]);
        assert_eq!(run.examples().read(&file("w", 1)).unwrap().to_examples(), examples(&games, false));
        assert_eq!(run.holdout().read(&file("w", 1)).unwrap().to_examples(), examples(&games, true));
    }
}

#[test]
fn game_that_cannot_be_replayed_is_not_published() {
    on_every_run(|run| {
        let mut games = some_games("w", 0, 3);
        games[1].turns[1].mv = games[1].turns[0].mv;
        let error = run.games().publish(1, "w", &games).unwrap_err();
        assert!(matches!(&error, StoreError::Record { path, .. } if path.contains("games/000001/w-")), "{error}");
        assert!(run.games().models().unwrap().is_empty());
    });
}

#[test]
fn worker_cannot_write_elsewhere() {
    on_every_run(|run| {
        let error = run.games().publish(1, "../../x", &some_games("w", 0, 1)).unwrap_err();
        assert!(matches!(error, StoreError::BadName(_)), "{error}");
    });
}

#[test]
fn readable_games_are_one_collection_a_file() {
    let (folder, run) = in_folder();
    let games = publish(&run, &file("w", 1), 0, 7);
    let text = std::fs::read(folder.path().join("r/sgf/000001/w-0000000000001.sgf")).unwrap();
    let trees = go::sgf::parse(&text).unwrap();
    let read = trees.iter().map(|tree| go::sgf::Record::from_tree(tree).unwrap().turns.len());
    assert!(read.eq(games.iter().map(|game| game.turns.len())));
}

#[test]
fn threads_share_a_store() {
    on_every_run(|run| {
        std::thread::scope(|scope| {
            for worker in ["a", "b", "c", "d"] {
                scope.spawn(move || (0..5).for_each(|i| drop(publish(run, &file(worker, i), i, i + 1))));
            }
        });
        assert_eq!(run.games().files(1).unwrap().len(), 20);
        let rows: usize =
            run.games().files(1).unwrap().iter().map(|file| run.games().summaries(file).unwrap().len()).sum();
        assert_eq!(rows, 20);
    });
}

/// Evaluators without a number all have the same name, and on one machine some publish in the same millisecond.
#[test]
fn results_of_another_evaluator_of_this_name_are_not_replaced() {
    let (folder, run) = in_folder();
    let first = run.matches().publish("0", &some_games("first", 0, 1)).unwrap();
    let theirs = |ahead| folder.path().join(format!("r/sgf/matches/0-{:013}.sgf", first.time() + ahead));
    (1..=500).for_each(|ahead| std::fs::write(theirs(ahead), "another's").unwrap());
    let second = run.matches().publish("0", &some_games("second", 0, 1)).unwrap();
    assert!(second.time() > first.time() + 500, "{first:?} {second:?}");
    assert_eq!(run.matches().all().unwrap().len(), 2);
    assert!((1..=500).all(|ahead| std::fs::read(theirs(ahead)).unwrap() == b"another's"));
}

#[test]
fn results_come_back_in_order() {
    on_every_run(|run| {
        let games = some_games("w", 0, 4);
        run.matches().publish("eval", &games[..2]).unwrap();
        run.matches().publish("eval", &games[2..]).unwrap();
        let results = run.matches().all().unwrap();
        assert!(results.iter().map(|game| game.id).eq(games.iter().map(|game| game.id)));
        assert!(run.games().models().unwrap().is_empty());
    });
}

#[test]
fn rows_and_examples_are_the_same() {
    let examples = examples(&some_games("w", 0, 5), false);
    assert_eq!(ExampleRows::from_examples(&examples).to_examples(), examples);
}
