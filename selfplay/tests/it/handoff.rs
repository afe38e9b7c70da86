//! Games in progress that go from process to process, or from model to model.

use std::ops::ControlFlow;

use bytes::Bytes;
use config::ModelId;
use models::Model;
use net::{Device, Shape, Weights};
use record::{GameRecord, SearchKind};
use runtime::Stop;
use selfplay::{Extent, Follow, InProgressGames, Job, JobProgress, OnShutdown, play};
use store::{ModelMetadata, Run};

use crate::{a_run, config, endless, finish, indices, job, published, stop_after};

/// Files of handed-off games.
fn handed_off(run: &Run) -> usize {
    run.unfinished().files().unwrap().len()
}

#[test]
fn stop_leaves_games_in_progress_for_other_workers() {
    let (_folder, run) = a_run();
    let done = stop_after(&run, &Job { on_shutdown: OnShutdown::Handoff, ..endless() }, 8).unwrap();
    assert!(done.handed_off > 0 && done.discarded == 0, "{done:?}");
    let files = run.unfinished().files().unwrap();
    let games: Vec<_> = files.iter().flat_map(|(file, _)| run.unfinished().read(file).unwrap()).collect();
    assert_eq!(games.len() as u64, done.handed_off);
    assert!(files.iter().all(|(_, taker)| taker.is_none()), "they are not taken: {files:?}");
}

#[test]
fn another_worker_finishes_handed_off_games() {
    let (_folder, run) = a_run();
    let stopped = stop_after(&run, &Job { on_shutdown: OnShutdown::Handoff, ..endless() }, 8).unwrap();
    let other = Job { worker: "other".to_owned(), on_shutdown: OnShutdown::Handoff, ..job(config(&[]), 3) };
    let done = finish(&run, &other);
    assert_eq!((done.games, done.finished), (3, 3 + stopped.handed_off), "its own games, and handed-off ones");
    assert_eq!(handed_off(&run), 0);
    let games = published(&run);
    let taken: Vec<_> = games.iter().filter(|game| !game.handoffs.is_empty()).collect();
    assert!(taken.iter().all(|game| game.worker == "w"), "they count for the worker that began them");
    assert_eq!(taken.len() as u64, stopped.handed_off);
}

#[test]
fn worker_does_not_restart_its_handed_off_games() {
    let (_folder, run) = a_run();
    let stopped = stop_after(&run, &Job { on_shutdown: OnShutdown::Handoff, ..endless() }, 8).unwrap();
    let wanted = stopped.finished + stopped.handed_off;
    finish(&run, &Job { on_shutdown: OnShutdown::Handoff, ..job(config(&[]), wanted) });
    let games = indices(&published(&run));
    let once: std::collections::BTreeSet<u64> = games.iter().copied().collect();
    assert_eq!(games.len(), once.len(), "{games:?}");
    assert!((0..wanted).all(|index| once.contains(&index)), "{games:?}");
}

/// The games that a worker has in progress when it stops, which are in no file then.
pub(crate) fn in_progress(run: &Run, worker: &str) -> Vec<GameRecord> {
    stop_after(run, &Job { worker: worker.to_owned(), on_shutdown: OnShutdown::Handoff, ..endless() }, 8).unwrap();
    let (file, _) = run.unfinished().files().unwrap().remove(0);
    let games = run.unfinished().read(&file).unwrap();
    run.unfinished().complete(worker, &file).unwrap();
    games
}

/// The published games of a worker that were handed off.
fn resumed_of(run: &Run, worker: &str) -> Vec<u64> {
    let games = published(run).into_iter().filter(|game| game.worker == worker && !game.handoffs.is_empty());
    games.map(|game| game.index).collect()
}

#[test]
fn worker_resumes_games_of_several_others() {
    let (_folder, run) = a_run();
    // Fewer than it has slots.
    let games = ["v", "w"].map(|worker| in_progress(&run, worker)[..3].to_vec());
    for games in &games {
        run.unfinished().hand_off(0, &games[0].worker, games).unwrap();
    }
    let other = Job { worker: "other".to_owned(), on_shutdown: OnShutdown::Handoff, ..job(config(&[]), 3) };
    let done = finish(&run, &other);
    assert_eq!((done.resumed, handed_off(&run)), (6, 0));
    assert_eq!([resumed_of(&run, "v"), resumed_of(&run, "w")], games.map(|games| indices(&games)));
}

#[test]
fn worker_with_games_in_progress_resumes_those_of_others_once() {
    let (_folder, run) = a_run();
    let config = config(&["selfplay.follow_within_games=true"]);
    let job = Job { follow: Follow::Newest, on_shutdown: OnShutdown::Handoff, ..job(config, u64::MAX) };
    let stop = Stop::never();
    let mut until = |progress: JobProgress| {
        if progress.finished >= 8 {
            stop.request();
        }
        Ok(ControlFlow::Continue(()))
    };
    let other = Job { worker: "v".to_owned(), ..job.clone() };
    play(&run, &other, &Model::Random, &mut InProgressGames::default(), &stop, &mut until).unwrap();
    let (file, _) = run.unfinished().files().unwrap().remove(0);
    let games = run.unfinished().read(&file).unwrap()[..3].to_vec();
    run.unfinished().complete("v", &file).unwrap();

    let mut in_progress = InProgressGames::default();
    // A job of more threads has more slots.
    let mut resumed = |threads: usize, games: u64, finished: u64| {
        let job = Job { threads, extent: Extent::AtMost(games), ..job.clone() };
        let watch = &mut |progress: JobProgress| {
            if progress.finished < finished { Ok(ControlFlow::Continue(())) } else { Ok(ControlFlow::Break(())) }
        };
        play(&run, &job, &Model::Random, &mut in_progress, &Stop::never(), watch).unwrap().resumed
    };
    assert_eq!(resumed(1, u64::MAX, 5), 0);
    run.unfinished().hand_off(0, "v", &games).unwrap();
    assert_eq!(resumed(2, u64::MAX, 0), 3, "beside its own");
    assert_eq!(resumed(3, 20, u64::MAX), 0, "it has them already");
    assert_eq!((handed_off(&run), resumed_of(&run, "v")), (0, indices(&games)));
}

/// Hands off games, these of them altered; returns the indices of those, and how many others there are.
fn hand_off_altered(run: &Run, altered: impl Fn(usize) -> bool) -> (Vec<u64>, usize) {
    let mut games = in_progress(run, "w");
    let (all, mut bad) = (games.len(), Vec::new());
    for (_, game) in games.iter_mut().enumerate().filter(|(place, _)| altered(*place)) {
        game.komi += 1.0;
        bad.push(game.index);
    }
    run.unfinished().hand_off(0, "w", &games).unwrap();
    let others = all - bad.len();
    (bad, others)
}

#[test]
fn game_that_cannot_be_resumed_is_played_anew_and_the_others_of_its_file_are_resumed() {
    let (_folder, run) = a_run();
    let (bad, others) = hand_off_altered(&run, |place| place == 1);
    let done = finish(&run, &Job { on_shutdown: OnShutdown::Handoff, ..job(config(&[]), 80) });
    assert_eq!((bad.len(), done.resumed), (1, others as u64));
    let games = published(&run);
    assert_eq!(indices(&games), (0..80).collect::<Vec<u64>>(), "each is played once");
    let resumed: Vec<u64> = games.iter().filter(|game| !game.handoffs.is_empty()).map(|game| game.index).collect();
    assert!(resumed.len() == others && !resumed.contains(&bad[0]), "{resumed:?} without {bad:?}");
    assert_eq!(handed_off(&run), 0);
}

#[test]
fn file_without_a_game_that_can_be_resumed_is_moved_to_quarantine() {
    let (_folder, run) = a_run();
    hand_off_altered(&run, |_| true);
    let done = finish(&run, &Job { on_shutdown: OnShutdown::Handoff, ..job(config(&[]), 80) });
    assert_eq!((done.resumed, handed_off(&run), run.quarantine().files().unwrap().len()), (0, 0, 1));
    assert_eq!(indices(&published(&run)), (0..80).collect::<Vec<u64>>());
}

#[test]
fn worker_of_one_model_leaves_games_of_another_alone() {
    let (_folder, run) = a_run();
    stop_after(&run, &Job { on_shutdown: OnShutdown::Handoff, ..endless() }, 8).unwrap();
    let model = trained(&run, 1);
    let job = Job { worker: "other".to_owned(), model: id(1), on_shutdown: OnShutdown::Handoff, ..job(config(&[]), 2) };
    let watch = &mut |_| Ok(ControlFlow::Continue(()));
    play(&run, &job, &model, &mut InProgressGames::default(), &Stop::never(), watch).unwrap();
    assert_eq!(handed_off(&run), 1);
    assert_eq!(run.games().indices(1, "other").unwrap().len(), 2);
}

#[test]
fn newer_model_takes_over_games_in_progress_where_the_run_follows_within_games() {
    let (_folder, run) = a_run();
    let config = config(&["selfplay.follow_within_games=true"]);
    let mut in_progress = InProgressGames::default();
    let mut until = |progress: JobProgress| {
        if progress.finished < 5 { Ok(ControlFlow::Continue(())) } else { Ok(ControlFlow::Break(())) }
    };
    let job = Job { follow: Follow::Newest, ..job(config, u64::MAX) };
    play(&run, &job, &Model::Random, &mut in_progress, &Stop::never(), &mut until).unwrap();
    let before = published(&run).len();
    let model = trained(&run, 1);
    let job = Job { model: id(1), extent: Extent::AtMost(1), ..job };
    play(&run, &job, &model, &mut in_progress, &Stop::never(), &mut |_| Ok(ControlFlow::Continue(()))).unwrap();
    let games = published(&run);
    let taken: Vec<_> = games.iter().filter(|game| !game.handoffs.is_empty()).collect();
    assert!(!taken.is_empty() && games.len() == before + taken.len(), "{before} before, {} resumed", taken.len());
    assert!(taken.iter().all(|game| game.black == "random" && game.handoffs[0].model == "tiny-1"));
}

#[test]
fn visits_of_a_game_are_those_of_the_model_that_began_it() {
    let (_folder, run) = a_run();
    let phases = "search.phases=[{from_model=1,visits=12,gumbel_moves=8,gumbel_c_scale=0.5}]";
    let config = config(&["selfplay.follow_within_games=true", "selfplay.full_search_fraction=1.0", phases]);
    let mut in_progress = InProgressGames::default();
    let mut until = |progress: JobProgress| {
        if progress.finished < 5 { Ok(ControlFlow::Continue(())) } else { Ok(ControlFlow::Break(())) }
    };
    let job = Job { follow: Follow::Newest, ..job(config, u64::MAX) };
    play(&run, &job, &Model::Random, &mut in_progress, &Stop::never(), &mut until).unwrap();
    let model = trained(&run, 1);
    // It begins no game of its own.
    let job = Job { model: id(1), extent: Extent::AtMost(0), ..job };
    let watch = &mut |_| Ok(ControlFlow::Continue(()));
    let done = play(&run, &job, &model, &mut in_progress, &Stop::never(), watch).unwrap();
    let games = published(&run).into_iter().filter(|game| !game.handoffs.is_empty());
    let turns: Vec<_> = games.flat_map(|game| game.turns).filter(|turn| turn.kind == SearchKind::Full).collect();
    assert!(!turns.is_empty());
    assert_eq!(done.visits, 4 * turns.len() as u64, "model 1 would search with 12 visits");
}

#[test]
fn model_that_plays_again_continues_its_games_in_progress() {
    let (_folder, run) = a_run();
    let mut in_progress = InProgressGames::default();
    let mut until = |progress: JobProgress| {
        if progress.finished < 5 { Ok(ControlFlow::Continue(())) } else { Ok(ControlFlow::Break(())) }
    };
    let job = Job { follow: Follow::Newest, ..job(config(&["selfplay.follow_within_games=true"]), u64::MAX) };
    play(&run, &job, &Model::Random, &mut in_progress, &Stop::never(), &mut until).unwrap();
    let before = published(&run).len();
    let job = Job { extent: Extent::AtMost(80), ..job };
    let watch = &mut |_| Ok(ControlFlow::Continue(()));
    let done = play(&run, &job, &Model::Random, &mut in_progress, &Stop::never(), watch).unwrap();
    let games = published(&run);
    assert_eq!((done.games, games.len() as u64), (80, before as u64 + done.finished));
    assert_eq!(indices(&games), (0..80).collect::<Vec<u64>>(), "each is played once");
    assert!(games.iter().any(|game| !game.handoffs.is_empty()), "some are in progress between the jobs");
}

fn id(number: u32) -> ModelId {
    ModelId::Trained { run: "tiny".parse().unwrap(), number }
}

/// Publishes a model with made-up weights, and opens it.
pub(crate) fn trained(run: &Run, number: u32) -> Model {
    let config = config(&[]);
    let metadata = ModelMetadata::new(&"tiny".parse().unwrap(), number, 1, &config);
    let weights = Weights::synthetic(Shape::new(&config.game, &config.network), 1);
    run.models().publish(&metadata, Bytes::from(weights.to_bytes())).unwrap();
    Model::open(run, &id(number), &Device::Cpu.into(), config.selfplay.batch).unwrap()
}
