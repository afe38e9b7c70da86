//! Overlays as an operator applies them: from a folder of one's own that takes one of `k8s/overlays` and changes what
//! the page on Kubernetes names, with Secrets made by its commands.

use std::collections::BTreeMap;
use std::fs;

use serde_json::{Value, json};
use tests::{TestStore, path_from};

use crate::api::Api;
use crate::plane::ControlPlane;

/// A kustomization on top of an overlay, in a folder of the control plane.
pub(crate) struct Overlay {
    base: String,
    patches: Vec<String>,
    variables: BTreeMap<String, String>,
    rest: String,
}

impl Overlay {
    /// One of `k8s/overlays`.
    pub(crate) fn new(name: &str) -> Overlay {
        Overlay {
            base: format!("k8s/overlays/{name}"),
            patches: Vec::new(),
            variables: BTreeMap::new(),
            rest: String::new(),
        }
    }

    /// One that trains `tiny` to this model, with a thread per process.
    pub(crate) fn tiny(name: &str, models: u32) -> Overlay {
        let args = json!(["--config=/etc/tengen/tiny.toml", format!("--set=loop.models={models}")]);
        let overlay =
            Overlay::new(name).set("Job", "selfplay", "args", &args).set("StatefulSet", "trainer", "args", &args);
        // Those have as many threads as they request CPUs, whatever the variable of all pods.
        let overlay = overlay.set("Job", "selfplay|evaluator", "resources/requests/cpu", &json!("1"));
        let overlay = overlay.set("StatefulSet", "trainer", "resources/requests/cpu", &json!("1"));
        overlay.variable("TENGEN_THREADS", "1").variable("TENGEN_CACHE_MIB", "1")
    }

    /// Replaces a field of the container of an object.
    pub(crate) fn set(self, kind: &str, name: &str, field: &str, value: &Value) -> Overlay {
        self.patch(
            kind,
            name,
            &json!([{"op": "replace", "path": format!("/spec/template/spec/containers/0/{field}"), "value": value}]),
        )
    }

    /// Changes objects by a JSON patch.
    pub(crate) fn patch(mut self, kind: &str, name: &str, operations: &Value) -> Overlay {
        let target = json!({"kind": kind, "name": name});
        self.patches.push(json!({"target": target, "patch": operations.to_string()}).to_string());
        self
    }

    /// Sets a variable of all pods.
    pub(crate) fn variable(mut self, name: &str, value: &str) -> Overlay {
        self.variables.insert(name.to_owned(), value.to_owned());
        self
    }

    /// Lines of the kustomization besides.
    pub(crate) fn lines(mut self, lines: &str) -> Overlay {
        self.rest += lines;
        self
    }

    /// Uses a store on the tests' S3 server, with a run `r`, and makes the Secrets of its keys.
    pub(crate) fn with_store(self, plane: &ControlPlane, store: &TestStore) -> Overlay {
        namespace(plane);
        for secret in ["tengen-store", "tengen-store-read"] {
            let pairs = store.server().unwrap().env().into_iter();
            let pairs: Vec<String> = pairs.map(|(name, value)| format!("--from-literal={name}={value}")).collect();
            let mut command = plane.kubectl(&["-n", "tengen", "create", "secret", "generic", secret]);
            tests::succeed(command.args(pairs));
        }
        self.variable("TENGEN_STORE", &store.place()).variable("TENGEN_RUN", "r").variable("TENGEN_MODEL", "r")
    }

    /// `kubectl apply -k`.
    pub(crate) fn apply(&self, plane: &ControlPlane) {
        let folder = plane.folder().join("overlay");
        fs::create_dir_all(&folder).unwrap();
        let base = path_from(&folder, &self.base);
        let literals: Vec<String> = self.variables.iter().map(|(name, value)| format!("{name}={value}")).collect();
        let place = json!([{"name": "tengen-place", "namespace": "tengen", "behavior": "merge", "literals": literals,
            "options": {"disableNameSuffixHash": true}}]);
        let text = format!(
            "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources: [{base}]\npatches: [{}]\n\
             configMapGenerator: {place}\n{}",
            self.patches.join(", "),
            self.rest
        );
        fs::write(folder.join("kustomization.yaml"), text).unwrap();
        plane.run(&["apply", "-k", folder.to_str().unwrap()]);
    }
}

/// The namespace, as the page has it.
pub(crate) fn namespace(plane: &ControlPlane) {
    plane.documented(&["apply", "-f", "k8s/base/namespace.yaml"]);
}

/// A volume for the claim of the overlay `small`: a folder, which kind and k3s would make themselves.
pub(crate) fn volume(plane: &ControlPlane, store: &TestStore) {
    let spec =
        json!({"capacity": {"storage": "5Gi"}, "accessModes": ["ReadWriteOnce"], "hostPath": {"path": store.path()}});
    let volume = json!({"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": "store"}, "spec": spec});
    plane.api().create("/api/v1/persistentvolumes", &volume).unwrap_or_else(|error| panic!("{error}"));
}

/// A Job of the namespace.
pub(crate) fn job(api: &Api, name: &str) -> Value {
    api.get(&format!("/apis/batch/v1/namespaces/tengen/jobs/{name}")).unwrap_or_else(|error| panic!("{error}"))
}

/// The condition of an object that is true and has this type.
pub(crate) fn condition(object: &Value, kind: &str) -> Option<Value> {
    let conditions = object["status"]["conditions"].as_array()?;
    conditions.iter().find(|condition| condition["type"] == kind && condition["status"] == "True").cloned()
}

/// The indices of a Job that have failed, as Kubernetes lists them: `1,3-5`.
pub(crate) fn failed_indices(job: &Value) -> &str {
    job["status"]["failedIndexes"].as_str().unwrap_or_default()
}

/// Whether a pod is ready, and is not being deleted.
pub(crate) fn is_ready(pod: &Value) -> bool {
    condition(pod, "Ready").is_some() && pod["metadata"]["deletionTimestamp"].is_null()
}

/// Fails if a Job or one of its indices has failed, with its status.
pub(crate) fn assert_not_failed(api: &Api, name: &str) {
    let job = job(api, name);
    assert!(condition(&job, "Failed").is_none() && failed_indices(&job).is_empty(), "{name}: {}", job["status"]);
}

/// Fails if a Job or one of its indices has failed, or if one of its pods has failed in a way that counts. How many
/// failures its policy has ignored, of the indices that have pods.
pub(crate) fn assert_none_counted(plane: &ControlPlane, name: &str) -> u64 {
    assert_not_failed(plane.api(), name);
    let status = &job(plane.api(), name)["status"];
    assert!(status["failed"].is_null(), "{name}: {status}");
    let pods = plane.pods(name);
    let count = |pod: &Value, key: &str| {
        let text = pod["metadata"]["annotations"][format!("batch.kubernetes.io/{key}-count")].as_str();
        text.map(|text| text.parse::<u64>().unwrap())
    };
    for pod in &pods {
        assert_eq!(count(pod, "job-index-failure"), Some(0), "{}", pod["metadata"]);
    }
    pods.iter().filter_map(|pod| count(pod, "job-index-ignored-failure")).sum()
}
