//! Random evictions, deletions, lost and reclaimed nodes, and outages of the store. `TENGEN_TEST_CLUSTER_SECONDS=1200`
//! lets that go on for so long instead of for a minute.

use std::thread;
use std::time::{Duration, Instant};

use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use serde_json::Value;
use tests::{TestStore, resumed, succeed};

use crate::agent::Agent;
use crate::disruption::evict;
use crate::games::{assert_kept, published};
use crate::node::Node;
use crate::plane::ControlPlane;
use crate::scaling::{endless, wait_for_workers};
use crate::setup::assert_not_failed;

const STAGES: [&str; 4] = ["selfplay", "shuffler", "trainer", "evaluator"];

/// Disturbs the run: with the numbers of nodes that are gone so far, which give new ones their names.
struct Storm<'a> {
    plane: &'a ControlPlane,
    agent: &'a Agent,
    store: &'a TestStore,
    random: Xoshiro256PlusPlus,
    nodes: Vec<String>,
    named: usize,
    begun: usize,
    events: [usize; 5],
}

impl Storm<'_> {
    fn disturb(&mut self) {
        // Each once at first, so that a short storm has all of them.
        let event =
            if self.begun < self.events.len() { self.begun } else { self.random.random_range(0..self.events.len()) };
        self.begun += 1;
        let happened = match event {
            // A budget may forbid it.
            0 => self.with_pod(|plane, pod| evict(plane, pod).is_ok()),
            // One that is gone since cannot be deleted.
            1 => self.with_pod(|plane, pod| {
                let name = pod["metadata"]["name"].as_str().unwrap();
                plane
                    .kubectl(&["-n", "tengen", "delete", "pod", name, "--wait=false"])
                    .output()
                    .unwrap()
                    .status
                    .success()
            }),
            2 => {
                let node = self.replace_node();
                self.agent.lose(&node);
                self.plane.run(&["delete", "node", &node]);
                true
            }
            3 => {
                let node = self.replace_node();
                self.agent.reclaim(&node);
                true
            }
            _ => {
                self.store.server().unwrap().set_away(true);
                thread::sleep(Duration::from_secs(self.random.random_range(2..45)));
                self.store.server().unwrap().set_away(false);
                true
            }
        };
        self.events[event] += usize::from(happened);
    }

    /// Does something to any pod that runs, if there is one; whether that was done.
    fn with_pod(&mut self, act: impl Fn(&ControlPlane, &Value) -> bool) -> bool {
        let mut pods: Vec<Value> = STAGES.into_iter().flat_map(|stage| self.plane.pods(stage)).collect();
        pods.retain(|pod| pod["status"]["phase"] == "Running" && pod["metadata"]["deletionTimestamp"].is_null());
        !pods.is_empty() && act(self.plane, &pods[self.random.random_range(0..pods.len())])
    }

    /// Adds a node, and takes another out of the list.
    fn replace_node(&mut self) -> String {
        let name = format!("node-{}", self.named);
        self.named += 1;
        self.agent.add(&Node::new(&name));
        self.nodes.push(name);
        self.nodes.swap_remove(self.random.random_range(0..self.nodes.len() - 1))
    }
}

#[test]
fn run_survives_a_storm() {
    let Some(plane) = ControlPlane::start() else { return };
    let seconds = std::env::var("TENGEN_TEST_CLUSTER_SECONDS").map_or(60, |text| text.parse().unwrap());
    let store = TestStore::on_server();
    let nodes: Vec<String> = (0..3).map(|number| format!("node-{number}")).collect();
    let agent = Agent::start(&plane, &nodes.iter().map(|name| Node::new(name)).collect::<Vec<_>>());
    endless(&plane, &store).apply(&plane);
    wait_for_workers(&plane, 4);
    let run = store.run("r");
    plane.wait("games", |_| (!published(&run).is_empty()).then_some(()));
    let before = published(&run);
    let random = Xoshiro256PlusPlus::seed_from_u64(1);
    let mut storm =
        Storm { plane: &plane, agent: &agent, store: &store, random, nodes, named: 3, begun: 0, events: [0; 5] };
    let began = Instant::now();
    while began.elapsed() < Duration::from_secs(seconds) {
        storm.disturb();
        thread::sleep(Duration::from_millis(storm.random.random_range(1000..6000)));
    }
    let events = storm.events;
    wait_for_workers(&plane, 4);
    let newest = run.models().newest().unwrap();
    plane.wait("another model", |_| (run.models().newest().unwrap() > newest).then_some(()));
    for name in ["selfplay", "shuffler", "evaluator"] {
        assert_not_failed(plane.api(), name);
    }
    assert_kept(&before, &run);
    assert_eq!(agent.journal().most_at_once("trainer"), 1);
    plane.run(&["-n", "tengen", "delete", "jobs,statefulsets", "--all"]);
    println!("evictions, deletions, lost nodes, reclaimed nodes, outages: {events:?}");
    for stage in STAGES {
        println!(
            "{stage}: {} processes, exits by code {:?}",
            agent.journal().of(stage).len(),
            agent.journal().exits(stage)
        );
    }
    println!(
        "{} games, {} of them resumed, model {:?}",
        published(&run).len(),
        resumed(&run),
        run.models().newest().unwrap()
    );
    println!("{}", succeed(store.program("tengen").args(["audit", "r"])));
}
