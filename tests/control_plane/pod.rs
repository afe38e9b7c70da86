//! The life of a pod, on a thread of its own: volumes, containers, status, end.

use std::collections::BTreeMap;
use std::fs;
use std::net::Ipv4Addr;
use std::path::PathBuf;
use std::process::Command;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::Duration;

use serde_json::{Value, json};

use crate::api::{Api, ApiError};
use crate::command;
use crate::container::Container;
use crate::journal::{Entry, Journal};
use crate::node::now_in_seconds;
use crate::volumes;

/// How often processes and probes are polled.
const TICK: Duration = Duration::from_millis(100);
/// The same where processes only sleep.
const SLOW_TICK: Duration = Duration::from_secs(1);

/// What the agent tells a pod.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Order {
    /// It was deleted, and has so long.
    Delete(Duration),
    /// Its node shuts down, and leaves it so long.
    ShutDown(Duration),
    /// Its node is gone, or the pod was deleted at once: nothing may run, and nothing is said.
    Vanish,
}

/// A pod that is bound to a node of the agent.
pub(crate) struct Pod {
    api: Arc<Api>,
    journal: Arc<Journal>,
    object: Value,
    folder: PathBuf,
    ip: Ipv4Addr,
    containers: Vec<Container>,
    pretends: bool,
    since: String,
    /// Conditions by name, with the time of their last change.
    conditions: BTreeMap<&'static str, (bool, String)>,
    told: Value,
    deleted: bool,
    shut_down: bool,
}

impl Pod {
    pub(crate) fn new(api: Arc<Api>, journal: Arc<Journal>, object: Value, folder: PathBuf, pretends: bool) -> Pod {
        let [namespace, name] = ["namespace", "name"].map(|key| object["metadata"][key].as_str().unwrap());
        let ip = command::address(api.port(), namespace, name);
        let folder = folder.join(format!("{name}-{}", object["metadata"]["uid"].as_str().unwrap()));
        fs::create_dir_all(&folder).unwrap();
        let specs = object["spec"]["containers"].as_array().unwrap();
        let log = |spec: &Value| folder.join(format!("{}.log", spec["name"].as_str().unwrap()));
        let grace = Duration::from_secs(object["spec"]["terminationGracePeriodSeconds"].as_u64().unwrap());
        let containers = specs.iter().map(|spec| Container::new(spec, ip, log(spec), grace)).collect();
        let (conditions, told, since) = (BTreeMap::new(), Value::Null, now_in_seconds());
        let (deleted, shut_down) = (false, false);
        Pod { api, journal, object, folder, ip, containers, pretends, since, conditions, told, deleted, shut_down }
    }

    /// Runs the pod until it has ended and the control plane knows that.
    pub(crate) fn run(mut self, orders: &Receiver<Order>) {
        self.start_all();
        loop {
            match orders.recv_timeout(if self.pretends { SLOW_TICK } else { TICK }) {
                Ok(Order::Vanish) | Err(RecvTimeoutError::Disconnected) => break,
                Ok(Order::Delete(grace)) => {
                    self.deleted = true;
                    self.terminate(grace);
                }
                Ok(Order::ShutDown(grace)) => {
                    self.shut_down = true;
                    self.terminate(grace);
                }
                Err(RecvTimeoutError::Timeout) => {}
            }
            let restarts = self.object["spec"]["restartPolicy"] == "Always" && !self.deleted && !self.shut_down;
            self.containers.iter_mut().for_each(|container| container.poll(restarts, &self.journal));
            self.start_due();
            let over = self.containers.iter().all(Container::is_over);
            if self.publish(over) && over {
                return self.remove();
            }
        }
        self.containers.iter_mut().for_each(|container| container.kill(&self.journal));
    }

    fn start_all(&mut self) {
        self.publish(false);
        for index in 0..self.containers.len() {
            self.start(index);
        }
    }

    fn start_due(&mut self) {
        for index in 0..self.containers.len() {
            if self.containers[index].is_due() {
                self.start(index);
            }
        }
    }

    fn start(&mut self, index: usize) {
        let command = match self.command(index) {
            Ok(command) => command,
            // As a kubelet would: the ConfigMap or the Secret may still come.
            Err(error) => return self.containers[index].wait(&error.to_string()),
        };
        let stage = self.object["metadata"]["labels"]["app.kubernetes.io/name"].as_str().unwrap_or_default();
        let entry = Entry::new(stage);
        self.containers[index].start(command, !self.pretends, &self.journal, &entry);
    }

    fn command(&self, index: usize) -> Result<Command, ApiError> {
        if self.pretends {
            let mut command = command::bound("sleep");
            command.arg("1000000");
            return Ok(command);
        }
        let spec = self.containers[index].spec();
        let mounts = volumes::mounts(&self.api, &self.object, spec, &self.folder)?;
        command::command(&self.api, &self.object, spec, &mounts, &self.folder)
    }

    fn terminate(&mut self, grace: Duration) {
        self.containers.iter_mut().for_each(|container| container.terminate(grace));
    }

    /// Writes the status, if it has changed; whether the control plane knows it then.
    fn publish(&mut self, over: bool) -> bool {
        let status = self.status(over);
        if status == self.told {
            return true;
        }
        let change = json!({"metadata": {"uid": self.object["metadata"]["uid"]}, "status": status});
        match self.api.patch(&format!("{}/status", path(&self.object)), &change) {
            Ok(_) => {}
            // Deleted at once, or replaced by another of its name.
            Err(error) if [404, 409].contains(&error.status) => {}
            Err(error) => {
                println!("agent: {error}");
                return false;
            }
        }
        self.told = status;
        true
    }

    fn status(&mut self, over: bool) -> Value {
        let failed = self.shut_down || self.containers.iter().any(|container| container.exit_code() != Some(0));
        let phase = match (over, failed, self.containers.iter().any(Container::has_run)) {
            (true, true, _) => "Failed",
            (true, false, _) => "Succeeded",
            (false, _, true) => "Running",
            (false, _, false) => "Pending",
        };
        let pretends = self.pretends;
        let ready = !over && self.containers.iter().all(|container| container.is_ready() || pretends);
        self.set_condition("Initialized", true);
        self.set_condition("ContainersReady", ready);
        self.set_condition("Ready", ready);
        if over && self.shut_down {
            self.set_condition("DisruptionTarget", true);
        }
        let conditions = self.conditions.iter().map(|(kind, (value, since))| {
            let (status, reason) =
                (if *value { "True" } else { "False" }, if self.shut_down { "TerminationByKubelet" } else { "Agent" });
            json!({"type": kind, "status": status, "reason": reason, "lastTransitionTime": since})
        });
        let statuses = self.containers.iter().map(Container::status);
        let ip = command::reported(self.ip).to_string();
        json!({"phase": phase, "conditions": conditions.collect::<Vec<_>>(), "podIP": ip, "podIPs": [{"ip": ip}],
            "containerStatuses": statuses.collect::<Vec<_>>(), "hostIP": "127.0.0.1", "startTime": self.since})
    }

    fn set_condition(&mut self, kind: &'static str, value: bool) {
        if self.conditions.get(kind).is_none_or(|(before, _)| *before != value) {
            self.conditions.insert(kind, (value, now_in_seconds()));
        }
    }

    /// Lets the control plane forget a pod that was deleted and has ended.
    fn remove(&self) {
        if self.deleted {
            forget(&self.api, &self.object);
        }
    }
}

/// Deletes a pod that has ended, unless it is gone.
pub(crate) fn forget(api: &Api, pod: &Value) {
    match api.delete(&path(pod), pod["metadata"]["uid"].as_str().unwrap()) {
        Err(error) if ![404, 409].contains(&error.status) => println!("agent: {error}"),
        _ => {}
    }
}

fn path(pod: &Value) -> String {
    let [namespace, name] = ["namespace", "name"].map(|key| pod["metadata"][key].as_str().unwrap());
    format!("/api/v1/namespaces/{namespace}/pods/{name}")
}
