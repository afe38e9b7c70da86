//! Evictions, drained, lost and reclaimed nodes: the run goes on, no game is lost, and the trainer never runs twice.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use store::Run;
use tests::{TestStore, succeed};

use crate::agent::Agent;
use crate::api::ApiError;
use crate::games::{assert_kept, handed_off, published, wait_until_published};
use crate::node::Node;
use crate::plane::ControlPlane;
use crate::scaling::{endless, index, scale, wait_for_workers};
use crate::setup::{assert_none_counted, condition, is_ready};

/// Evicts a pod as a drain does.
pub(crate) fn evict(plane: &ControlPlane, pod: &Value) -> Result<Value, ApiError> {
    let name = pod["metadata"]["name"].as_str().unwrap();
    let eviction =
        json!({"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": name, "namespace": "tengen"}});
    plane.api().create(&format!("/api/v1/namespaces/tengen/pods/{name}/eviction"), &eviction)
}

/// Waits until a trainer is ready that is another pod than this one.
fn another_trainer(plane: &ControlPlane, than: &Value) -> Value {
    plane.wait("another trainer", |_| {
        let found = plane.pods("trainer").into_iter().find(is_ready)?;
        (found["metadata"]["uid"] != than["metadata"]["uid"]).then_some(found)
    })
}

fn trainer(plane: &ControlPlane) -> Value {
    plane.wait("a trainer", |_| plane.pods("trainer").into_iter().find(is_ready))
}

fn node_of(pod: &Value) -> &str {
    pod["spec"]["nodeName"].as_str().unwrap()
}

/// The budget allows as many evictions as workers are more than two.
fn budgets_are_respected(plane: &ControlPlane) {
    let allowed = |count: u64| {
        plane.wait(&format!("{count} evictions allowed"), |api| {
            let budget = api.get("/apis/policy/v1/namespaces/tengen/poddisruptionbudgets/selfplay").unwrap();
            (budget["status"]["disruptionsAllowed"] == count).then_some(())
        });
    };
    allowed(2);
    evict(plane, &plane.pods("selfplay")[0]).unwrap_or_else(|error| panic!("{error}"));
    wait_for_workers(plane, 4);
    scale(plane, 2);
    wait_for_workers(plane, 2);
    allowed(0);
    let refused = evict(plane, &plane.pods("selfplay")[0]).expect_err("the budget has two");
    assert!(refused.status == 429 && refused.to_string().contains("disruption budget"), "{refused}");
    scale(plane, 4);
    wait_for_workers(plane, 4);
}

/// The trainer is evicted, and its node is drained.
fn trainer_moves(plane: &ControlPlane) {
    let first = trainer(plane);
    evict(plane, &first).unwrap_or_else(|error| panic!("{error}"));
    let second = another_trainer(plane, &first);
    plane.run(&["drain", node_of(&second), "--ignore-daemonsets", "--delete-emptydir-data"]);
    let third = another_trainer(plane, &second);
    assert_ne!(node_of(&third), node_of(&second));
    plane.run(&["uncordon", node_of(&second)]);
}

/// The node of the trainer vanishes. Until its object is deleted, nothing replaces the pods that it had.
fn lost_node_is_replaced_when_it_is_deleted(plane: &ControlPlane, agent: &Agent) {
    let lost = trainer(plane);
    let node = node_of(&lost).to_owned();
    agent.lose(&node);
    let stuck = |pod: &Value| node_of(pod) == node && !pod["metadata"]["deletionTimestamp"].is_null();
    plane.wait("the eviction from the lost node", |_| plane.pods("trainer").iter().find(|pod| stuck(pod)).cloned());
    let began = Instant::now();
    plane.wait("15 s in which nothing replaces them", |_| {
        assert_eq!(plane.pods("trainer").len(), 1, "no other trainer while the node may be alive");
        assert_eq!(plane.pods("selfplay").len(), 4, "nor a second worker of an index");
        (began.elapsed() >= Duration::from_secs(15)).then_some(())
    });
    plane.run(&["delete", "node", &node]);
    another_trainer(plane, &lost);
    wait_for_workers(plane, 4);
}

/// The spot node is reclaimed: its workers hand off their games, which this returns, and Kubernetes knows why they
/// ended.
fn reclaimed_node_hands_off(plane: &ControlPlane, agent: &Agent, run: &Run) -> BTreeSet<String> {
    let there = plane.wait("a worker on the spot node", |_| {
        let pods = plane.pods("selfplay").into_iter().filter(|pod| is_ready(pod) && node_of(pod) == "spot");
        let pods: Vec<Value> = pods.collect();
        (!pods.is_empty()).then_some(pods)
    });
    agent.reclaim("spot");
    for pod in &there {
        let name = pod["metadata"]["name"].as_str().unwrap();
        let ended = plane.api().get(&format!("/api/v1/namespaces/tengen/pods/{name}")).unwrap();
        let state = &ended["status"]["containerStatuses"][0]["state"];
        assert_eq!((&ended["status"]["phase"], &state["terminated"]["exitCode"]), (&json!("Failed"), &json!(4)));
        assert!(condition(&ended, "DisruptionTarget").is_some(), "{}", ended["status"]);
    }
    let left = handed_off(run, |worker| there.iter().any(|pod| index(pod) == worker));
    assert!(!left.is_empty(), "the workers of the node have handed off their games");
    left
}

#[test]
fn run_survives_evictions_and_lost_nodes() {
    let Some(plane) = ControlPlane::start() else { return };
    let store = TestStore::on_server();
    let agent = Agent::start(&plane, &[Node::new("one"), Node::new("two"), Node::spot("spot")]);
    endless(&plane, &store).apply(&plane);
    wait_for_workers(&plane, 4);
    budgets_are_respected(&plane);
    let run = store.run("r");
    plane.wait("games", |_| (!published(&run).is_empty()).then_some(()));
    let before = published(&run);
    trainer_moves(&plane);
    let mut left = handed_off(&run, |_| true);
    lost_node_is_replaced_when_it_is_deleted(&plane, &agent);
    left.extend(reclaimed_node_hands_off(&plane, &agent, &run));
    wait_for_workers(&plane, 4);

    wait_until_published(&plane, &run, &left);
    let ignored = ["selfplay", "shuffler", "evaluator"].map(|name| assert_none_counted(&plane, name));
    assert!(ignored[0] > 0, "the policy has ignored evictions and lost nodes");
    assert_kept(&before, &run);
    assert_eq!(agent.journal().most_at_once("trainer"), 1);
    plane.run(&["-n", "tengen", "delete", "jobs,statefulsets", "--all"]);
    println!("{}", succeed(store.program("tengen").args(["audit", "r"])));
}
