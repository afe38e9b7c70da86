//! The store, on every kind of place there is: a folder, memory, and an S3 server, each of them also behind an
//! unreliable line. What is checked `on_every_store` or `on_every_run` is what every place must do alike.

#![allow(clippy::unwrap_used, reason = "a test stops at what it did not expect, in its helpers too")]

mod archives;
mod classes;
mod clock;
mod damage;
mod evaluations;
mod folder;
mod games;
mod herd;
mod kill;
mod places;
mod pruning;
mod state;
mod unreliable;

use std::env;
use std::ffi::OsStr;
use std::process::{Child, Command, Stdio};
use std::thread;

use config::{RunConfig, RunName};
use go::Size;
use record::{GameRecord, synthetic};
use store::{Run, Store};
use tempfile::TempDir;
use testing::s3::Server;
use testing::with_faults;

/// One request in so many meets a fault.
const ONE_IN: u32 = 10;

/// Runs a check on every kind of store. At once, because faults make it wait more than it computes.
fn on_every_store(check: impl Fn(&Store) + Sync) {
    thread::scope(|scope| {
        scope.spawn(|| on_every_reliable_store(&check));
        scope.spawn(|| on_every_unreliable_store(&check));
    });
}

fn on_every_reliable_store(check: impl Fn(&Store) + Sync) {
    let (folder, server) = (TempDir::new().unwrap(), Server::start().unwrap());
    on_each(
        [Store::open(folder.path().to_str().unwrap()).unwrap(), Store::in_memory().unwrap(), on_server(&server)],
        check,
    );
}

/// Lost and delayed requests and lost responses everywhere; on the server, whose connections can break, also refusals
/// and truncated responses.
fn on_every_unreliable_store(check: impl Fn(&Store) + Sync) {
    let (folder, server) = (TempDir::new().unwrap(), Server::with_faults(ONE_IN, 3).unwrap());
    let in_folder = Store::open(folder.path().to_str().unwrap()).unwrap();
    let in_memory = Store::in_memory().unwrap();
    on_each([with_faults(&in_folder, ONE_IN, 1), with_faults(&in_memory, ONE_IN, 2), on_server(&server)], check);
}

fn on_each(stores: [Store; 3], check: impl Fn(&Store) + Sync) {
    thread::scope(|scope| {
        for store in &stores {
            scope.spawn(|| check(store));
        }
    });
}

fn on_server(server: &Server) -> Store {
    Store::open_with(&server.url(), &server.options()).unwrap()
}

/// Runs a check on a run in every kind of store.
fn on_every_run(check: impl Fn(&Run) + Sync) {
    on_every_store(|store| check(&store.run(&name("r"))));
}

fn in_folder() -> (TempDir, Run) {
    let folder = TempDir::new().unwrap();
    let run = Store::open(folder.path().to_str().unwrap()).unwrap().run(&name("r"));
    (folder, run)
}

/// The same run, seen by a process that has just started.
fn fresh(run: &Run) -> Run {
    run.store().run(run.name())
}

/// A process that does not end by itself. It is killed when this is dropped, also by a check that fails.
struct Endless(Child);

impl Endless {
    /// Starts a test of this binary that is endless where the variable is set.
    fn start(test: &str, variable: &str, value: impl AsRef<OsStr>) -> Endless {
        let mut command = Command::new(env::current_exe().unwrap());
        command.args(["--exact", test]).env(variable, value).stdout(Stdio::null());
        Endless(command.spawn().unwrap())
    }

    fn is_running(&mut self) -> bool {
        self.0.try_wait().unwrap().is_none()
    }
}

impl Drop for Endless {
    fn drop(&mut self) {
        // One that has ended cannot be killed, and need not be.
        let _ended = self.0.kill();
        let _status = self.0.wait();
    }
}

fn name(text: &str) -> RunName {
    text.parse().unwrap()
}

fn config(overrides: &[&str]) -> RunConfig {
    config::Preset::Minigo.with(overrides).unwrap()
}

/// The games as a reader of their table gets them.
fn stored(games: &[GameRecord]) -> Vec<GameRecord> {
    games.iter().map(GameRecord::as_stored).collect()
}

/// Games number `from` to `to` of a worker with model 1.
fn some_games(worker: &str, from: u64, to: u64) -> Vec<GameRecord> {
    let size = Size::new(5).unwrap();
    let game = |index| synthetic::game("r-1", worker, index, size, 20);
    let hold_out = |game: GameRecord| GameRecord { holdout: game.id.share() < 0.2, ..game };
    (from..to).map(game).map(hold_out).collect()
}
