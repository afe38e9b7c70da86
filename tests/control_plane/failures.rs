//! Exit codes: what the page on Kubernetes says of failed pods is what the controllers do.

use serde_json::json;
use testing::s3::Refusal;
use tests::{Prometheus, TestStore};

use crate::agent::Agent;
use crate::command::local;
use crate::games::published;
use crate::node::Node;
use crate::plane::ControlPlane;
use crate::scaling::{endless, wait_for_workers};
use crate::setup::{Overlay, assert_none_counted, condition, failed_indices, is_ready, job};

#[test]
fn wrong_configuration_fails_the_job_at_once() {
    let Some(plane) = ControlPlane::start() else { return };
    let store = TestStore::on_server();
    let agent = Agent::start(&plane, &[Node::new("one")]);
    let args = json!(["--config=/etc/tengen/tiny.toml", "--set=search.visist=5"]);
    let overlay = Overlay::tiny("cpu", 3).with_store(&plane, &store);
    overlay.set("Job", "selfplay", "args", &args).apply(&plane);
    let failed = plane.wait("the failure", |api| condition(&job(api, "selfplay"), "Failed"));
    assert_eq!(failed["reason"], "PodFailurePolicy", "{failed}");
    assert!(failed["message"].as_str().unwrap().contains("exit code 2"), "{failed}");
    // The others may have been deleted before they began.
    let names_key = |index: usize| agent.log(&format!("selfplay-{index}"), "selfplay").contains("search.visist");
    assert!((0..4).any(names_key), "a log names the key");
    plane.wait("the end of all pods", |_| {
        plane.pods("selfplay").iter().all(|pod| pod["status"]["phase"] == "Failed").then_some(())
    });
    assert!(agent.journal().of("selfplay").len() <= 4, "no worker was started again");
}

/// The set starts one pod of a name, and waits for none of them to be ready.
#[test]
fn trainer_with_a_wrong_option_is_replaced_when_the_overlay_is_corrected() {
    let Some(plane) = ControlPlane::start() else { return };
    let store = TestStore::on_server();
    let agent = Agent::start(&plane, &[Node::new("one")]);
    let args = |set: &str| json!(["--config=/etc/tengen/tiny.toml", set]);
    let overlay = Overlay::tiny("cpu", 3).with_store(&plane, &store);
    let overlay = overlay.set("StatefulSet", "trainer", "args", &args("--set=search.visist=5"));
    overlay.apply(&plane);
    plane.wait("exit code 2 of the trainer", |_| agent.journal().exits("trainer").get(&2).copied());
    overlay.set("StatefulSet", "trainer", "args", &args("--set=loop.models=3")).apply(&plane);
    plane.wait("the corrected trainer", |_| plane.pods("trainer").into_iter().find(is_ready));
    assert_eq!(agent.journal().most_at_once("trainer"), 1);
}

#[test]
fn store_that_is_away_is_no_failure() {
    let Some(plane) = ControlPlane::start() else { return };
    let store = TestStore::on_server();
    let agent = Agent::start(&plane, &[Node::new("one")]);
    endless(&plane, &store).apply(&plane);
    wait_for_workers(&plane, 4);
    let run = store.run("r");
    plane.wait("games", |_| (!published(&run).is_empty()).then_some(()));
    store.server().unwrap().set_away(true);
    plane.wait("exit code 3", |_| (agent.journal().exits("selfplay").get(&3) > Some(&0)).then_some(()));
    store.server().unwrap().set_away(false);
    wait_for_workers(&plane, 4);
    let before = published(&run).len();
    plane.wait("another game", |_| (published(&run).len() > before).then_some(()));
    assert!(assert_none_counted(&plane, "selfplay") > 0, "the policy has ignored exit code 3");
}

#[test]
fn full_store_raises_its_alert_and_ends_the_restarts() {
    let Some(plane) = ControlPlane::start() else { return };
    let store = TestStore::on_server();
    let agent = Agent::start(&plane, &[Node::new("one")]);
    let once = json!([{"op": "replace", "path": "/spec/backoffLimitPerIndex", "value": 1}]);
    endless(&plane, &store).patch("Job", "selfplay", &once).apply(&plane);
    wait_for_workers(&plane, 4);
    let pods = plane.pods("selfplay");
    let addresses = pods.iter().filter_map(|pod| local(pod, 9464));
    let prometheus = Prometheus::start(&addresses.collect::<Vec<_>>());
    store.server().unwrap().refuse(Some(Refusal::Full));
    if let Some(prometheus) = &prometheus {
        prometheus.must_fire("TengenStoreRefusesWrites", "r", &mut || ());
    }
    let failed = plane.wait("the failure", |api| condition(&job(api, "selfplay"), "Failed"));
    assert_eq!(failed["reason"], "FailedIndexes", "{failed}");
    assert_eq!(failed_indices(&job(plane.api(), "selfplay")), "0-3");
    assert_eq!(agent.journal().exits("selfplay"), [(5, 8)].into(), "each index was restarted once");
}

#[test]
fn failing_index_stops_and_the_others_go_on() {
    let Some(plane) = ControlPlane::start() else { return };
    let store = TestStore::on_server();
    let _agent = Agent::start(&plane, &[Node::new("one")]);
    // A broken node, as far as the controllers see.
    let script = json!(["sh", "-c", "test $JOB_COMPLETION_INDEX != 1 && exec sleep 1000000"]);
    let container = "/spec/template/spec/containers/0";
    let operations = json!([
        {"op": "replace", "path": "/spec/backoffLimitPerIndex", "value": 1},
        {"op": "replace", "path": format!("{container}/command"), "value": script},
        {"op": "remove", "path": format!("{container}/args")},
        {"op": "remove", "path": format!("{container}/startupProbe")},
        {"op": "remove", "path": format!("{container}/livenessProbe")},
        {"op": "remove", "path": format!("{container}/readinessProbe")},
    ]);
    Overlay::new("cpu").with_store(&plane, &store).patch("Job", "selfplay", &operations).apply(&plane);
    plane.wait("the failed index", |api| (failed_indices(&job(api, "selfplay")) == "1").then_some(()));
    let job = job(plane.api(), "selfplay");
    assert!(condition(&job, "Failed").is_none() && job["status"]["active"] == 3, "{}", job["status"]);
    assert_eq!(plane.pods("selfplay").iter().filter(|pod| is_ready(pod)).count(), 3);
}
