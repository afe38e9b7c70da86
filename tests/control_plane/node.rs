//! Nodes: their objects, and the leases by which the control plane knows that they are alive.

use std::time::SystemTime;

use serde_json::{Value, json};

use crate::api::{Api, ApiError};

/// A node that the agent registers.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    pub(crate) name: String,
    labels: Value,
    taints: Value,
    gpus: u32,
    /// Runs a sleeping process for each container, and takes it for ready.
    pub(crate) pretends: bool,
}

impl Node {
    /// A node for processes of this build.
    pub(crate) fn new(name: &str) -> Node {
        Node { name: name.to_owned(), labels: json!({}), taints: json!([]), gpus: 0, pretends: false }
    }

    /// A node that its owner may take away at any time, as the manifests tolerate it.
    pub(crate) fn spot(name: &str) -> Node {
        let taint = json!([{"key": "tengen/spot", "value": "true", "effect": "NoSchedule"}]);
        Node { labels: json!({"tengen/spot": "true"}), taints: taint, ..Node::new(name) }
    }

    /// A node with GPUs, as far as the control plane knows, and the taint by which clusters keep other pods away.
    pub(crate) fn with_gpus(name: &str, gpus: u32) -> Node {
        let taint = json!([{"key": "nvidia.com/gpu", "value": "present", "effect": "NoSchedule"}]);
        Node { taints: taint, gpus, ..Node::new(name) }
    }

    /// A node that only pretends.
    pub(crate) fn pretending(name: &str) -> Node {
        Node { pretends: true, ..Node::new(name) }
    }

    /// Creates the node, its status and its lease.
    pub(crate) fn register(&self, api: &Api) -> Result<(), ApiError> {
        let mut labels = json!({"kubernetes.io/hostname": self.name, "kubernetes.io/os": "linux"});
        labels.as_object_mut().unwrap().extend(self.labels.as_object().unwrap().clone());
        let object = json!({"metadata": {"name": self.name, "labels": labels}, "spec": {"taints": self.taints}});
        api.create("/api/v1/nodes", &object)?;
        // So many that pods fit; so few that the scheduler spreads them.
        let (cpus, memory) = if self.pretends { ("2000", "4000Gi") } else { ("64", "256Gi") };
        let resources = json!({"cpu": cpus, "memory": memory, "pods": "1000", "nvidia.com/gpu": self.gpus.to_string()});
        let conditions: Vec<Value> = [
            ("Ready", "True"),
            ("MemoryPressure", "False"),
            ("DiskPressure", "False"),
            ("PIDPressure", "False"),
        ]
        .map(|(kind, status)| json!({"type": kind, "status": status, "reason": "Agent", "lastHeartbeatTime": now()}))
        .into();
        let status = json!({"capacity": resources, "allocatable": resources, "conditions": conditions,
            "addresses": [{"type": "InternalIP", "address": "127.0.0.1"}, {"type": "Hostname", "address": self.name}]});
        api.patch(&format!("/api/v1/nodes/{}/status", self.name), &json!({"status": status}))?;
        let spec = json!({"holderIdentity": self.name, "leaseDurationSeconds": 40, "renewTime": now()});
        api.create(LEASES, &json!({"metadata": {"name": self.name}, "spec": spec}))?;
        Ok(())
    }

    /// Says that the node is alive.
    pub(crate) fn renew(&self, api: &Api) -> Result<(), ApiError> {
        api.patch(&format!("{LEASES}/{}", self.name), &json!({"spec": {"renewTime": now()}})).map(|_| ())
    }
}

const LEASES: &str = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases";

/// The time as Kubernetes writes it.
pub(crate) fn now() -> String {
    humantime::format_rfc3339_micros(SystemTime::now()).to_string()
}

/// The time in whole seconds, for the fields that have no others.
pub(crate) fn now_in_seconds() -> String {
    humantime::format_rfc3339_seconds(SystemTime::now()).to_string()
}
