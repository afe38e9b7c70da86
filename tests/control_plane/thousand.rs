//! A thousand workers that only sleep, on nodes that pretend: how long the control plane takes, and how many requests.

use std::time::Instant;

use crate::agent::Agent;
use crate::node::Node;
use crate::plane::ControlPlane;
use crate::scaling::scale;

const NODES: usize = 10;

/// Requests that the API server has served so far, of the agent and of all others. What this test alone causes is left
/// out: it waits by reading the Job, and nodes renew their leases more often than kubelets do.
fn requests(plane: &ControlPlane) -> f64 {
    let page = plane.api().text("/metrics").unwrap_or_else(|error| panic!("{error}"));
    let counts = page.lines().filter(|line| line.starts_with("apiserver_request_total{"));
    let is_own = |line: &&str| {
        let has = |label: &str| line.contains(label);
        has("resource=\"leases\"") || has("resource=\"jobs\"") && has("verb=\"GET\"")
    };
    counts.filter(|line| !is_own(line)).map(|line| line.rsplit(' ').next().unwrap().parse::<f64>().unwrap()).sum()
}

/// Scales, and waits until so many pods run; prints what that took.
fn scale_to(plane: &ControlPlane, count: usize) {
    let (began, before) = (Instant::now(), requests(plane));
    scale(plane, count);
    plane.wait(&format!("{count} workers"), |api| {
        let job = api.get("/apis/batch/v1/namespaces/tengen/jobs/selfplay").unwrap();
        let (status, terminating) = (&job["status"], job["status"]["terminating"].as_u64().unwrap_or_default());
        (status["ready"] == count && status["active"] == count && terminating == 0).then_some(())
    });
    let (seconds, requests) = (began.elapsed().as_secs_f64(), requests(plane) - before);
    println!("{count} workers after {seconds:.1} s and {requests} requests");
}

#[test]
fn thousand_workers_are_started_and_stopped() {
    let Some(plane) = ControlPlane::start() else { return };
    let nodes: Vec<Node> = (0..NODES).map(|number| Node::pretending(&format!("node-{number}"))).collect();
    let _agent = Agent::start(&plane, &nodes);
    plane.run(&["apply", "-f", "k8s/base/namespace.yaml"]);
    plane.run(&["apply", "-k", "k8s/overlays/cpu"]);
    scale_to(&plane, 4);
    scale_to(&plane, 1000);
    let (began, before) = (Instant::now(), requests(&plane));
    // A minute in which nothing happens: what leases and controllers cost.
    plane.wait("a minute", |_| (began.elapsed().as_secs() >= 60).then_some(()));
    println!("idle: {} requests a minute", requests(&plane) - before);
    scale_to(&plane, 2);
}
