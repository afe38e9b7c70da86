//! A container: a process, its probes, and what its pod's status says of it.

use std::fs::File;
use std::net::Ipv4Addr;
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus};
use std::sync::Arc;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use testing::wait_until;

use crate::journal::{Entry, Journal};
use crate::node::now_in_seconds;
use crate::probe::Probe;

/// The first pause before a restart, which doubles; a kubelet begins with ten seconds.
const PAUSE: Duration = Duration::from_secs(1);
/// The longest.
const LONGEST_PAUSE: Duration = Duration::from_secs(300);

/// A container of a pod.
pub(crate) struct Container {
    spec: Value,
    ip: Ipv4Addr,
    log: PathBuf,
    /// How long a failed probe leaves the process after SIGTERM.
    grace: Duration,
    process: Option<Process>,
    /// The `state` and `lastState` of its status.
    state: Value,
    last: Value,
    restarts: u32,
    restart_at: Option<Instant>,
}

struct Process {
    child: Child,
    entry: Entry,
    since: String,
    startup: Option<Probe>,
    liveness: Option<Probe>,
    readiness: Option<Probe>,
    /// When it is killed, if SIGTERM was sent.
    deadline: Option<Instant>,
}

impl Container {
    pub(crate) fn new(spec: &Value, ip: Ipv4Addr, log: PathBuf, grace: Duration) -> Container {
        let state = json!({"waiting": {"reason": "ContainerCreating"}});
        let (process, last, restarts, restart_at) = (None, json!({}), 0, None);
        Container { spec: spec.clone(), ip, log, grace, process, state, last, restarts, restart_at }
    }

    pub(crate) fn spec(&self) -> &Value {
        &self.spec
    }

    /// Starts the process, with its output at the end of the container's log.
    pub(crate) fn start(&mut self, mut command: Command, probed: bool, journal: &Arc<Journal>, entry: &Entry) {
        let log = File::options().create(true).append(true).open(&self.log).unwrap();
        command.stdin(std::process::Stdio::null()).stdout(log.try_clone().unwrap()).stderr(log);
        let child = command.spawn().unwrap_or_else(|error| panic!("{command:?}: {error}"));
        let since = now_in_seconds();
        self.state = json!({"running": {"startedAt": since}});
        let probe = |kind| probed.then(|| Probe::new(&self.spec, kind, self.ip)).flatten();
        let (startup, liveness, readiness) = (probe("startupProbe"), probe("livenessProbe"), probe("readinessProbe"));
        let entry = journal.started(entry.clone());
        self.process = Some(Process { child, entry, since, startup, liveness, readiness, deadline: None });
        self.restart_at = None;
    }

    /// Tries to start later: something is missing that the container needs.
    pub(crate) fn wait(&mut self, missing: &str) {
        self.state = json!({"waiting": {"reason": "CreateContainerConfigError", "message": missing}});
        self.restart_at = Some(Instant::now() + PAUSE);
    }

    /// Whether it is time to start it.
    pub(crate) fn is_due(&self) -> bool {
        self.restart_at.is_some_and(|at| Instant::now() >= at)
    }

    /// Whether it has ended for good.
    pub(crate) fn is_over(&self) -> bool {
        self.process.is_none() && self.restart_at.is_none()
    }

    /// Whether it was started at all.
    pub(crate) fn has_run(&self) -> bool {
        self.process.is_some() || self.restarts > 0 || self.exit_code().is_some()
    }

    /// Notices that the process has exited, kills it if it is late, and requests its probes.
    pub(crate) fn poll(&mut self, restarts: bool, journal: &Journal) {
        let Some(process) = &mut self.process else { return };
        if let Some(status) = process.child.try_wait().unwrap() {
            let code = exit_code(status);
            journal.ended(&process.entry, code);
            let reason = if code == 0 { "Completed" } else { "Error" };
            let terminated = json!({"terminated": {"exitCode": code, "reason": reason,
                "startedAt": process.since, "finishedAt": now_in_seconds()}});
            self.process = None;
            if restarts {
                self.restart_at =
                    Some(Instant::now() + (PAUSE * 2_u32.saturating_pow(self.restarts)).min(LONGEST_PAUSE));
                self.restarts += 1;
                self.state = json!({"waiting": {"reason": "CrashLoopBackOff"}});
                self.last = terminated;
            } else {
                self.state = terminated;
            }
            return;
        }
        if process.deadline.is_some_and(|deadline| Instant::now() >= deadline) {
            process.child.kill().unwrap();
        } else if process.deadline.is_none() {
            process.probe(self.grace);
        }
    }

    /// Sends SIGTERM, and SIGKILL after the grace period.
    pub(crate) fn terminate(&mut self, grace: Duration) {
        self.restart_at = None;
        if let Some(process) = &mut self.process {
            process.terminate(grace);
        }
    }

    /// Kills the process at once.
    pub(crate) fn kill(&mut self, journal: &Journal) {
        if let Some(mut process) = self.process.take() {
            // One that has exited cannot be killed, and need not be.
            let _exited = process.child.kill();
            journal.ended(&process.entry, exit_code(process.child.wait().unwrap()));
        }
    }

    /// Whether it serves: its last readiness probe succeeded, and it has no SIGTERM.
    pub(crate) fn is_ready(&self) -> bool {
        let serves = |process: &Process| {
            process.deadline.is_none()
                && process.has_started()
                && process.readiness.as_ref().is_none_or(Probe::succeeded)
        };
        self.process.as_ref().is_some_and(serves)
    }

    /// The exit code after the last end, if there will be no restart.
    pub(crate) fn exit_code(&self) -> Option<i64> {
        self.state["terminated"]["exitCode"].as_i64()
    }

    /// Its part of the pod's status.
    pub(crate) fn status(&self) -> Value {
        let (image, started) = (&self.spec["image"], self.process.as_ref().is_some_and(Process::has_started));
        json!({"name": self.spec["name"], "image": image, "imageID": image, "restartCount": self.restarts,
            "ready": self.is_ready(), "started": started, "state": self.state, "lastState": self.last})
    }
}

impl Process {
    fn has_started(&self) -> bool {
        self.startup.as_ref().is_none_or(Probe::succeeded)
    }

    /// Requests the startup probe, and after its success the others; a failed one ends the process.
    fn probe(&mut self, grace: Duration) {
        if !self.has_started() {
            let startup = self.startup.as_mut().unwrap();
            startup.poll();
            if startup.failed() {
                self.terminate(grace);
            }
            return;
        }
        if let Some(readiness) = &mut self.readiness {
            readiness.poll();
        }
        if let Some(liveness) = &mut self.liveness {
            liveness.poll();
            if liveness.failed() {
                self.terminate(grace);
            }
        }
    }

    fn terminate(&mut self, grace: Duration) {
        let deadline = Instant::now() + grace;
        self.deadline = Some(self.deadline.map_or(deadline, |earlier| earlier.min(deadline)));
        // One that has exited has no use for a signal.
        let _exited = kill_process(Pid::from_child(&self.child), Signal::TERM);
    }
}

/// The code as shells and kubelets have it: 128 and the signal.
fn exit_code(status: ExitStatus) -> i32 {
    status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or_default())
}

/// Polls a container whose probe of this kind finds no server, from its line `ready` until it has ended once; its
/// status then.
fn ended_by(probe: &str, script: &str) -> Value {
    let folder = tempfile::tempdir().unwrap();
    let page = json!({"path": "/healthz", "port": 1});
    let spec = json!({"name": "x", probe: {"httpGet": page, "periodSeconds": 1, "failureThreshold": 1}});
    let log = folder.path().join("log");
    let mut container = Container::new(&spec, Ipv4Addr::LOCALHOST, log.clone(), Duration::from_secs(1));
    let mut command = crate::command::bound("sh");
    command.args(["-c", script]);
    let journal = Arc::default();
    container.start(command, true, &journal, &Entry::new("x"));
    wait_until("the script", || std::fs::read_to_string(&log).is_ok_and(|said| said.contains("ready")));
    wait_until("a restart", || {
        container.poll(true, &journal);
        container.status()["restartCount"] != 0
    });
    container.status()
}

#[test]
fn failed_probes_end_the_process_within_its_grace_period() {
    for probe in ["startupProbe", "livenessProbe"] {
        let status = ended_by(probe, "echo ready; exec sleep 1000");
        assert_eq!(status["lastState"]["terminated"]["exitCode"], 143, "{probe}: {status}");
        assert_eq!(status["state"]["waiting"]["reason"], "CrashLoopBackOff", "{probe}: {status}");
        let status = ended_by(probe, "trap '' TERM; echo ready; exec sleep 1000");
        assert_eq!(status["lastState"]["terminated"]["exitCode"], 137, "{probe}: {status}");
    }
}
