//! A cluster on one machine: six workers, a shuffler, a trainer and two evaluators over an unreliable S3 server. Every
//! few seconds one of them is killed or gets SIGTERM, and is restarted as Kubernetes would; the server is out of reach
//! twice.
//!
//! `TENGEN_TEST_CLUSTER_SECONDS=1200` lets that go on for so long instead of for half a minute. A Prometheus
//! scrapes all of them, and every query of the dashboard has a result.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use ratings::{PairResults, Ratings};
use store::{Run, StoreError};
use testing::wait_until;
use tests::{Prometheus, Stage, TestStore, free_address, repository, resumed, succeed};

const WORKERS: usize = 6;
const EVALUATORS: usize = 2;
/// One request in so many fails.
const TROUBLE: u32 = 10;
/// Exit codes after which Kubernetes starts a pod again: finished (an evaluator), store unreachable, SIGTERM.
const AGAIN: [i32; 3] = [0, 3, 4];

/// A pod's place: what runs in it, and under which address it can be asked.
struct Process {
    program: &'static str,
    arguments: Vec<String>,
    address: String,
    stage: Stage,
}

struct Cluster {
    store: TestStore,
    places: Vec<Process>,
    /// By exit code, how many processes have ended so; those that were killed under 9.
    ends: BTreeMap<i32, u32>,
}

impl Cluster {
    fn start(store: TestStore) -> Cluster {
        let tiny = repository().join("configs/tiny.toml");
        // Searches long enough for games to be in progress when a worker gets SIGTERM.
        let text = format!("extends = {tiny:?}\n[search]\nvisits = 100\n[loop]\nmodels = 10000\n");
        let config = store.path().join("endless.toml");
        std::fs::write(&config, text).unwrap();
        let config = config.to_str().unwrap();
        let mut cluster = Cluster { store, places: Vec::new(), ends: BTreeMap::new() };
        for worker in 0..WORKERS {
            // Each leaves some games to the others, and waits for the next model then.
            cluster.add(
                "selfplay",
                &["--model", "r", "--games", "15", "--config", config, "--worker", &worker.to_string()],
            );
        }
        cluster.add("shuffler", &["--run", "r"]);
        cluster.add("trainer", &["--run", "r", "--config", config]);
        for worker in 0..EVALUATORS {
            let worker = worker.to_string();
            cluster
                .add("evaluator", &["--run", "r", "--pair-uncertain", "--wait", "--pairs", "100", "--worker", &worker]);
        }
        cluster
    }

    fn add(&mut self, program: &'static str, arguments: &[&str]) {
        let arguments: Vec<String> = arguments.iter().map(|&argument| argument.to_owned()).collect();
        let address = free_address().to_string();
        let stage = launch(&self.store, program, &arguments, &address);
        self.places.push(Process { program, arguments, address, stage });
    }

    /// Starts what has ended again; what ended as it should not is a failure.
    fn look_after(&mut self) {
        for place in &mut self.places {
            let Some(status) = place.stage.ended() else { continue };
            let code = status.code().unwrap_or(9);
            assert!(
                AGAIN.contains(&code) || status.code().is_none(),
                "{} ends with {status}: {}",
                place.program,
                place.stage.log().join("\n")
            );
            *self.ends.entry(code).or_default() += 1;
            place.stage = launch(&self.store, place.program, &place.arguments, &place.address);
        }
    }

    /// Ends one of them by SIGKILL or SIGTERM.
    fn disturb(&mut self, random: &mut Xoshiro256PlusPlus) {
        let victim = random.random_range(0..self.places.len());
        let stage = &mut self.places[victim].stage;
        if random.random_range(0..2) == 0 {
            stage.signal("KILL");
            stage.wait();
        } else {
            stage.terminate();
        }
    }

    /// Tells all to go, and waits until they have.
    fn stop(&mut self) {
        for place in &mut self.places {
            place.stage.terminate();
        }
    }
}

fn launch(store: &TestStore, program: &str, arguments: &[String], address: &str) -> Stage {
    let mut command = store.program(program);
    command.env("TENGEN_THREADS", "1").env("TENGEN_CACHE_MIB", "1").env("TENGEN_ON_SHUTDOWN", "handoff");
    Stage::launch(command.args(arguments), address)
}

/// The shuffler, and then the trainer, are gone for good, and the alerts show each, and nothing before.
fn alerts_fire(prometheus: &Prometheus, cluster: &mut Cluster) {
    for (program, alert) in [("shuffler", "TengenNoShuffler"), ("trainer", "TengenNoTrainer")] {
        // It has fired where a process did not respond for a second or two.
        wait_until(&format!("{alert} not to fire while there is a {program}"), || {
            cluster.look_after();
            !prometheus.fires(alert, "r")
        });
        // A place that is gone is not restarted, and its process is killed.
        cluster.places.retain(|place| place.program != program);
        prometheus.must_fire(alert, "r", &mut || cluster.look_after());
        println!("{alert} fires once the {program} is gone");
    }
}

/// The ids of all published games; each file once.
fn games(run: &Run) -> Result<BTreeSet<String>, StoreError> {
    let mut games = BTreeSet::new();
    for model in run.games().models()? {
        for file in run.games().files(model)? {
            for game in run.games().summaries(&file)? {
                assert!(games.insert(game.id.to_string()), "game {} is published twice", game.id);
            }
        }
    }
    Ok(games)
}

/// Kills processes at random, and takes the server out of reach twice; the games that were published before.
fn disturb_for(time: Duration, cluster: &mut Cluster, run: &Run) -> BTreeSet<String> {
    let away = (time / 20).clamp(Duration::from_secs(3), Duration::from_secs(60));
    let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
    let (began, mut next) = (Instant::now(), Duration::from_secs(2));
    let (mut outages, mut before) = (vec![time / 3, 2 * time / 3], BTreeSet::new());
    while began.elapsed() < time {
        cluster.look_after();
        if outages.first().is_some_and(|outage| began.elapsed() > *outage) {
            before.extend(games(run).unwrap());
            outages.remove(0);
            cluster.store.server().unwrap().set_away(true);
            std::thread::sleep(away);
            cluster.store.server().unwrap().set_away(false);
        }
        if began.elapsed() > next {
            cluster.disturb(&mut random);
            next += Duration::from_millis(random.random_range(1500..4500));
        }
        std::thread::sleep(Duration::from_millis(100));
    }
    wait_until("a published game", || {
        cluster.look_after();
        before.extend(games(run).unwrap());
        !before.is_empty()
    });
    before
}

/// Lets the run go on undisturbed until there is a newer model and a match was played.
fn settle(cluster: &mut Cluster, run: &Run, halfway: Option<u32>) {
    wait_until("a newer model and a match", || {
        cluster.look_after();
        run.models().newest().unwrap() > halfway && !run.matches().all().unwrap().is_empty()
    });
}

#[test]
fn cluster_with_restarting_processes_trains_and_loses_no_game() {
    let seconds = std::env::var("TENGEN_TEST_CLUSTER_SECONDS").map_or(30, |text| text.parse().unwrap());
    let time = Duration::from_secs(seconds);
    let mut cluster = Cluster::start(TestStore::on_unreliable_server(TROUBLE));
    let addresses = cluster.places.iter().map(|place| place.address.clone()).collect::<Vec<_>>();
    let prometheus = Prometheus::start(&addresses);
    let run = cluster.store.run("r");
    let before = disturb_for(time, &mut cluster, &run);
    let halfway = run.models().newest().unwrap();
    settle(&mut cluster, &run, halfway);
    if let Some(prometheus) = prometheus {
        prometheus.has_what_the_dashboard_shows("r", &mut || cluster.look_after());
        alerts_fire(&prometheus, &mut cluster);
    }
    cluster.stop();
    // By seed 1, the second victim is killed, and most others get SIGTERM.
    assert!([9, 4].iter().all(|code| cluster.ends.contains_key(code)), "exits by code {:?}", cluster.ends);

    let newest = run.models().newest().unwrap();
    assert!(newest > halfway && newest > Some(1), "the run went on learning: {halfway:?}, {newest:?}");
    let after = games(&run).unwrap();
    assert_eq!(before.difference(&after).collect::<Vec<_>>(), [""; 0], "no published game is lost");
    let audit = succeed(cluster.store.program("tengen").args(["audit", "r"]));
    rated_by_what_is_stored(&cluster.store, &run);
    let resumed = resumed(&run);
    // In half a minute it may be that no worker that plays gets SIGTERM.
    assert!(resumed > 0 || seconds < 300, "no handed-off game was resumed");
    println!(
        "{} games, {resumed} of them resumed by another process or model, model {newest:?}, exits by code {:?}\n{audit}",
        after.len(),
        cluster.ends
    );
}

/// The published ratings are those of the games that are stored, each counted once.
fn rated_by_what_is_stored(store: &TestStore, run: &Run) {
    succeed(store.program("evaluator").args(["ratings", "--run", "r"]));
    let ratings = run.ratings().newest().unwrap().expect("there are ratings");
    let results: BTreeMap<String, _> =
        run.matches().all().unwrap().into_iter().map(|game| (game.id.to_string(), game)).collect();
    // `evaluator rate` has other beliefs about the first move, which move ratings where games are few.
    let mut pairs = PairResults::default();
    results.values().for_each(|game| pairs.add(&game.black, &game.white, game.outcome));
    let (fit, _) = Ratings::of_runs(&pairs, |prior| prior).unwrap();
    let elo = |player: &str| fit.rating(pairs.place(player).unwrap()).elo;
    assert_eq!(ratings.len(), pairs.players().len());
    for row in &ratings {
        let played = results.values().filter(|game| game.black == row.player || game.white == row.player).count();
        assert_eq!(row.games as usize, played, "{}", row.player);
        // Only differences mean something.
        let (stored, fitted) = (row.elo - ratings[0].elo, elo(&row.player) - elo(&ratings[0].player));
        assert!((stored - fitted).abs() < 0.5, "{}: {stored} is stored, {fitted} fitted", row.player);
    }
}
