//! Every overlay is accepted by the API server, and its controllers make the pods.

use std::collections::BTreeMap;
use std::fs;

use serde_json::Value;
use tests::{copy_overlay, repository};

use crate::plane::ControlPlane;
use crate::setup::namespace;

/// How many pods of each stage are made, beside a shuffler and a trainer.
fn expected(overlay: &str) -> BTreeMap<&'static str, usize> {
    let mut pods = BTreeMap::from([("selfplay", 4), ("evaluator", 2), ("shuffler", 1), ("trainer", 1)]);
    match overlay {
        "small" => pods.extend([("selfplay", 2), ("evaluator", 1)]),
        "cpu" => pods.extend([("web", 1)]),
        "inference" => pods.extend([("inference", 2)]),
        _ => {}
    }
    pods
}

/// Applies all overlays, one after the other; a warning of the server, an unknown field or a deprecated API is a
/// failure.
pub(crate) fn are_accepted(plane: &ControlPlane) {
    namespace(plane);
    let overlays = fs::read_dir(repository().join("k8s/overlays")).unwrap();
    for overlay in overlays.map(|entry| entry.unwrap().file_name().into_string().unwrap()) {
        let folder = format!("k8s/overlays/{overlay}");
        plane.run(&["apply", "--dry-run=server", "-k", &folder]);
        plane.run(&["apply", "-k", &folder]);
        for (stage, count) in expected(&overlay) {
            plane.wait(&format!("{count} pods of {stage} in {overlay}"), |_| {
                (plane.pods(stage).len() == count).then_some(())
            });
        }
        let pods = plane.api().list("/api/v1/namespaces/tengen/pods").unwrap();
        for pod in &pods {
            assert!(mounts_no_token(pod), "{overlay}: {} has a token of the API", pod["metadata"]["name"]);
        }
        plane.run(&["-n", "tengen", "delete", "jobs,statefulsets,deployments,hpa,pdb,networkpolicies", "--all"]);
        plane.wait(&format!("the end of the pods of {overlay}"), |api| {
            api.list("/api/v1/namespaces/tengen/pods").unwrap().is_empty().then_some(())
        });
    }
    components_are_accepted(plane);
    plane.run(&["create", "namespace", "monitoring"]);
    plane.documented(&["apply", "-k", "k8s/monitoring"]);
}

/// Components of which the pages speak, added to copies of overlays that do not have them.
fn components_are_accepted(plane: &ControlPlane) {
    // First, since the Jobs of another overlay could not be changed to these.
    let small = with_components(plane, "small", &["prune", "web"]);
    plane.run(&["apply", "--dry-run=server", "-k", &small]);
    let gpu = with_components(plane, "gpu", &["prune"]);
    plane.run(&["apply", "-k", &gpu]);
    plane.run(&["-n", "tengen", "create", "job", "prune-now", "--from=cronjob/prune"]);
    let pods = plane.wait("a pod of prune", |_| Some(plane.pods("prune")).filter(|pods| pods.len() == 1));
    assert!(mounts_no_token(&pods[0]), "{}", pods[0]);
}

/// A folder with a copy of an overlay that lists more components, before its own.
fn with_components(plane: &ControlPlane, overlay: &str, components: &[&str]) -> String {
    let folder = plane.folder().join(format!("{overlay}-with-more"));
    fs::create_dir(&folder).unwrap();
    copy_overlay(overlay, components, &folder);
    folder.to_str().unwrap().to_owned()
}

fn mounts_no_token(pod: &Value) -> bool {
    pod["spec"]["volumes"].as_array().unwrap().iter().all(|volume| volume["projected"].is_null())
}

#[test]
fn overlays_are_accepted() {
    let Some(plane) = ControlPlane::given_or_started() else { return };
    are_accepted(&plane);
}
