//! A node agent for tests: it registers nodes and runs the containers of their pods as processes of this build.
//!
//! The agent watches all pods. Each that is bound to a node of its own gets a thread ([`Pod`]), which starts the
//! processes and reports their states; the agent passes on what happens to the pod and to its node. It has the rights
//! of an administrator. What a kubelet does besides is missing: limits of memory and CPUs, users, read-only root
//! folders, init containers, network policies, virtual addresses of services, and logs over the API.

use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use serde_json::{Value, json};
use testing::poll;

use crate::api::Api;
use crate::journal::Journal;
use crate::node::Node;
use crate::plane::ControlPlane;
use crate::pod::{Order, Pod, forget};

/// How often nodes say that they are alive.
const HEARTBEAT: Duration = Duration::from_secs(2);
/// How long a spot node that is reclaimed lives on.
const NOTICE: Duration = Duration::from_secs(25);

/// All pods.
const PODS: &str = "/api/v1/pods";

/// The agent. All processes are killed when it is dropped.
pub(crate) struct Agent {
    shared: Arc<Shared>,
    heartbeat: Option<(Sender<()>, JoinHandle<()>)>,
}

struct Shared {
    api: Arc<Api>,
    journal: Arc<Journal>,
    folder: PathBuf,
    nodes: Mutex<BTreeMap<String, Node>>,
    pods: Mutex<BTreeMap<String, Handle>>,
    stopping: AtomicBool,
}

/// A pod that the agent has started.
struct Handle {
    node: String,
    orders: Sender<Order>,
    thread: JoinHandle<()>,
    told: bool,
}

impl Agent {
    /// Registers these nodes and runs what is bound to them.
    pub(crate) fn start(plane: &ControlPlane, nodes: &[Node]) -> Agent {
        let shared = Arc::new(Shared {
            api: plane.api().clone(),
            journal: Arc::default(),
            folder: plane.folder().join("pods"),
            nodes: Mutex::default(),
            pods: Mutex::default(),
            stopping: AtomicBool::new(false),
        });
        let (stop, stopped) = channel();
        let heartbeat = spawn({
            let shared = shared.clone();
            move || shared.renew(&stopped)
        });
        let agent = Agent { shared: shared.clone(), heartbeat: Some((stop, heartbeat)) };
        nodes.iter().for_each(|node| agent.add(node));
        // Ends with the control plane.
        spawn(move || shared.watch());
        agent
    }

    /// Registers another node.
    pub(crate) fn add(&self, node: &Node) {
        lock(&self.shared.nodes).insert(node.name.clone(), node.clone());
        node.register(&self.shared.api).unwrap_or_else(|error| panic!("{error}"));
    }

    /// What ran.
    pub(crate) fn journal(&self) -> &Journal {
        &self.shared.journal
    }

    /// The log of a container of the newest pod of this name.
    pub(crate) fn log(&self, pod: &str, container: &str) -> String {
        let folders = std::fs::read_dir(&self.shared.folder).into_iter().flatten().flatten();
        let of_pod = |path: &PathBuf| path.file_name().unwrap().to_string_lossy().starts_with(pod);
        let logs = folders.map(|entry| entry.path()).filter(of_pod).map(|path| path.join(format!("{container}.log")));
        let newest = logs.max_by_key(|path| path.metadata().and_then(|data| data.modified()).ok());
        newest.and_then(|path| std::fs::read_to_string(path).ok()).unwrap_or_default()
    }

    /// A node vanishes: its processes die, and nothing says so. Its object stays, as long as its cloud takes it for
    /// alive.
    pub(crate) fn lose(&self, node: &str) {
        lock(&self.shared.nodes).remove(node);
        self.shared.tell(node, Order::Vanish);
    }

    /// A cloud takes a spot node back: a taint and a notice, after which node and object are gone.
    pub(crate) fn reclaim(&self, node: &str) {
        let path = format!("/api/v1/nodes/{node}");
        let found = self.shared.api.get(&path).unwrap_or_else(|error| panic!("{error}"));
        let mut taints = found["spec"]["taints"].as_array().cloned().unwrap_or_default();
        taints.push(json!({"key": "cloud.google.com/impending-node-termination", "effect": "NoSchedule"}));
        self.shared.api.patch(&path, &json!({"spec": {"taints": taints}})).unwrap_or_else(|error| panic!("{error}"));
        self.shared.tell(node, Order::ShutDown(NOTICE));
        poll(NOTICE, || (!self.shared.runs_on(node)).then_some(()));
        self.lose(node);
        self.shared
            .api
            .delete(&path, found["metadata"]["uid"].as_str().unwrap())
            .unwrap_or_else(|error| panic!("{error}"));
    }
}

impl Drop for Agent {
    fn drop(&mut self) {
        self.shared.stopping.store(true, Ordering::Relaxed);
        if let Some((stop, thread)) = self.heartbeat.take() {
            drop(stop);
            let _panicked = thread.join();
        }
        let pods = std::mem::take(&mut *lock(&self.shared.pods));
        for pod in pods.values() {
            // A pod that has ended has no use for an order.
            let _ended = pod.orders.send(Order::Vanish);
        }
        for pod in pods.into_values() {
            let _panicked = pod.thread.join();
        }
    }
}

impl Shared {
    fn renew(&self, stopped: &Receiver<()>) {
        while stopped.recv_timeout(HEARTBEAT) == Err(RecvTimeoutError::Timeout) {
            let nodes: Vec<Node> = lock(&self.nodes).values().cloned().collect();
            for error in nodes.iter().filter_map(|node| node.renew(&self.api).err()) {
                println!("agent: {error}");
            }
        }
    }

    fn watch(self: &Arc<Shared>) {
        while !self.stopping.load(Ordering::Relaxed) {
            if let (Err(error), false) = (self.list_and_watch(), self.stopping.load(Ordering::Relaxed)) {
                println!("agent: {error}");
                thread::sleep(Duration::from_secs(1));
            }
        }
    }

    /// Sees all pods, and their changes from then on. Those that are not listed were deleted during a pause.
    fn list_and_watch(self: &Arc<Shared>) -> Result<(), Box<dyn Error>> {
        let mut list = self.api.get(PODS)?;
        let pods = list["items"].take();
        let there: BTreeSet<&str> =
            pods.as_array().into_iter().flatten().filter_map(|pod| pod["metadata"]["uid"].as_str()).collect();
        lock(&self.pods).retain(|uid, handle| {
            let is_there = there.contains(uid.as_str());
            if !is_there {
                let _ended = handle.orders.send(Order::Vanish);
            }
            is_there
        });
        pods.as_array().into_iter().flatten().for_each(|pod| self.see("ADDED", pod.clone()));
        let version = list["metadata"]["resourceVersion"].as_str().unwrap();
        Ok(self.api.watch(PODS, version, |kind, pod| self.see(kind, pod))?)
    }

    /// A pod was bound, changed or deleted.
    fn see(self: &Arc<Shared>, kind: &str, pod: Value) {
        let (Some(node), Some(uid)) = (pod["spec"]["nodeName"].as_str(), pod["metadata"]["uid"].as_str()) else {
            return;
        };
        let mut pods = lock(&self.pods);
        let Some(node) = lock(&self.nodes).get(node).cloned() else { return };
        if self.stopping.load(Ordering::Relaxed) {
            return;
        }
        let grace = pod["metadata"]["deletionGracePeriodSeconds"].as_u64();
        let ended = ["Succeeded", "Failed"].contains(&pod["status"]["phase"].as_str().unwrap_or_default());
        match (pods.get_mut(uid), grace) {
            (Some(handle), _) if kind == "DELETED" => {
                let _ended = handle.orders.send(Order::Vanish);
                pods.remove(uid);
            }
            (Some(handle), Some(grace)) if !handle.told => {
                handle.told = true;
                // Its thread may have ended in between, and known of no deletion.
                if handle.orders.send(Order::Delete(Duration::from_secs(grace))).is_err() || handle.thread.is_finished()
                {
                    forget(&self.api, &pod);
                }
            }
            (None, Some(_)) if kind != "DELETED" => forget(&self.api, &pod),
            (None, None) if kind != "DELETED" && !ended => {
                let (orders, received) = channel();
                let uid = uid.to_owned();
                let started = Pod::new(self.api.clone(), self.journal.clone(), pod, self.folder.clone(), node.pretends);
                let thread = spawn(move || started.run(&received));
                pods.insert(uid, Handle { node: node.name, orders, thread, told: false });
            }
            _ => {}
        }
    }

    fn tell(&self, node: &str, order: Order) {
        for pod in lock(&self.pods).values().filter(|pod| pod.node == node) {
            let _ended = pod.orders.send(order);
        }
    }

    fn runs_on(&self, node: &str) -> bool {
        lock(&self.pods).values().any(|pod| pod.node == node && !pod.thread.is_finished())
    }
}

/// Runs a part of the agent. A panic of it ends the process: what the test waits for would never come.
fn spawn(work: impl FnOnce() + Send + 'static) -> JoinHandle<()> {
    thread::spawn(|| {
        if catch_unwind(AssertUnwindSafe(work)).is_err() {
            println!("the node agent has failed, for the reason above");
            std::process::exit(101);
        }
    })
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
