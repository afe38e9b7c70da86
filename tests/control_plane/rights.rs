//! What pods may do: nothing with the API, and nothing that their namespace forbids.

use serde_json::{Value, json};

use crate::plane::ControlPlane;

/// Rights of the pods' service account, and the policies of the network; the overlays were applied before.
pub(crate) fn are_few(plane: &ControlPlane) {
    for (group, resource) in [
        ("", "pods"),
        ("", "secrets"),
        ("", "configmaps"),
        ("", "serviceaccounts"),
        ("apps", "statefulsets"),
        ("batch", "jobs"),
        ("coordination.k8s.io", "leases"),
    ] {
        for verb in ["get", "list", "watch", "create", "update", "patch", "delete"] {
            let what = json!({"group": group, "resource": resource, "verb": verb, "namespace": "tengen"});
            let spec = json!({"user": "system:serviceaccount:tengen:tengen", "resourceAttributes": what,
                "groups": ["system:serviceaccounts", "system:serviceaccounts:tengen", "system:authenticated"]});
            let review =
                plane.api().create("/apis/authorization.k8s.io/v1/subjectaccessreviews", &json!({"spec": spec}));
            assert_eq!(review.unwrap_or_else(|error| panic!("{error}"))["status"]["allowed"], false, "{what}");
        }
    }
    let spec = json!({"containers": [{"name": "x", "image": "x", "securityContext": {"privileged": true}}]});
    let pod = json!({"metadata": {"name": "privileged"}, "spec": spec});
    let refused = plane.api().create("/api/v1/namespaces/tengen/pods", &pod).expect_err("the standard is restricted");
    assert!(refused.status == 403 && refused.to_string().contains("violates PodSecurity"), "{refused}");
}

/// The server has the policies as the page describes them: metrics for the namespace of Prometheus, servers for their clients.
fn policies_are_those_of_the_page(plane: &ControlPlane) {
    plane.run(&["apply", "-k", "k8s/overlays/inference"]);
    let found = plane.api().list("/apis/networking.k8s.io/v1/namespaces/tengen/networkpolicies").unwrap();
    let ingress = |name: &str| -> Value {
        let policy = found.iter().find(|policy| policy["metadata"]["name"] == name).unwrap();
        assert_eq!(policy["spec"]["policyTypes"], json!(["Ingress"]));
        policy["spec"]["ingress"].clone()
    };
    let monitoring = json!({"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "monitoring"}}});
    assert_eq!(ingress("tengen"), json!([{"from": [monitoring], "ports": [{"port": 9464, "protocol": "TCP"}]}]));
    let clients = json!({"podSelector": {"matchLabels": {"inference-client": "true"}}});
    assert_eq!(ingress("inference"), json!([{"from": [clients], "ports": [{"port": 9470, "protocol": "TCP"}]}]));
    // Which pods they concern, by the selectors of the server.
    for (selector, stages) in [
        ("app.kubernetes.io/part-of=tengen", vec!["evaluator", "inference", "selfplay", "shuffler", "trainer"]),
        ("inference-client=true", vec!["evaluator", "selfplay"]),
    ] {
        plane.wait(&format!("pods of {selector}"), |_| {
            let names = plane.run(&["-n", "tengen", "get", "pods", "-l", selector, "-o", "name"]);
            let mut names: Vec<&str> = names.lines().filter_map(|name| name.split(['/', '-']).nth(1)).collect();
            names.dedup();
            (names == stages).then_some(())
        });
    }
}

#[test]
fn pods_have_no_rights_and_policies_are_accepted() {
    let Some(plane) = ControlPlane::given_or_started() else { return };
    plane.run(&["apply", "-f", "k8s/base/namespace.yaml"]);
    policies_are_those_of_the_page(&plane);
    are_few(&plane);
}
