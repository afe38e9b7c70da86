//! The inference server as a process: who may reach it, what other clients get, and how it ends.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use config::{Preset, RunConfig};
use go::{Game, Move, Symmetry};
use net::{Device, Model, PlaneEvaluator, Precision, Shape, Weights};
use store::{ModelMetadata, Run};
use testing::{Tool, require};
use tests::{Stage, TestStore, fail, repository, succeed};

/// Positions that are compared.
const POSITIONS: usize = 23;

/// Publishes a model of a run, with made-up weights.
pub(crate) fn publish(run: &Run, number: u32, config: RunConfig) -> Weights {
    run.create(&config).unwrap();
    let weights = Weights::synthetic(Shape::new(&config.game, &config.network), 1);
    let metadata = ModelMetadata::new(run.name(), number, 0, &config);
    run.models().publish(&metadata, weights.to_bytes().into()).unwrap();
    weights
}

pub(crate) fn serve(store: &TestStore, args: &[&str]) -> Stage {
    let args = [&["--device", "cpu", "--log-format", "json"], args].concat();
    let mut server = Stage::start(store.program("inference").args(args));
    server.wait_for("readiness", |server| (server.page("/readyz")?.0 == 200).then_some(()));
    server
}

/// Where a server listens, by its log.
pub(crate) fn address(server: &mut Stage) -> String {
    server.wait_for("its address", |server| {
        let line = server.log().into_iter().find(|line| line.contains("serving inference"))?;
        let event: serde_json::Value = serde_json::from_str(&line).ok()?;
        Some(event["address"].as_str()?.to_owned())
    })
}

/// Planes of some positions of a game.
fn planes(Shape { size, inputs, .. }: Shape) -> Vec<u8> {
    let mut game = Game::new(size);
    let mut planes = vec![0; POSITIONS * inputs.len(size)];
    for (nth, row) in planes.chunks_exact_mut(inputs.len(size)).enumerate() {
        let mv = Move::from_index(size, nth * 37 % size.area()).unwrap();
        if game.is_legal(mv) {
            game.play(mv).unwrap();
        }
        inputs.of_game(&game, 6.5, Symmetry::ALL[nth % Symmetry::ALL.len()], row);
    }
    planes
}

fn bytes(numbers: &[f32]) -> Vec<u8> {
    numbers.iter().flat_map(|number| number.to_le_bytes()).collect()
}

#[test]
fn tritonclient_gets_the_outputs_of_the_local_network() {
    let Some(site) = require(Tool::Python) else { return };
    let store = TestStore::new();
    let weights = publish(&store.run("v1"), 1, Preset::NineByNine.config());
    let shape = weights.shape();
    let planes = planes(shape);
    let model = Model::new(&weights, Device::Cpu, Precision::Auto, POSITIONS).unwrap();
    let (mut policies, mut values) = (vec![0.0; POSITIONS * shape.size.moves()], vec![0.0; POSITIONS]);
    model.session().evaluate(&planes, &mut policies, &mut values).unwrap();
    let packing = shape.inputs.packing(shape.size);
    let packed = planes.chunks_exact(packing.plane_bytes()).flat_map(|row| {
        let (mut bits, mut scalars) = (Vec::new(), Vec::new());
        packing.pack(row, &mut bits, &mut scalars);
        [bits, scalars].concat()
    });
    let folder = tempfile::tempdir().unwrap();
    let files = [
        ("packed", packed.collect()),
        ("planes", planes.clone()),
        ("policy", bytes(&policies)),
        ("value", bytes(&values)),
    ];
    files.into_iter().for_each(|(name, bytes)| fs::write(folder.path().join(name), bytes).unwrap());
    let mut server = serve(&store, &["--listen", "127.0.0.1:0"]);
    let address = address(&mut server);
    let mut python = Command::new("python3");
    python.env("PYTHONPATH", &site).arg(repository().join("tests/python/check_inference.py"));
    let said = succeed(python.args([address.strip_prefix("http://").unwrap(), "v1-1"]).arg(folder.path()));
    assert!(said.contains("23 positions agree bit for bit"), "{said}");
    server.wait_for_metric("tengen_inference_positions_total", (5 * POSITIONS) as f64);
    let metrics = server.metrics();
    let numbers = ["models", "interactive_positions_total", "expired_total"];
    let numbers = numbers.map(|name| metrics[&format!("tengen_inference_{name}")]);
    assert_eq!(numbers, [1.0, POSITIONS as f64, POSITIONS as f64]);
    assert_eq!(server.terminate(), Some(4), "{:?}", server.log());
}

/// A configuration with a small network, which a CPU evaluates at once.
fn small(side: u8, more: &[&str]) -> RunConfig {
    let size = format!("game.size={side}");
    let all = [&[&size, "network.blocks=1", "network.filters=8", "search.visits=4"], more].concat();
    let text = Preset::Tiny.config().to_toml();
    RunConfig::from_toml_with(&text, &all).unwrap()
}

/// Two runs whose searches differ, and a third that trains meanwhile, all evaluated by one server with one thread.
#[test]
fn models_with_other_searches_share_one_device_with_a_run() {
    let [store, local] = [(); 2].map(|()| {
        let store = TestStore::new();
        publish(&store.run("few"), 1, small(5, &[]));
        let more = ["search.leaves=4", "search.q_init=\"zero\"", "network.filters=12"];
        publish(&store.run("many"), 1, small(5, &more));
        store
    });
    let mut server = serve(&store, &["--listen", "127.0.0.1:0", "--threads", "1"]);
    let address = address(&mut server);
    let config = repository().join("configs/tiny.toml");
    let mut run = store.program("tengen");
    let mut run = Stage::start(run.arg("run").arg(config).args(["--inference", &address]));
    let pair = ["--pair", "few-1", "many-1", "--games", "12"];
    let table = succeed(store.program("evaluator").args(pair).args(["--inference", &address]));
    assert_eq!(table, succeed(local.program("evaluator").args(pair)), "games are those of local networks");
    assert!(run.wait().success(), "{:?}", run.log());
    // Those of the match, and of the run all that it has played with.
    assert!(server.metrics()["tengen_inference_model_loads_total"] >= 4.0, "{:?}", server.metrics());
    assert_eq!(server.terminate(), Some(4), "{:?}", server.log());
}

#[test]
fn matches_of_a_run_come_before_its_selfplay() {
    let store = TestStore::new();
    let mut server = serve(&store, &["--listen", "127.0.0.1:0"]);
    let address = address(&mut server);
    let config = repository().join("configs/tiny.toml");
    succeed(store.program("tengen").arg("run").arg(config).args(["--inference", &address]));
    let metrics = server.metrics();
    let [matches, all] =
        ["interactive_positions", "positions"].map(|name| metrics[&format!("tengen_inference_{name}_total")]);
    assert!(0.0 < matches && matches < all, "{matches} of {all} positions are those of matches");
    assert_eq!(server.terminate(), Some(4), "{:?}", server.log());
}

#[test]
fn public_address_is_refused_without_protection() {
    let store = TestStore::new();
    for args in [
        &["--listen", "0.0.0.0:0"][..],
        &["--listen", "[::]:0"],
        &["--listen", "127.0.0.1:0", "--client-ca", "ca.pem"],
        &["--listen", "127.0.0.1:0", "--tls-cert", "cert.pem"],
        &["--listen", "127.0.0.1:0", "--token-file", "/no/such/file"],
        &["--listen", "127.0.0.1"],
        &["--listen", "unix:relative"],
    ] {
        let (code, said) = fail(store.program("inference").args(["--device", "cpu"]).args(args));
        assert_eq!(code, 2, "{args:?}: {said}");
    }
    let (_, said) = fail(store.program("inference").args(["--device", "cpu", "--listen", "0.0.0.0:0"]));
    assert!(said.contains("can be reached from other machines; give --tls-cert and --tls-key"), "{said}");
}

#[test]
fn absent_store_is_refused_and_not_created() {
    let store = TestStore::new();
    let absent = store.path().join("stroe");
    let place = absent.to_string_lossy();
    let mut inference = store.program_at("inference", &place);
    let (code, said) = fail(inference.args(["--listen", "127.0.0.1:0", "--device", "cpu"]));
    assert!(code == 2 && said.contains(&format!("cannot use {place} as a store")), "{code}: {said}");
    assert!(!absent.exists());
}

#[test]
fn device_that_is_none_is_refused() {
    let store = TestStore::new();
    let (code, said) = fail(store.program("inference").args(["--listen", "127.0.0.1:0", "--device", "tpu"]));
    assert!(code == 2 && said.contains("tpu"), "{said}");
}

#[test]
fn second_server_of_a_socket_is_refused_and_the_first_removes_the_socket() {
    let store = TestStore::new();
    let socket = store.path().join("inference.sock");
    let listen = format!("unix:{}", socket.display());
    let mut server = serve(&store, &["--listen", &listen]);
    assert_eq!(fs::metadata(&socket).unwrap().permissions().mode() & 0o777, 0o600);
    let (code, said) = fail(store.program("inference").args(["--device", "cpu", "--listen", &listen]));
    assert!(code == 2 && said.contains("cannot listen on unix:"), "{said}");
    assert_eq!(server.terminate(), Some(4), "{:?}", server.log());
    assert!(!socket.exists());
}
