//! Self-play is scaled by the command of the page on Kubernetes.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use tests::{TestStore, resumed, succeed};

use crate::agent::Agent;
use crate::games::{assert_kept, handed_off, published, wait_until_published};
use crate::node::Node;
use crate::plane::{ControlPlane, assert_documented};
use crate::setup::{Overlay, assert_none_counted, is_ready};

/// The overlay `cpu` with a run that does not end. Games are always in progress: searches are long, and workers do not
/// wait for the next model when the window is full.
pub(crate) fn endless(plane: &ControlPlane, store: &TestStore) -> Overlay {
    let args = json!(["--config=/etc/tengen/tiny.toml", "--set=loop.models=10000", "--set=search.visits=800"]);
    let overlay = Overlay::tiny("cpu", 10_000).variable("TENGEN_MAX_GAMES_PER_MODEL", "0");
    let overlay = overlay.set("Job", "selfplay", "args", &args).set("StatefulSet", "trainer", "args", &args);
    overlay.with_store(plane, store)
}

/// The index of a pod of a Job, which is the name of its worker.
pub(crate) fn index(pod: &Value) -> &str {
    pod["metadata"]["annotations"]["batch.kubernetes.io/job-completion-index"].as_str().unwrap()
}

/// The indices of the self-play pods that are ready.
fn indices(plane: &ControlPlane) -> BTreeSet<String> {
    // A pod that ends has not ended.
    let pods = plane.pods("selfplay").into_iter().filter(|pod| is_ready(pod) || pod["status"]["phase"] == "Running");
    pods.map(|pod| index(&pod).to_owned()).collect()
}

/// Waits until workers 0 to `count - 1` are there, and no others.
pub(crate) fn wait_for_workers(plane: &ControlPlane, count: usize) {
    let wanted: BTreeSet<String> = (0..count).map(|index| index.to_string()).collect();
    plane.wait(&format!("{count} workers"), |_| {
        let ready = plane.pods("selfplay").iter().filter(|pod| is_ready(pod)).count();
        (indices(plane) == wanted && ready == count).then_some(())
    });
}

/// The documented command, with this number instead of the 64 of the page.
pub(crate) fn scale(plane: &ControlPlane, count: usize) {
    let change = r#"{"spec":{"completions":64,"parallelism":64}}"#;
    let command = ["-n", "tengen", "patch", "job", "selfplay", "--type=merge", "-p", change];
    assert_documented(&command);
    plane.run(&command.map(|part| part.replace("64", &count.to_string())).each_ref().map(String::as_str));
}

#[test]
fn selfplay_is_scaled_by_the_documented_patch() {
    let Some(plane) = ControlPlane::start() else { return };
    let store = TestStore::on_server();
    let agent = Agent::start(&plane, &[Node::new("one"), Node::new("two")]);
    endless(&plane, &store).apply(&plane);
    wait_for_workers(&plane, 4);
    scale(&plane, 8);
    wait_for_workers(&plane, 8);
    let run = store.run("r");
    plane.wait("games", |_| (!published(&run).is_empty()).then_some(()));
    let before = published(&run);

    scale(&plane, 2);
    wait_for_workers(&plane, 2);
    let exits = agent.journal().exits("selfplay");
    assert_eq!(exits, [(4, 6)].into(), "six workers were stopped before the end");
    let left = handed_off(&run, |worker| !["0", "1"].contains(&worker));
    assert!(!left.is_empty(), "workers 2 to 7 have handed off their games");
    // The workers that are left take such games with their next model.
    plane.wait("a game of another worker", |_| (!left.is_disjoint(&published(&run))).then_some(()));

    plane.documented(&[
        "-n",
        "tengen",
        "patch",
        "job",
        "selfplay",
        "--type=merge",
        "-p",
        r#"{"spec":{"parallelism":0}}"#,
    ]);
    wait_for_workers(&plane, 0);
    scale(&plane, 4);
    wait_for_workers(&plane, 4);
    // So do workers that start, each with its own games first.
    wait_until_published(&plane, &run, &left);
    assert_none_counted(&plane, "selfplay");
    assert_kept(&before, &run);
    plane.run(&["-n", "tengen", "delete", "jobs,statefulsets", "--all"]);
    println!("{} games, {} of them resumed", published(&run).len(), resumed(&run));
    println!("{}", succeed(store.program("tengen").args(["audit", "r"])));
}
