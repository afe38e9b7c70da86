//! Self-play on inference servers that die, hang, come back and are behind bad lines: no game is lost, and every game
//! is the one that a local network plays.
//!
//! `TENGEN_TEST_INFERENCE_KILLS=1000` asks for so many kills and stops instead of a few.

use std::collections::BTreeMap;
use std::fs;
use std::net::SocketAddr;
use std::process::Command;
use std::sync::OnceLock;
use std::time::Duration;

use record::GameRecord;
use serde_json::Value;
use testing::{Proxy, wait_for, wait_until};
use tests::{Stage, TestStore, converse, free_address, succeed, whole_games};

use crate::programs::first_model;

/// Kills and stops of the storm.
const STORM: u32 = 12;

/// The games of a client whose servers are harmed.
const GAMES: u32 = 1500;

/// After so many more games all are finished that were in progress; the thread of a client has eight.
const GAMES_AFTER: f64 = 100.0;

/// Where a store has the weights of model 1.
const WEIGHTS: &str = "tiny/models/000001/weights.safetensors";

/// A store of its own with model 1 of run `tiny`.
fn store() -> TestStore {
    TestStore::with_model_of(first_model())
}

/// An inference server, which can be started again where it was.
struct Server {
    address: SocketAddr,
    stage: Stage,
}

impl Server {
    fn start() -> Server {
        let address = free_address();
        Server { address, stage: Server::launch(address) }
    }

    fn launch(address: SocketAddr) -> Stage {
        let mut command = first_model().program("inference");
        let mut stage = Stage::start(command.args(["--listen", &address.to_string(), "--device", "cpu"]));
        stage.wait_for("readiness", |stage| stage.page("/readyz").filter(|(code, _)| *code == 200));
        stage
    }

    fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    fn kill(&mut self) {
        self.stage.signal("KILL");
        self.stage.wait();
    }

    fn restart(&mut self) {
        self.stage = Server::launch(self.address);
    }
}

/// A worker that plays `games` games with model 1.
fn worker(store: &TestStore, inference: &str, games: u32) -> Command {
    let mut command = store.program("selfplay");
    command.args(["--model", "tiny-1", "--times", "false", "--cache-mib", "0", "--games", &games.to_string()]);
    if !inference.is_empty() {
        command.args(["--inference", inference]);
    }
    command
}

/// A worker whose servers are harmed. It has one thread, so that none of its games goes on while a batch is lost.
fn worker_of_one_thread(store: &TestStore, inference: &str) -> Command {
    let mut command = worker(store, inference, GAMES);
    command.env("TENGEN_THREADS", "1");
    command
}

/// The games of model 1, by number.
fn games(store: &TestStore) -> BTreeMap<u64, GameRecord> {
    let run = store.run("tiny");
    let files = run.games().files(1).unwrap();
    let mut games = BTreeMap::new();
    for game in files.iter().flat_map(|file| whole_games(&run, file)) {
        let index = game.index;
        assert!(games.insert(index, game).is_none(), "game {index} is published once");
    }
    games
}

/// The games that a network in the worker's own process plays.
fn expected(count: u32) -> BTreeMap<u64, GameRecord> {
    static PLAYED: OnceLock<BTreeMap<u64, GameRecord>> = OnceLock::new();
    assert!(count <= GAMES);
    let played = PLAYED.get_or_init(|| {
        let store = store();
        succeed(&mut worker(&store, "", GAMES));
        games(&store)
    });
    played.iter().filter(|(index, _)| **index < u64::from(count)).map(|(&index, game)| (index, game.clone())).collect()
}

fn assert_same(store: &TestStore, count: u32) {
    let found = games(store);
    assert_eq!(found.keys().collect::<Vec<_>>(), expected(count).keys().collect::<Vec<_>>(), "no game is lost");
    assert_expected(store, &found);
}

fn assert_expected(store: &TestStore, found: &BTreeMap<u64, GameRecord>) {
    let expected = expected(GAMES);
    for (index, game) in found {
        assert_eq!(game, &expected[index], "game {index}");
    }
    succeed(store.program("tengen").args(["audit", "tiny"]));
}

/// A metric of a client for each server.
fn of_servers(client: &Stage, metric: &str) -> BTreeMap<String, f64> {
    let page = client.page("/metrics").unwrap_or_default().1;
    let lines = page.lines().filter(|line| line.starts_with(&format!("{metric}{{")));
    let server = |line: &str| line.split("server=\"").nth(1).unwrap().split('"').next().unwrap().to_owned();
    lines.map(|line| (server(line), line.rsplit(' ').next().unwrap().parse().unwrap())).collect()
}

/// Waits until the client has counted more than before; false where it has ended.
fn counts_more(client: &mut Stage, what: &str, count: impl Fn(&Stage) -> f64) -> bool {
    let before = count(client);
    wait_for(what, || {
        let more = count(client) > before + 5.0;
        (more || client.ended().is_some()).then_some(more)
    })
}

/// Batches that a server has evaluated, as far as the client knows.
fn answered(client: &Stage, url: &str) -> f64 {
    of_servers(client, "tengen_inference_client_batches_total").get(url).copied().unwrap_or_default()
}

/// Waits until a server has evaluated more batches than before; false where the client has ended.
fn answers(client: &mut Stage, url: &str) -> bool {
    counts_more(client, &format!("answers of {url}"), |client| answered(client, url))
}

/// The same for a client that does not end by itself.
fn wait_for_answers(client: &mut Stage, url: &str) {
    assert!(answers(client, url), "{:?}\n{}", client.ended(), client.log().join("\n"));
}

/// Tries up to three times: on a busy machine a client may play all of its games before its servers have been harmed.
fn while_games_are_played(mut harm: impl FnMut() -> bool) {
    assert!((0..3).any(|_| harm()), "three clients had played all games before their servers were harmed");
}

fn finish(client: &mut Stage) {
    let status = client.wait();
    assert!(status.success(), "{status}\n{}", client.log().join("\n"));
}

/// Ends a client by SIGTERM once the games are finished that were in progress while its servers were harmed. All
/// finished games are published, and are those that a local network plays. A client that has ended by itself has played
/// all.
fn stop(client: &mut Stage, store: &TestStore) {
    let finished = |client: &Stage| client.metrics().get("tengen_games_total").copied().unwrap_or_default();
    let enough = finished(client) + GAMES_AFTER;
    wait_until("games after the harm", || client.ended().is_some() || finished(client) >= enough);
    let code = if client.ended().is_some() { client.wait().code() } else { client.terminate() };
    let log = client.log();
    if code == Some(0) {
        return assert_same(store, GAMES);
    }
    assert_eq!(code, Some(4), "{}", log.join("\n"));
    let found = games(store);
    assert!(found.len() > 50, "{} games", found.len());
    let counted = log.iter().rev().find(|line| line.contains("\"published\":")).expect("the count of the client");
    let counted: Value = serde_json::from_str(counted).unwrap();
    assert_eq!(counted["published"], found.len(), "no game is lost");
    assert_expected(store, &found);
}

fn has_logged(client: &Stage, message: &str, server: &str) -> bool {
    client.log().iter().any(|line| line.contains(message) && line.contains(server))
}

#[test]
fn games_on_a_server_are_those_of_a_local_network_to_the_bit() {
    let server = Server::start();
    let store = store();
    // The weights stay where the server is.
    fs::remove_file(store.path().join(WEIGHTS)).unwrap();
    let mut command = worker(&store, &server.url(), 100);
    let output = command.output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    assert!(said.contains("inference server is up") && said.contains(&server.url()), "{said}");
    fs::copy(first_model().path().join(WEIGHTS), store.path().join(WEIGHTS)).unwrap();
    assert_same(&store, 100);
}

#[test]
fn server_that_is_killed_costs_no_game() {
    while_games_are_played(|| {
        let mut servers = [Server::start(), Server::start()];
        let store = store();
        let tiers = format!("{},{}", servers[0].url(), servers[1].url());
        let mut client = Stage::start(&mut worker(&store, &tiers, GAMES));
        let begun = servers.iter().all(|server| answers(&mut client, &server.url()));
        servers[0].kill();
        let in_time = begun && answers(&mut client, &servers[1].url()) && client.ended().is_none();
        finish(&mut client);
        assert!(!in_time || has_logged(&client, "inference server is down", &servers[0].url()));
        assert_same(&store, GAMES);
        in_time
    });
}

#[test]
fn stopped_server_is_suspect_and_another_evaluates() {
    while_games_are_played(|| {
        let servers = [Server::start(), Server::start()];
        let store = store();
        let tiers = format!("{};{}", servers[0].url(), servers[1].url());
        let mut client = Stage::start(&mut worker_of_one_thread(&store, &tiers));
        let begun = answers(&mut client, &servers[0].url());
        servers[0].stage.signal("STOP");
        let harmed = begun && answers(&mut client, &servers[1].url());
        let resent = of_servers(&client, "tengen_inference_client_resent_batches_total");
        // Without metrics it has ended.
        let resent = resent.get(&servers[0].url()).copied().filter(|_| harmed);
        assert!(resent.is_none_or(|resent| resent >= 1.0), "{resent:?}");
        stop(&mut client, &store);
        servers[0].stage.signal("CONT");
        resent.is_some()
    });
}

#[test]
fn first_tier_has_the_traffic_again_when_it_is_back() {
    let mut servers = [Server::start(), Server::start()];
    let store = store();
    let tiers = format!("{};{}", servers[0].url(), servers[1].url());
    // More games than are played before SIGTERM.
    let mut client = Stage::start(&mut worker(&store, &tiers, 1_000_000));
    wait_for_answers(&mut client, &servers[0].url());
    servers[0].kill();
    wait_for_answers(&mut client, &servers[1].url());
    servers[0].restart();
    wait_for_answers(&mut client, &servers[0].url());
    // A batch may be under way to the second tier at first, and one that is late at the first goes there.
    wait_until("the second tier to have nothing to do", || {
        let before = answered(&client, &servers[1].url());
        wait_for_answers(&mut client, &servers[0].url());
        before > 0.0 && answered(&client, &servers[1].url()) == before
    });
    assert_eq!(client.terminate(), Some(4));
}

#[test]
fn network_of_the_process_is_the_last_tier() {
    const LOCAL: &str = "tengen_inference_client_local_batches_total";
    while_games_are_played(|| {
        let mut server = Server::start();
        let store = store();
        let mut client = Stage::start(&mut worker_of_one_thread(&store, &format!("{};local", server.url())));
        let begun = answers(&mut client, &server.url());
        server.kill();
        let local = |client: &Stage| client.metrics().get(LOCAL).copied().unwrap_or_default();
        let harmed = begun && counts_more(&mut client, LOCAL, local);
        if harmed {
            // It does not play on alone while the server starts.
            client.signal("STOP");
            server.restart();
            client.signal("CONT");
        }
        let in_time = harmed && answers(&mut client, &server.url());
        stop(&mut client, &store);
        in_time
    });
}

#[test]
fn worker_waits_for_servers_and_exits_at_sigterm() {
    let store = store();
    let mut client = Stage::start(&mut worker(&store, &format!("http://{}", free_address()), 10));
    client.wait_for("the problem", |client| {
        client.log().iter().find(|line| line.contains("inference server is down")).cloned()
    });
    assert!(client.ended().is_none());
    assert_eq!(client.terminate(), Some(4));
    assert!(games(&store).is_empty());
}

#[test]
fn line_that_cuts_delays_and_truncates_changes_no_game() {
    let servers = [Server::start(), Server::start()];
    let proxies: Vec<Proxy> =
        (servers.iter().zip(1..)).map(|(server, seed)| Proxy::start(server.address, 60, seed).unwrap()).collect();
    let store = store();
    let tiers = format!("http://{},http://{}", proxies[0].address(), proxies[1].address());
    succeed(&mut worker(&store, &tiers, 100));
    let injected: u32 = proxies.iter().map(Proxy::injected).sum();
    assert!(injected > 5, "{injected} faults");
    assert_same(&store, 100);
}

#[test]
fn matches_and_gtp_are_played_on_servers() {
    let server = Server::start();
    let store = store();
    let pair = ["--pair", "tiny-1", "random", "--games", "8", "--inference"];
    let table = succeed(store.program("evaluator").args(pair).arg(server.url()));
    assert!(table.contains("tiny-1"), "{table}");
    let pair = ["--pair", "tiny-1", "tiny-1+precision=f32", "--games", "8", "--inference"];
    let (code, said) = tests::fail(store.program("evaluator").args(pair).arg(server.url()));
    assert_eq!(code, 2, "{said}");
    assert!(said.contains("tiny-1+precision=f32 cannot play: inference servers"), "{said}");
    let played = |place: &[&str]| {
        let mut command = store.program("tengen");
        command.args(["gtp", "--model", "tiny-1"]).args(place);
        String::from_utf8(converse(&mut command, b"genmove b\ngenmove w\ngenmove b\nquit\n").stdout).unwrap()
    };
    assert_eq!(played(&["--inference", &server.url()]), played(&[]));
}

#[test]
fn model_that_no_server_has_is_an_error_that_names_it() {
    let server = Server::start();
    let store = store();
    let model = store.path().join("tiny/models/000001/model.toml");
    let text = fs::read_to_string(&model).unwrap();
    let digest = text.split("sha256 = \"").nth(1).unwrap().split('"').next().unwrap();
    fs::write(&model, text.replace(digest, &"0".repeat(64))).unwrap();
    let (code, said) = tests::fail(&mut worker(&store, &server.url(), 10));
    assert_eq!(code, 1, "{said}");
    assert!(said.contains("refused the batch") && said.contains(&server.url()), "{said}");
}

/// Random enough for moments: a linear congruential generator (Knuth, MMIX).
struct Chance(u64);

impl Chance {
    fn below(&mut self, most: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % most
    }
}

/// Does something bad to a server; returns whether it suffers from it now.
fn harm(server: &mut Server, chance: &mut Chance) -> &'static str {
    if chance.below(2) == 0 {
        server.kill();
        "killed"
    } else {
        server.stage.signal("STOP");
        "stopped"
    }
}

#[test]
fn storm_of_kills_and_stops_behind_a_bad_line_loses_no_game() {
    let wanted = std::env::var("TENGEN_TEST_INFERENCE_KILLS").map_or(STORM, |text| text.parse().unwrap());
    let mut servers = [Server::start(), Server::start(), Server::start()];
    let proxies: Vec<Proxy> =
        (servers.iter().zip(1..)).map(|(server, seed)| Proxy::start(server.address, 400, seed).unwrap()).collect();
    let [first, second, third] = [0, 1, 2].map(|nth: usize| format!("http://{}", proxies[nth].address()));
    let (mut chance, mut harmed, mut rounds) = (Chance(1), 0, 0);
    while harmed < wanted {
        let store = store();
        let mut client = Stage::start(&mut worker_of_one_thread(&store, &format!("{first},{second};{third}")));
        while client.ended().is_none() && harmed < wanted {
            std::thread::sleep(Duration::from_millis(20 + chance.below(200)));
            let server = &mut servers[chance.below(3) as usize];
            let harm = harm(server, &mut chance);
            harmed += u32::from(client.ended().is_none());
            std::thread::sleep(Duration::from_millis(chance.below(300)));
            if harm == "killed" { server.restart() } else { server.stage.signal("CONT") }
        }
        stop(&mut client, &store);
        rounds += 1;
    }
    let injected: u32 = proxies.iter().map(Proxy::injected).sum();
    assert!(injected > 0, "the line had no fault");
    println!(
        "{harmed} kills and stops and {injected} faults of the line in {rounds} runs, nothing lost, nothing changed"
    );
}
