//! Whole runs: the pods of an overlay train `tiny`.

use tests::{TestStore, ask, succeed};

use crate::agent::Agent;
use crate::command::local;
use crate::node::Node;
use crate::plane::ControlPlane;
use crate::services::lists_ready_pods;
use crate::setup::{Overlay, assert_not_failed, condition, is_ready, job, namespace, volume};

/// Waits until the run has all its models: the Jobs of self-play and shuffler complete, and the trainer waits.
pub(crate) fn completes(plane: &ControlPlane) {
    for name in ["selfplay", "shuffler"] {
        plane.wait(&format!("the Job {name}"), |api| {
            assert_not_failed(api, name);
            condition(&job(api, name), "Complete")
        });
    }
}

/// Every pod that is ready serves its metrics at its own address.
pub(crate) fn serve_metrics(plane: &ControlPlane, stages: &[&str]) {
    for stage in stages {
        plane.wait(&format!("metrics of {stage}"), |_| {
            let ready = plane.pods(stage).into_iter().filter(is_ready);
            // A pod that has ended since has nothing to serve.
            let pages: Vec<_> = ready.filter_map(|pod| ask(&local(&pod, 9464)?, "/metrics")).collect();
            for (code, page) in &pages {
                assert!(*code == 200 && page.contains("tengen_"), "{stage}: {page}");
            }
            (!pages.is_empty()).then_some(())
        });
    }
}

/// The run has this model, and every object in its store is whole.
pub(crate) fn is_sound(store: &TestStore, run: &str, model: u32) {
    assert_eq!(store.run(run).models().newest().unwrap(), Some(model));
    println!("{}", succeed(store.program("tengen").args(["audit", run])));
}

/// The overlay `small`, with a folder as its store.
pub(crate) fn small_trains(plane: &ControlPlane, models: u32) {
    let store = TestStore::new();
    let agent = Agent::start(plane, &[Node::new("only")]);
    namespace(plane);
    volume(plane, &store);
    Overlay::tiny("small", models).apply(plane);
    serve_metrics(plane, &["selfplay", "shuffler", "trainer", "evaluator"]);
    completes(plane);
    is_sound(&store, "tiny", models);
    assert_eq!(agent.journal().most_at_once("trainer"), 1);
}

/// The overlay `cpu`, with a store on an S3 server and its key in a Secret.
fn cpu_trains(plane: &ControlPlane, models: u32) {
    let store = TestStore::on_server();
    let agent = Agent::start(plane, &[Node::new("one"), Node::new("two")]);
    Overlay::tiny("cpu", models).with_store(plane, &store).apply(plane);
    serve_metrics(plane, &["selfplay", "shuffler", "trainer", "evaluator", "web"]);
    lists_ready_pods(plane, "trainer", 9464);
    lists_ready_pods(plane, "web", 8080);
    completes(plane);
    is_sound(&store, "r", models);
    for stage in ["selfplay", "shuffler"] {
        assert_eq!(agent.journal().exits(stage).into_keys().collect::<Vec<_>>(), [0], "{stage}");
    }
    assert_eq!(agent.journal().most_at_once("trainer"), 1);
    // The page: the trainer waits until it is scaled to 0.
    plane.run(&["-n", "tengen", "scale", "statefulset", "trainer", "--replicas=0"]);
    plane.wait("the end of the trainer", |_| plane.pods("trainer").is_empty().then_some(()));
    assert_eq!(agent.journal().exits("trainer").into_keys().collect::<Vec<_>>(), [4], "stopped by SIGTERM");
}

#[test]
fn overlay_small_trains_to_model_5() {
    let Some(plane) = ControlPlane::start() else { return };
    small_trains(&plane, 5);
}

#[test]
fn overlay_cpu_trains_to_model_5() {
    let Some(plane) = ControlPlane::start() else { return };
    cpu_trains(&plane, 5);
}

/// The short form of all this, for CI.
#[test]
fn short_form() {
    let Some(plane) = ControlPlane::start() else { return };
    small_trains(&plane, 2);
}
