//! One job from its first game to its last.

use std::fs;
use std::ops::ControlFlow;

use models::Model;
use runtime::Stop;
use selfplay::{InProgressGames, Job, SelfplayError, Threshold, play};

use crate::{a_run, config, endless, finish, indices, job, published};

#[test]
fn play_publishes_every_wanted_game_once() {
    let (_folder, run) = a_run();
    let done = finish(&run, &job(config(&[]), 22));
    assert_eq!((done.games, done.finished), (22, 22));
    assert_eq!((done.discarded, done.handed_off), (0, 0));
    let games = published(&run);
    assert_eq!(indices(&games), (0..22).collect::<Vec<u64>>());
    assert!(games.iter().all(|game| game.replay().is_ok() && game.started_at.is_none()));
    assert_eq!(done.moves, games.iter().map(|game| game.turns.len() as u64).sum::<u64>());
}

#[test]
fn play_fills_files_with_games_per_file_games() {
    let (_folder, run) = a_run();
    finish(&run, &job(config(&[]), 22));
    let files = run.games().files(0).unwrap();
    let mut sizes: Vec<usize> = files.iter().map(|file| run.games().read(file).unwrap().len()).collect();
    sizes.sort_unstable();
    assert_eq!(sizes, [2, 5, 5, 5, 5], "the rest goes into a file of its own at the end");
}

#[test]
fn play_any_number_of_games_per_file_needs_no_memory_for_them() {
    let (_folder, run) = a_run();
    let done = finish(&run, &job(config(&["selfplay.games_per_file=1000000000000"]), 2));
    assert_eq!((done.finished, run.games().files(0).unwrap().len()), (2, 1));
}

#[test]
fn play_games_do_not_depend_on_threads() {
    let games = [1, 3].map(|threads| {
        let (_folder, run) = a_run();
        finish(&run, &Job { threads, ..job(config(&[]), 12) });
        published(&run)
    });
    assert_eq!(games[0], games[1]);
}

#[test]
fn play_workers_of_one_run_play_different_games() {
    let (_folder, run) = a_run();
    for worker in ["a", "b"] {
        finish(&run, &Job { worker: worker.to_owned(), ..job(config(&[]), 5) });
    }
    let games = published(&run);
    assert_eq!(indices(&games), [0, 1, 2, 3, 4, 0, 1, 2, 3, 4]);
    assert!((0..5).all(|index| games[index].turns != games[index + 5].turns));
}

#[test]
fn play_break_finishes_games_in_progress_and_begins_none() {
    let (_folder, run) = a_run();
    let mut in_progress = InProgressGames::default();
    let mut watch = |progress: selfplay::JobProgress| {
        if progress.finished < 5 { Ok(ControlFlow::Continue(())) } else { Ok(ControlFlow::Break(())) }
    };
    let done = play(&run, &endless(), &Model::Random, &mut in_progress, &Stop::never(), &mut watch).unwrap();
    assert!(done.finished >= 5 && (done.discarded, done.handed_off) == (0, 0), "{done:?}");
    assert_eq!(published(&run).len() as u64, done.finished);
}

#[test]
fn play_begins_no_game_after_a_stop() {
    let (_folder, run) = a_run();
    let stop = Stop::never();
    stop.request();
    let watch = &mut |_| Ok(ControlFlow::Continue(()));
    let done = play(&run, &endless(), &Model::Random, &mut InProgressGames::default(), &stop, watch).unwrap();
    assert_eq!((done.finished, done.discarded), (0, 0));
}

#[test]
fn play_new_threshold_holds_for_games_that_begin_later() {
    let (_folder, run) = a_run();
    let job = Job { threshold: Threshold::new(None), ..job(config(&[]), 200) };
    let mut watch = |progress: selfplay::JobProgress| {
        if progress.finished >= 5 {
            job.threshold.set(Some(-0.75));
        }
        Ok(ControlFlow::Continue(()))
    };
    play(&run, &job, &Model::Random, &mut InProgressGames::default(), &Stop::never(), &mut watch).unwrap();
    let (before, after): (Vec<_>, Vec<_>) =
        published(&run).into_iter().partition(|game| game.resign_threshold.is_none());
    assert!(before.len() >= 5 && !after.is_empty(), "{} games before, {} after", before.len(), after.len());
    assert!(after.iter().all(|game| game.resign_threshold == Some(-0.75)));
}

#[test]
fn play_store_that_refuses_games_is_the_error() {
    let (folder, run) = a_run();
    // A file where the folder of games is to be.
    fs::create_dir(folder.path().join("tiny")).unwrap();
    fs::write(folder.path().join("tiny/games"), "").unwrap();
    let watch = &mut |_| Ok(ControlFlow::Continue(()));
    let error =
        play(&run, &endless(), &Model::Random, &mut InProgressGames::default(), &Stop::never(), watch).unwrap_err();
    assert!(matches!(error, SelfplayError::Store(_)), "{error}");
}

#[test]
fn play_error_of_the_watch_is_reported_after_all_finished_games_are_published() {
    let (_folder, run) = a_run();
    let mut finished = 0;
    let mut watch = |progress: selfplay::JobProgress| {
        finished = progress.finished;
        let missing = || SelfplayError::Store(store::StoreError::NotFound { path: "a threshold".to_owned() });
        if progress.finished < 5 { Ok(ControlFlow::Continue(())) } else { Err(missing()) }
    };
    let mut in_progress = InProgressGames::default();
    let error = play(&run, &endless(), &Model::Random, &mut in_progress, &Stop::never(), &mut watch).unwrap_err();
    assert!(error.to_string().contains("a threshold"), "{error}");
    assert!(published(&run).len() as u64 >= finished && finished >= 5, "{finished}");
}
