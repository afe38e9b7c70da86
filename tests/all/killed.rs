//! `tengen run` is killed at random moments and resumes without a difference. It plays, shuffles, trains and rates in
//! one process, so a kill hits each of them as often as it is at work. After each of them `shuffler --compact` is
//! killed, too, so that the games lie now here and now there.
//!
//! `TENGEN_TEST_KILLS=200` asks for so many kills instead of a few.

use std::collections::{BTreeMap, BTreeSet};
use std::process::{Command, Stdio};
use std::sync::OnceLock;
use std::time::Duration;

use record::GameRecord;
use store::{FileRef, Run, StoreError};
use testing::wait_until;
use tests::{TestStore, repository, succeed, whole_games};

/// Kills before a run may finish.
const KILLS_EACH: u64 = 10;

fn files(run: &Run) -> Vec<FileRef> {
    run.games().models().unwrap().into_iter().flat_map(|model| run.games().files(model).unwrap()).collect()
}

/// All published games of a run, by model and index.
fn games(store: &TestStore) -> BTreeMap<(u32, u64), GameRecord> {
    let run = store.run("tiny");
    let mut games = BTreeMap::new();
    let mut ids = BTreeSet::new();
    for file in files(&run) {
        for game in whole_games(&run, &file) {
            assert!(ids.insert(game.id), "game {} is published twice", game.id);
            games.insert((file.model, game.index), game);
        }
    }
    games
}

/// The examples of every published game, by game.
fn examples(store: &TestStore) -> BTreeMap<String, usize> {
    let run = store.run("tiny");
    let mut examples = BTreeMap::new();
    for file in files(&run) {
        let read = match run.examples().read(&file) {
            // Every game of the file is held out, which happens with small files.
            Err(StoreError::NotFound { .. }) => continue,
            read => read.unwrap(),
        };
        for example in read.to_examples() {
            *examples.entry(example.game.to_string()).or_default() += 1;
        }
    }
    examples
}

fn weights(store: &TestStore) -> BTreeMap<u32, Vec<u8>> {
    let run = store.run("tiny");
    run.models()
        .list()
        .unwrap()
        .into_iter()
        .map(|number| (number, run.models().get(number).unwrap().1.to_vec()))
        .collect()
}

fn command(store: &TestStore) -> Command {
    let mut command = store.program("tengen");
    // The window ends within a model, so which games it has must not depend on their files.
    command.arg("run").arg(repository().join("configs/tiny.toml")).args(["--set", "window.games=70"]);
    command
}

/// Random enough for moments: a linear congruential generator (Knuth, MMIX).
struct Moments(u64);

impl Moments {
    fn next(&mut self) -> Duration {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        Duration::from_millis(50 + (self.0 >> 33) % 600)
    }
}

/// Starts a run again and again and kills it each time, and then lets it finish. Returns how many kills came before it
/// was finished: the first does, however fast the machine is, as it comes with the first games.
fn disturb(store: &TestStore, kills: u64, moments: &mut Moments) -> u64 {
    let mut hits = 0;
    for kill in 0..kills {
        let mut process = command(store).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        if kill == 0 {
            wait_until("games", || process.try_wait().unwrap().is_some() || !files(&store.run("tiny")).is_empty());
        } else {
            std::thread::sleep(moments.next());
        }
        hits += u64::from(process.try_wait().unwrap().is_none());
        process.kill().unwrap();
        process.wait().unwrap();
        games(store);
        let mut compaction = compact(store).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        std::thread::sleep(moments.next() / 5);
        compaction.kill().unwrap();
        compaction.wait().unwrap();
        games(store);
    }
    succeed(&mut command(store));
    succeed(&mut compact(store));
    hits
}

fn compact(store: &TestStore) -> Command {
    let mut command = store.program("shuffler");
    command.args(["--run", "tiny", "--compact=1"]);
    command
}

/// A store with the run that is not disturbed.
fn undisturbed() -> &'static TestStore {
    static MADE: OnceLock<TestStore> = OnceLock::new();
    MADE.get_or_init(|| {
        let store = TestStore::shared();
        let table = succeed(&mut command(&store));
        assert!(table.contains("tiny-3"), "the ratings table names the newest model:\n{table}");
        store
    })
}

/// Kills runs on stores made by `new`, and compares each with an undisturbed one.
fn kill_runs(new: fn() -> TestStore, kills: u64) {
    let kills = std::env::var("TENGEN_TEST_KILLS").map_or(kills, |text| text.parse().unwrap());
    let undisturbed = undisturbed();
    let expected = games(undisturbed);
    let (mut hits, mut moments) = (0, Moments(1));
    while hits < kills {
        let store = new();
        let more = disturb(&store, KILLS_EACH.min(kills - hits), &mut moments);
        assert!(more > 0, "no kill came before the run was finished; give it more to do");
        hits += more;

        let found = games(&store);
        assert_eq!(found.keys().collect::<Vec<_>>(), expected.keys().collect::<Vec<_>>(), "no game is lost");
        for (place, game) in &expected {
            assert_eq!(&found[place], game, "and every game is the same: model {}, index {}", place.0, place.1);
        }
        assert_eq!(examples(&store), examples(undisturbed));
        assert!(weights(&store) == weights(undisturbed), "training went on to the bit");
        let said = succeed(store.program("tengen").args(["audit", "tiny"]));
        assert!(said.contains(&format!("read {} games", expected.len())), "each game is read once:\n{said}");
    }
    println!("{hits} kills, nothing lost, nothing doubled");
}

#[test]
fn run_that_is_killed_in_a_folder_is_the_same_run() {
    kill_runs(TestStore::new, 20);
}

#[test]
fn run_that_is_killed_on_a_server_is_the_same_run() {
    kill_runs(TestStore::on_server, 8);
}
