//! The selfplay stage on a store in a folder, without processes.

#![allow(clippy::unwrap_used, reason = "a test stops at what it did not expect, in its helpers too")]

mod driving;
mod handoff;
mod live;
mod model_errors;
mod playing;
mod resuming;

use std::ops::ControlFlow;

use config::{ModelId, Preset, RunConfig};
use models::Model;
use record::GameRecord;
use runtime::Stop;
use selfplay::{Extent, Follow, InProgressGames, Job, JobProgress, OnShutdown, SelfplayError, Threshold, play};
use store::{Run, Store};
use tempfile::TempDir;

/// A run in a folder that goes when it does.
fn a_run() -> (TempDir, Run) {
    let folder = TempDir::new().unwrap();
    let run = Store::open(folder.path().to_str().unwrap()).unwrap().run(&"tiny".parse().unwrap());
    (folder, run)
}

/// `tiny` with short searches and 5 games to a file, unless overridden.
fn config(overrides: &[&str]) -> RunConfig {
    let basis = ["search.visits=4", "selfplay.games_per_file=5", "selfplay.batch=8"];
    Preset::Tiny.with(&[&basis[..], overrides].concat()).unwrap()
}

/// Games of `random` by worker `w` in two threads; what is in progress at a stop is discarded.
fn job(config: RunConfig, games: u64) -> Job {
    Job {
        config: (&config).into(),
        model: ModelId::Random,
        worker: "w".to_owned(),
        extent: Extent::AtMost(games),
        threads: 2,
        cache: 1 << 16,
        evaluations: None,
        times: false,
        live: None,
        on_shutdown: OnShutdown::Discard,
        follow: Follow::One,
        threshold: Threshold::new(None),
    }
}

/// A job that never ends by itself.
fn endless() -> Job {
    Job { extent: Extent::Open, ..job(config(&[]), 0) }
}

/// Plays a job of a built-in model to its end.
fn finish(run: &Run, job: &Job) -> JobProgress {
    play(run, job, &Model::Random, &mut InProgressGames::default(), &Stop::never(), &mut |_| {
        Ok(ControlFlow::Continue(()))
    })
    .unwrap()
}

/// Plays until so many games are finished, and stops then.
fn stop_after(run: &Run, job: &Job, games: u64) -> Result<JobProgress, SelfplayError> {
    let stop = Stop::never();
    play(run, job, &Model::Random, &mut InProgressGames::default(), &stop, &mut |progress| {
        if progress.finished >= games {
            stop.request();
        }
        Ok(ControlFlow::Continue(()))
    })
}

/// All published games of model 0, by worker and number.
fn published(run: &Run) -> Vec<GameRecord> {
    games_of(run, 0)
}

/// All published games of a model, by worker and number.
fn games_of(run: &Run, model: u32) -> Vec<GameRecord> {
    let files = run.games().files(model).unwrap();
    let mut games: Vec<GameRecord> = files.iter().flat_map(|file| run.games().read(file).unwrap()).collect();
    games.sort_by_key(|game| (game.worker.clone(), game.index));
    games
}

/// The numbers of games.
fn indices(games: &[GameRecord]) -> Vec<u64> {
    games.iter().map(|game| game.index).collect()
}
