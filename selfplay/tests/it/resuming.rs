//! Jobs that are stopped and started again.

use crate::{a_run, config, endless, finish, indices, job, published, stop_after};

#[test]
fn play_resumes_without_replaying_published_games() {
    let (_folder, run) = a_run();
    finish(&run, &job(config(&[]), 7));
    let first = published(&run);
    let done = finish(&run, &job(config(&[]), 12));
    assert_eq!((done.games, done.finished), (12, 5));
    let games = published(&run);
    assert_eq!(indices(&games), (0..12).collect::<Vec<u64>>());
    assert_eq!(games[..7], first, "published games are kept");
    assert_eq!(finish(&run, &job(config(&[]), 12)).finished, 0);
}

#[test]
fn play_in_two_parts_plays_the_games_of_one() {
    let (_folder, whole) = a_run();
    finish(&whole, &job(config(&[]), 12));
    let (_folder, parts) = a_run();
    finish(&parts, &job(config(&[]), 7));
    finish(&parts, &job(config(&[]), 12));
    assert_eq!(published(&parts), published(&whole));
}

#[test]
fn stop_abandons_games_in_progress_and_publishes_finished_ones() {
    let (_folder, run) = a_run();
    let done = stop_after(&run, &endless(), 8).unwrap();
    assert!(done.discarded > 0 && done.handed_off == 0, "{done:?}");
    assert_eq!(published(&run).len() as u64, done.finished);
    assert!(run.unfinished().files().unwrap().is_empty());
}

#[test]
fn discarded_games_are_the_same_when_played_again() {
    let (_folder, whole) = a_run();
    let (_other, stopped) = a_run();
    let done = stop_after(&stopped, &endless(), 8).unwrap();
    // Enough for all that were in progress.
    let wanted = done.finished + done.discarded;
    for run in [&whole, &stopped] {
        finish(run, &job(config(&[]), wanted));
    }
    let common =
        |games: Vec<record::GameRecord>| games.into_iter().filter(|game| game.index < wanted).collect::<Vec<_>>();
    assert_eq!(common(published(&stopped)), common(published(&whole)));
}
