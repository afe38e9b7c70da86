//! A real Prometheus.

use std::collections::BTreeSet;
use std::fs;
use std::process::{Child, Command, Stdio};

use serde_json::Value;
use tempfile::TempDir;
use testing::{Tool, poll, repository, require, wait_until};

use crate::{PATIENCE, ask, free_address};

/// A Prometheus that scrapes some processes. It is killed when this is dropped.
pub struct Prometheus {
    process: Child,
    address: String,
    _folder: TempDir,
}

impl Prometheus {
    /// Scrapes these addresses every second, with the rules of k8s/monitoring, which wait for a second only until they
    /// fire. `None` where that is skipped.
    ///
    /// # Panics
    /// When it cannot be started.
    pub fn start(targets: &[String]) -> Option<Prometheus> {
        let program = require(Tool::Prometheus)?;
        let folder = tempfile::tempdir().expect("a folder");
        let rules = fs::read_to_string(repository().join("k8s/monitoring/alerts.yaml")).expect("the rules can be read");
        let hasty =
            |line: &str| if line.trim_start().starts_with("for: ") { "        for: 1s" } else { line }.to_owned();
        let rules: Vec<String> = rules.lines().map(hasty).collect();
        fs::write(folder.path().join("alerts.yaml"), rules.join("\n")).expect("the rules can be written");
        let config = format!(
            "global: {{scrape_interval: 1s, evaluation_interval: 1s}}\nrule_files: [alerts.yaml]\nscrape_configs:\n\
             - {{job_name: tengen, static_configs: [{{targets: {targets:?}}}]}}\n"
        );
        let path = folder.path().join("prometheus.yml");
        fs::write(&path, config).expect("the configuration can be written");
        let address = free_address().to_string();
        let mut command = Command::new(program);
        command.arg(format!("--config.file={}", path.display())).arg(format!("--web.listen-address={address}"));
        command.arg(format!("--storage.tsdb.path={}", folder.path().join("data").display()));
        let process = command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("Prometheus starts");
        Some(Prometheus { process, address, _folder: folder })
    }

    /// What the API has to say of a subject; nothing while Prometheus starts.
    fn get(&self, subject: &str) -> Value {
        let (_, body) = ask(&self.address, &format!("/api/v1/{subject}")).unwrap_or_default();
        serde_json::from_str(&body).unwrap_or_default()
    }

    /// The result of a query.
    fn query(&self, query: &str) -> Vec<Value> {
        let quoted: String = query.bytes().map(|byte| format!("%{byte:02X}")).collect();
        let (code, body) = ask(&self.address, &format!("/api/v1/query?query={quoted}")).unwrap_or_default();
        let response: Value = serde_json::from_str(&body).unwrap_or_default();
        assert!(code != 400, "{query}: {response}");
        response["data"]["result"].as_array().cloned().unwrap_or_default()
    }

    /// Whether an alert fires for a run.
    pub fn fires(&self, alert: &str, run: &str) -> bool {
        list(&self.get("alerts")["data"]["alerts"]).iter().any(|found| {
            found["labels"]["alertname"] == alert && found["labels"]["run"] == run && found["state"] == "firing"
        })
    }

    /// Sees that an alert fires. `meanwhile` runs between polls.
    ///
    /// # Panics
    /// When it does not.
    pub fn must_fire(&self, alert: &str, run: &str, meanwhile: &mut dyn FnMut()) {
        wait_until(&format!("{alert} to fire for {run}"), || {
            meanwhile();
            self.fires(alert, run)
        });
    }

    /// Sees that every query of the dashboard has a result, and that all of the rules can be evaluated. `meanwhile` is
    /// done between tries.
    ///
    /// # Panics
    /// When a query has none, a rule stays in error, or processes are not scraped.
    pub fn has_what_the_dashboard_shows(&self, run: &str, meanwhile: &mut dyn FnMut()) {
        let text =
            fs::read_to_string(repository().join("k8s/monitoring/dashboard.json")).expect("the dashboard can be read");
        let dashboard: Value = serde_json::from_str(&text).expect("the dashboard is JSON");
        let targets = list(&dashboard["panels"]).iter().flat_map(|panel| list(&panel["targets"]));
        let queries = targets.filter_map(|target| target["expr"].as_str());
        let mut open: BTreeSet<String> = queries.map(|query| query.replace("$run", run)).collect();
        assert!(open.len() > 40);
        poll(PATIENCE, || {
            meanwhile();
            open.retain(|query| self.query(query).is_empty());
            open.is_empty().then_some(())
        });
        assert_eq!(open, BTreeSet::new(), "queries of the dashboard without a response");
        let mut problem = None;
        poll(PATIENCE, || {
            meanwhile();
            problem = self.problem();
            problem.is_none().then_some(())
        });
        assert_eq!(problem, None);
    }

    /// Rules in error or not evaluated yet, or several processes that are not scraped, as one that does not respond
    /// for a second.
    fn problem(&self) -> Option<String> {
        let rules = self.get("rules");
        let rules = list(&rules["data"]["groups"][0]["rules"]);
        let sick: Vec<&Value> = rules.iter().filter(|rule| rule["health"] != "ok").collect();
        let down = self.query("up == 0");
        let is_well = rules.len() > 8 && sick.is_empty() && down.len() <= 1;
        (!is_well).then(|| format!("{} rules, in error: {sick:?}; not scraped: {down:?}", rules.len()))
    }
}

/// The elements of an array; none of anything else.
fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

impl Drop for Prometheus {
    fn drop(&mut self) {
        // One that has ended cannot be killed, and need not be.
        let _ended = self.process.kill();
        let _status = self.process.wait();
    }
}
