//! What pods may do: nothing with the API, and nothing that their namespace forbids.

use serde_json::json;

use crate::plane::ControlPlane;

/// Rights of the pods' service account, and the policies of the network; the overlays were applied before.
pub(crate) fn are_few(plane: &ControlPlane) {
    for (group, resource, subresource) in [
        ("*", "*", ""),
        ("", "pods", ""),
        ("", "pods", "exec"),
        ("", "pods", "log"),
        ("", "secrets", ""),
        ("", "configmaps", ""),
        ("", "serviceaccounts", ""),
        ("", "serviceaccounts", "token"),
        ("", "nodes", ""),
        ("", "namespaces", ""),
        ("apps", "statefulsets", ""),
        ("batch", "jobs", ""),
        ("coordination.k8s.io", "leases", ""),
    ] {
        let verbs = ["*", "get", "list", "watch", "create", "update", "patch", "delete"];
        // Without a namespace: in all of them, and objects that have none.
        for (verb, namespace) in verbs.iter().flat_map(|verb| [(verb, "tengen"), (verb, "")]) {
            let what = json!({"group": group, "resource": resource, "subresource": subresource, "verb": verb,
                "namespace": namespace});
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

/// The server has the policies as the page describes them: metrics for the namespace of Prometheus, servers for their
/// clients.
fn policies_are_those_of_the_page(plane: &ControlPlane) {
    // The web application and its policy stay. The Jobs of the other overlay differ.
    plane.run(&["apply", "-k", "k8s/overlays/cpu"]);
    plane.run(&["-n", "tengen", "delete", "jobs,statefulsets", "--all"]);
    plane.run(&["apply", "-k", "k8s/overlays/inference"]);
    let found = plane.api().list("/apis/networking.k8s.io/v1/namespaces/tengen/networkpolicies").unwrap();
    let namespace = |name: &str| json!({"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": name}}});
    let clients = json!({"podSelector": {"matchLabels": {"inference-client": "true"}}});
    let policies = [
        ("tengen", "app.kubernetes.io/part-of=tengen", namespace("monitoring"), 9464),
        ("inference", "app.kubernetes.io/name=inference", clients, 9470),
        ("web", "app.kubernetes.io/name=web", namespace("ingress"), 8080),
    ];
    for (name, selector, from, port) in policies {
        let spec = &found.iter().find(|policy| policy["metadata"]["name"] == name).unwrap()["spec"];
        let (key, value) = selector.split_once('=').unwrap();
        assert_eq!(spec["podSelector"], json!({"matchLabels": {key: value}}), "{name}");
        assert_eq!(spec["policyTypes"], json!(["Ingress"]), "{name}");
        let ingress = json!([{"from": [from], "ports": [{"port": port, "protocol": "TCP"}]}]);
        assert_eq!(spec["ingress"], ingress, "{name}");
    }
    // Which pods they concern, by the selectors of the server.
    let all = vec!["evaluator", "inference", "selfplay", "shuffler", "trainer", "web"];
    for (selector, stages) in [
        ("app.kubernetes.io/part-of=tengen", all),
        ("app.kubernetes.io/name=web", vec!["web"]),
        ("app.kubernetes.io/name=inference", vec!["inference"]),
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
