//! The game of a worker that viewers see as it is played.

use std::ops::ControlFlow;
use std::time::Duration;

use models::Model;
use record::GameRecord;
use runtime::Stop;
use selfplay::{InProgressGames, Job, play};
use store::Run;

use crate::{a_run, config, finish, job, published};

fn watched(games: u64) -> Job {
    Job { live: Some(Duration::from_nanos(1)), ..job(config(&[]), games) }
}

/// The states that a viewer sees who looks whenever the job reports.
fn seen(run: &Run, job: &Job) -> Vec<GameRecord> {
    let mut seen = Vec::new();
    play(run, job, &Model::Random, &mut InProgressGames::default(), &Stop::never(), &mut |_| {
        let states = run.live().list().unwrap();
        assert!(states.iter().all(|state| state.worker() == "w"));
        seen.extend(states.iter().filter_map(|state| run.live().read(state).unwrap()));
        Ok(ControlFlow::Continue(()))
    })
    .unwrap();
    seen
}

#[test]
fn viewers_see_games_that_are_played_and_published_later() {
    let (_folder, run) = a_run();
    // With a second thread all games may be played before the first, whose games are shown, has begun.
    let seen = seen(&run, &Job { threads: 1, ..watched(40) });
    let games = published(&run);
    assert!(!seen.is_empty());
    for state in &seen {
        let game = games.iter().find(|game| game.id == state.id).unwrap();
        let moves = |game: &GameRecord| game.turns.iter().map(|turn| turn.mv).collect::<Vec<_>>();
        assert!(moves(game).starts_with(&moves(state)), "game {}", game.id);
    }
    assert_eq!(run.live().list().unwrap(), [], "no worker plays any more");
}

#[test]
fn viewers_change_no_game() {
    let ((_folder, run), (_other, unseen)) = (a_run(), a_run());
    seen(&run, &watched(20));
    finish(&unseen, &job(config(&[]), 20));
    assert_eq!(published(&run), published(&unseen));
}

#[test]
fn live_state_of_killed_process_is_deleted_by_successor() {
    let (_folder, run) = a_run();
    let killed = record::synthetic::game("random", "w", 7, go::Size::new(5).unwrap(), 8);
    run.live().publish("w", &killed, None).unwrap();
    assert!(seen(&run, &watched(5)).iter().all(|state| state.id != killed.id));
    assert_eq!(run.live().list().unwrap(), []);
}
