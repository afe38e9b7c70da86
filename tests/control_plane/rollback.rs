//! A newer image, and an older model, by the steps of the page on Kubernetes.

use serde_json::{Value, json};
use tests::{TestStore, program, resumed, succeed};

use crate::agent::Agent;
use crate::games::{assert_kept, handed_off, published};
use crate::node::Node;
use crate::plane::ControlPlane;
use crate::scaling::{endless, wait_for_workers};
use crate::setup::{Overlay, is_ready};
use crate::training::is_sound;

/// The images of the pods of a stage that are ready.
fn images(plane: &ControlPlane, stage: &str) -> Vec<Value> {
    let pods = plane.pods(stage).into_iter().filter(is_ready);
    pods.map(|pod| pod["spec"]["containers"][0]["image"].clone()).collect()
}

/// Deletes the Jobs, whose pods are immutable, applies an overlay, and restarts the trainer, which other variables do
/// not do.
fn replace_all(plane: &ControlPlane, overlay: &Overlay) {
    plane.documented(&["-n", "tengen", "delete", "job", "--all"]);
    overlay.apply(plane);
    plane.documented(&["-n", "tengen", "rollout", "restart", "statefulset", "trainer"]);
    plane.wait("the new trainer", |api| {
        let set = api.get("/apis/apps/v1/namespaces/tengen/statefulsets/trainer").unwrap();
        let status = &set["status"];
        (status["readyReplicas"] == 1
            && status["updatedReplicas"] == 1
            && status["observedGeneration"] == set["metadata"]["generation"])
            .then_some(())
    });
}

#[test]
fn images_are_upgraded_without_losing_a_game() {
    let Some(plane) = ControlPlane::start() else { return };
    let store = TestStore::on_server();
    let agent = Agent::start(&plane, &[Node::new("one"), Node::new("two")]);
    let policy = |policy: &str| json!([{"op": "replace", "path": "/spec/podManagementPolicy", "value": policy}]);
    // As version 0.2.0 had it.
    let overlay = endless(&plane, &store).patch("StatefulSet", "trainer", &policy("OrderedReady"));
    overlay.apply(&plane);
    wait_for_workers(&plane, 4);
    let run = store.run("r");
    plane.wait("games", |_| (!published(&run).is_empty()).then_some(()));
    let before = published(&run);
    assert_eq!(resumed(&run), 0, "no worker was stopped so far");
    plane.documented(&["-n", "tengen", "delete", "statefulset", "trainer", "--cascade=orphan"]);
    let newer = overlay.patch("StatefulSet", "trainer", &policy("Parallel")).lines(
        "images: [{name: registry.example/tengen, newTag: 0.3.0-cpu}, {name: registry.example/tengen-cpu, newTag: 0.3.0}]\n",
    );
    replace_all(&plane, &newer);
    wait_for_workers(&plane, 4);
    assert_eq!(images(&plane, "selfplay"), vec![json!("registry.example/tengen-cpu:0.3.0"); 4]);
    assert_eq!(images(&plane, "trainer"), [json!("registry.example/tengen:0.3.0-cpu")]);
    // They may hand off their games while the new ones play.
    plane.wait("the end of the old workers", |_| {
        (agent.journal().exits("selfplay").values().sum::<usize>() >= 4).then_some(())
    });
    assert_eq!(agent.journal().exits("selfplay"), [(4, 4)].into());
    plane.wait("the end of handed-off games", |_| {
        (handed_off(&run, |_| true).is_empty() && resumed(&run) > 0).then_some(())
    });
    assert_kept(&before, &run);
    assert_eq!(agent.journal().most_at_once("trainer"), 1);
    plane.run(&["-n", "tengen", "delete", "jobs,statefulsets", "--all"]);
    println!("{}", succeed(store.program("tengen").args(["audit", "r"])));
}

#[test]
fn run_is_rolled_back_to_an_older_model() {
    let Some(plane) = ControlPlane::start() else { return };
    let store = TestStore::on_server();
    let _agent = Agent::start(&plane, &[Node::new("one"), Node::new("two")]);
    let overlay = Overlay::tiny("cpu", 3).with_store(&plane, &store);
    overlay.apply(&plane);
    plane.wait("model 3", |_| (store.run("r").models().newest().unwrap() == Some(3)).then_some(()));
    let mut bootstrap = program("trainer");
    bootstrap.env("TENGEN_STORE", store.place()).envs(store.server().unwrap().env());
    bootstrap.current_dir(tests::repository()).args(["bootstrap", "--run", "back", "--config", "configs/tiny.toml"]);
    succeed(bootstrap.args(["--set=loop.models=3", "--from", "r-1"]));
    let [old, new] = ["r", "back"].map(|run| store.run(run).models().get(1).unwrap());
    assert_eq!((new.0.origin[0].name.as_str(), &new.1), ("r-1", &old.1), "model 1 has the weights of the older model");
    replace_all(&plane, &overlay.variable("TENGEN_RUN", "back").variable("TENGEN_MODEL", "back"));
    plane.wait("model 3 of the other run", |_| (store.run("back").models().newest().unwrap() == Some(3)).then_some(()));
    is_sound(&store, "back", 3);
    is_sound(&store, "r", 3);
}
