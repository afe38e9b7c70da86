//! The overlay `inference`: servers are killed and added, and the pods that search notice a stall at most.

use std::fs;

use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};
use serde_json::{Value, json};
use tests::{TestStore, ask, succeed};

use crate::agent::Agent;
use crate::command::{address, local};
use crate::games::published;
use crate::node::Node;
use crate::plane::ControlPlane;
use crate::scaling::wait_for_workers;
use crate::services::lists_ready_pods;
use crate::setup::{Overlay, assert_none_counted, is_ready};

/// The Secret of the page: an authority, a certificate for the addresses that the agent gives the servers, and a token.
fn create_secret(plane: &ControlPlane) {
    let mut params = CertificateParams::default();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let key = KeyPair::generate().unwrap();
    let authority = params.self_signed(&key).unwrap();
    let issuer = Issuer::new(params, key);
    let names: Vec<String> = (0..4)
        .map(|number| address(plane.api().port(), "tengen", &format!("inference-{number}")).to_string())
        .collect();
    let key = KeyPair::generate().unwrap();
    let certificate = CertificateParams::new(names).unwrap().signed_by(&key, &issuer).unwrap();
    let folder = plane.folder();
    for (name, text) in [
        ("tls.crt", certificate.pem()),
        ("tls.key", key.serialize_pem()),
        ("ca.crt", authority.pem()),
        ("token", "token-of-the-tests-0123456789".to_owned()),
    ] {
        fs::write(folder.join(name), text).unwrap();
    }
    let mut command = plane.kubectl(&["-n", "tengen", "create", "secret", "generic", "tengen-inference"]);
    let files = ["tls.crt", "tls.key", "ca.crt", "token"].map(|name| format!("--from-file={name}"));
    succeed(command.args(files).current_dir(folder));
}

fn wait_for_servers(plane: &ControlPlane, count: usize) {
    plane.wait(&format!("{count} servers"), |_| {
        (plane.pods("inference").iter().filter(|pod| is_ready(pod)).count() == count).then_some(())
    });
}

/// The metrics of a pod; none while it starts.
fn metrics(pod: &Value) -> String {
    local(pod, 9464).and_then(|address| ask(&address, "/metrics")).unwrap_or_default().1
}

/// Positions that a server has evaluated.
fn evaluated(server: &Value) -> f64 {
    let page = metrics(server);
    let mut lines = page.lines().filter(|line| line.starts_with("tengen_inference_positions_total"));
    lines.find_map(|line| line.rsplit(' ').next()).map_or(0.0, |value| value.parse().unwrap())
}

#[test]
fn searching_pods_survive_killed_and_added_servers() {
    let Some(plane) = ControlPlane::start() else { return };
    let store = TestStore::on_server();
    let agent = Agent::start(&plane, &[Node::new("one"), Node::with_gpus("gpus", 8)]);
    let args = json!(["--config=/etc/tengen/tiny.toml", "--set=loop.models=10000", "--set=search.visits=800"]);
    // CPUs instead of GPUs.
    let cpu = |variable: usize| {
        let device = format!("/spec/template/spec/containers/0/env/{variable}");
        json!([
            {"op": "test", "path": format!("{device}/name"), "value": "TENGEN_DEVICE"},
            {"op": "replace", "path": format!("{device}/value"), "value": "cpu"},
        ])
    };
    let overlay = Overlay::tiny("inference", 10_000).set("Job", "selfplay", "args", &args);
    let overlay = overlay.set("StatefulSet", "trainer", "args", &args).variable("TENGEN_MAX_GAMES_PER_MODEL", "0");
    let overlay = overlay.with_store(&plane, &store);
    create_secret(&plane);
    let overlay = overlay.patch("StatefulSet", "trainer", &cpu(1)).patch("StatefulSet", "inference", &cpu(0));
    overlay.apply(&plane);
    wait_for_servers(&plane, 2);
    wait_for_workers(&plane, 4);
    let run = store.run("r");
    plane.wait("games of model 1", |_| run.games().models().unwrap().contains(&1).then_some(()));

    let before = published(&run).len();
    plane.run(&["-n", "tengen", "delete", "pod", "inference-0", "--force", "--grace-period=0"]);
    wait_for_servers(&plane, 2);
    plane.documented(&["-n", "tengen", "scale", "statefulset", "inference", "--replicas=3"]);
    wait_for_servers(&plane, 3);
    overlay.apply(&plane);
    let set = plane.api().get("/apis/apps/v1/namespaces/tengen/statefulsets/inference").unwrap();
    assert_eq!(set["spec"]["replicas"], 3, "applying the overlay changes no number of servers");
    lists_ready_pods(&plane, "inference", 9470);
    plane.wait("another game", |_| (published(&run).len() > before).then_some(()));
    plane.wait("positions at each server, the replaced and the added one, too", |_| {
        let pods = plane.pods("inference");
        (pods.len() == 3 && pods.iter().all(|pod| evaluated(pod) > 0.0)).then_some(())
    });
    assert_eq!(agent.journal().exits("selfplay"), [].into(), "no worker has exited");
    assert!(agent.journal().exits("evaluator").keys().all(|&code| code == 0), "no evaluator has failed");
    for name in ["selfplay", "evaluator"] {
        assert_none_counted(&plane, name);
    }

    for pod in plane.pods("inference") {
        assert!(metrics(&pod).contains("tengen_inference_queue_positions"), "{}", metrics(&pod));
    }
    let scaler = plane.api().get("/apis/autoscaling/v2/namespaces/tengen/horizontalpodautoscalers/inference").unwrap();
    assert_eq!(scaler["spec"]["metrics"][0]["pods"]["metric"]["name"], "tengen_inference_queue_positions");
    plane.run(&["-n", "tengen", "delete", "jobs,statefulsets", "--all"]);
    println!("{}", succeed(store.program("tengen").args(["audit", "r"])));
}
