//! A control plane of scripts/cluster.

use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::TempDir;
use testing::{Tool, kubernetes_version, poll, require};
use tests::{repository, succeed};

use crate::api::Api;

/// Longer than anything takes that is waited for: the longest pause of a Job before it replaces a pod is ten minutes.
const PATIENCE: Duration = Duration::from_secs(720);
/// The kubeconfig of a cluster, for the tests that need no nodes of the agent.
const GIVEN: &str = "TENGEN_TEST_KUBECONFIG";
/// The namespaces that tests make.
const NAMESPACES: [&str; 2] = ["tengen", "monitoring"];

/// A control plane, which ends when this is dropped, or this process has ended. One of a given cluster loses the
/// namespaces of the tests instead.
pub(crate) struct ControlPlane {
    process: Option<Child>,
    kubectl: PathBuf,
    folder: TempDir,
    api: Arc<Api>,
}

impl ControlPlane {
    /// Starts one; nothing where that is skipped.
    pub(crate) fn start() -> Option<ControlPlane> {
        let kubectl = require(Tool::Python)?.join("bin/kubectl");
        require(Tool::ControlPlane)?;
        let version = &kubernetes_version();
        let began = Instant::now();
        let folder = tempfile::tempdir().unwrap();
        let mut command = Command::new(repository().join("scripts/cluster"));
        command.arg("run").arg(folder.path().join("plane")).arg(version);
        let mut process = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let said = BufReader::new(process.stdout.take().unwrap()).lines().next();
        assert_eq!(said.and_then(Result::ok).as_deref(), Some("ready"), "scripts/cluster says why on standard error");
        println!("control plane {version} is ready after {:.1} s", began.elapsed().as_secs_f32());
        let api = Arc::new(Api::new(&folder.path().join("plane/kubeconfig")));
        Some(ControlPlane { process: Some(process), kubectl, folder, api })
    }

    /// Uses the cluster of TENGEN_TEST_KUBECONFIG, or starts one.
    pub(crate) fn given_or_started() -> Option<ControlPlane> {
        let Some(file) = std::env::var_os(GIVEN) else { return ControlPlane::start() };
        let kubectl = require(Tool::Python)?.join("bin/kubectl");
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("plane")).unwrap();
        let copy = folder.path().join("plane/kubeconfig");
        // With the contents of the files that it names.
        let view = ["config", "view", "--raw", "--flatten", "--minify", "-o", "json"];
        std::fs::write(&copy, succeed(Command::new(&kubectl).args(view).env("KUBECONFIG", file))).unwrap();
        let api = Arc::new(Api::new(&copy));
        for namespace in NAMESPACES {
            let found = api.get(&format!("/api/v1/namespaces/{namespace}"));
            let is_missing = found.as_ref().is_err_and(|error| error.status == 404);
            assert!(is_missing, "{GIVEN}: a cluster without the namespace {namespace} is needed, {found:?}");
        }
        Some(ControlPlane { process: None, kubectl, folder, api })
    }

    pub(crate) fn api(&self) -> &Arc<Api> {
        &self.api
    }

    /// A folder of the test's own, which is deleted with the control plane.
    pub(crate) fn folder(&self) -> PathBuf {
        self.folder.path().canonicalize().unwrap()
    }

    /// kubectl with the rights of an administrator. Warnings of the server are failures.
    pub(crate) fn kubectl(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.kubectl);
        command.arg("--warnings-as-errors").args(arguments).current_dir(repository());
        command.env("KUBECONFIG", self.folder.path().join("plane/kubeconfig")).stdin(Stdio::null());
        command
    }

    /// Runs kubectl, which must succeed; what it printed.
    pub(crate) fn run(&self, arguments: &[&str]) -> String {
        succeed(&mut self.kubectl(arguments))
    }

    /// Runs a command as documents have it: `kubectl -n tengen …`.
    pub(crate) fn documented(&self, arguments: &[&str]) -> String {
        assert_documented(arguments);
        self.run(arguments)
    }

    /// Waits until an object has a property; what it is then.
    pub(crate) fn wait<T>(&self, what: &str, found: impl Fn(&Api) -> Option<T>) -> T {
        poll(PATIENCE, || found(&self.api)).unwrap_or_else(|| {
            let seen = self.kubectl(&["get", "nodes,jobs,statefulsets,pods,events", "-A", "-o", "wide"]).output();
            panic!("{what}: {}\n{}", String::from_utf8_lossy(&seen.unwrap().stdout), self.ends_of_logs());
        })
    }

    /// The last lines of the containers that have said something most recently.
    fn ends_of_logs(&self) -> String {
        let pods = std::fs::read_dir(self.folder().join("pods")).into_iter().flatten().flatten();
        let files = pods.flat_map(|pod| std::fs::read_dir(pod.path()).into_iter().flatten().flatten());
        let mut logs: Vec<PathBuf> = files.map(|file| file.path()).collect();
        logs.retain(|path| path.extension().is_some_and(|extension| extension == "log"));
        logs.sort_by_key(|path| std::cmp::Reverse(path.metadata().and_then(|data| data.modified()).ok()));
        let end = |path: &PathBuf| {
            let text = std::fs::read_to_string(path).unwrap_or_default();
            let lines: Vec<&str> = text.lines().collect();
            format!("{}:\n{}\n", path.display(), lines[lines.len().saturating_sub(5)..].join("\n"))
        };
        logs.iter().take(12).map(end).collect()
    }

    /// The pods of a stage.
    pub(crate) fn pods(&self, stage: &str) -> Vec<Value> {
        let selector = format!("app.kubernetes.io/name%3D{stage}");
        self.api.list(&format!("/api/v1/namespaces/tengen/pods?labelSelector={selector}")).unwrap()
    }
}

/// Fails unless the page on Kubernetes has this command.
pub(crate) fn assert_documented(arguments: &[&str]) {
    let page = std::fs::read_to_string(repository().join("docs/operations/kubernetes.md")).unwrap();
    let quoted = arguments.iter().map(|part| if part.contains('{') { format!("'{part}'") } else { (*part).to_owned() });
    let line = format!("kubectl {}", quoted.collect::<Vec<_>>().join(" "));
    assert!(page.contains(&line), "the page on Kubernetes does not have: {line}");
}

impl Drop for ControlPlane {
    fn drop(&mut self) {
        match &mut self.process {
            Some(process) => {
                // Closing its standard input ends it.
                drop(process.stdin.take());
                let _status = process.wait();
            }
            None => {
                // First the Jobs: see the page.
                let jobs = self.kubectl(&["-n", "tengen", "delete", "jobs", "--all"]).status();
                let delete = ["delete", "--ignore-not-found", "namespace"];
                let namespaces = self.kubectl(&[&delete[..], &NAMESPACES].concat()).status();
                println!("deleted the Jobs and the namespaces of the tests: {jobs:?}, {namespaces:?}");
            }
        }
    }
}
